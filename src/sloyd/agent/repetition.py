"""Notices a model that makes the same call again and again although it keeps failing.

A call counts as the same when tool, arguments and error text are the same. Any call that succeeds
and was not made before in this run is progress and starts the count anew: running a failing test
again after an edit is work, not a loop.
"""

from __future__ import annotations

from sloyd.agent.events import LimitWarning
from sloyd.agent.limits import Limits
from sloyd.llm.messages import ToolCall

__all__ = ["RepetitionWatch"]


class RepetitionWatch:
    """Counts identical failures of identical calls within one run."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._failures: dict[int, int] = {}
        self._succeeded: set[int] = set()
        self._warnings: list[LimitWarning] = []
        self._stop: str | None = None

    @property
    def stop(self) -> str | None:
        """Why the run must end, or None."""
        return self._stop

    def succeeded(self, call: ToolCall) -> None:
        """A call gave a result without an error."""
        key = _key(call, "")
        if key not in self._succeeded:
            self._succeeded.add(key)
            self._failures.clear()

    def failed(self, call: ToolCall, error: str) -> str | None:
        """A call failed with this text. Returns what to add to it for the model, or None."""
        key = _key(call, error)
        count = self._failures[key] = self._failures.get(key, 0) + 1
        limits = self._limits
        if limits.max_repeats is not None and count >= limits.max_repeats:
            self._stop = (
                f"Stopped: the model made the same failing call of {call.name} {count} times."
                " Tell it what to do differently, and continue."
            )
        if count < limits.repeat_warning:
            return None
        if count == limits.repeat_warning:
            message = f"the same call of {call.name} failed {count} times in the same way"
            self._warnings.append(LimitWarning(limit="repetition", message=message))
        return (
            f"[This exact call has now failed {count} times in the same way. Repeating it will not"
            " help: look at the present state first, change the arguments, or go about it in"
            " another way.]"
        )

    def take_warnings(self) -> list[LimitWarning]:
        """Warnings for people since the last time."""
        warnings, self._warnings = self._warnings, []
        return warnings


def _key(call: ToolCall, error: str) -> int:
    try:
        return hash((call.name, repr(call.arguments), error))
    except RecursionError:
        return hash((call.name, error))
