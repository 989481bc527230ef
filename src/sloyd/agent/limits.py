"""How far a run may go: turns, time, money. Checked before each request, never in the middle."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from sloyd.agent.events import LimitWarning
from sloyd.errors import UsageError

__all__ = ["LimitGauge", "Limits"]

_NEAR = 0.8
"""A warning comes when this share of a limit is used up."""

_Kind: TypeAlias = Literal["turns", "time", "cost"]


class Limits(msgspec.Struct, frozen=True):
    """The limits of one run; None means no limit. A continued run counts from zero.

    Attributes:
        max_turns: model requests.
        max_time: seconds since the run began. A request or tool under way is not interrupted.
        max_cost: US dollars, by the prices of the models used. A model without known prices costs
            nothing.
        repeat_warning: identical failures of one identical call after which the model is told.
        max_repeats: identical failures of one identical call after which the run stops.

    Raises:
        UsageError: for a limit that would allow nothing at all.
    """

    max_turns: int | None = None
    max_time: float | None = None
    max_cost: float | None = None
    repeat_warning: int = 3
    max_repeats: int | None = 6

    def __post_init__(self) -> None:
        for name in ("max_turns", "max_time", "max_cost", "repeat_warning", "max_repeats"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UsageError(f"{name} must be greater than 0, not {value}")


class LimitGauge:
    """What a run has used of its limits; the run counts ``turns`` and ``cost`` up.

    ``unpriced`` is the name of a model that was used without a known price.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.turns = 0
        self.cost = 0.0
        self.unpriced: str | None = None
        self._began = time.monotonic()
        self._before: dict[_Kind, float] = {}
        self._warned: set[_Kind] = set()
        self._told = False

    def exceeded(self) -> str | None:
        """Why there must be no further request, or None."""
        for kind, used, limit in self._used():
            if used >= limit:
                return (
                    f"Stopped: the limit of {_amount(kind, limit)} is reached"
                    f" ({_amount(kind, used)} used). Raise max_{kind} and continue."
                )
        return None

    def warnings(self) -> Iterator[LimitWarning]:
        """Each limit that has come near, or that another turn like the last would reach, once.

        So is a limit on cost that cannot be kept.
        """
        if self.unpriced is not None and self.limits.max_cost is not None and not self._told:
            self._told = True
            amount = _amount("cost", self.limits.max_cost)
            reason = f"the price of {self.unpriced} is not known"
            yield LimitWarning(limit="cost", message=f"{reason}: the limit of {amount} is not kept")
        for kind, used, limit in self._used():
            expected = 2 * used - self._before.get(kind, 0.0)
            self._before[kind] = used
            if kind not in self._warned and (used >= _NEAR * limit or expected >= limit):
                self._warned.add(kind)
                yield LimitWarning(
                    limit=kind, message=f"{_amount(kind, used)} of {_amount(kind, limit)} used"
                )

    def _used(self) -> Iterator[tuple[_Kind, float, float]]:
        if self.limits.max_turns is not None:
            yield "turns", self.turns, self.limits.max_turns
        if self.limits.max_time is not None:
            yield "time", time.monotonic() - self._began, self.limits.max_time
        if self.limits.max_cost is not None:
            yield "cost", self.cost, self.limits.max_cost


def _amount(kind: _Kind, value: float) -> str:
    if kind == "turns":
        return f"{value:g} turn{'' if value == 1 else 's'}"
    return f"{value:.1f} s" if kind == "time" else f"${value:.4f}"
