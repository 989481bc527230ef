"""The table of results: medians, ratios, and whether each figure is reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from bench.cases import Reach
from bench.measure import Sample

__all__ = ["HEADER", "Row"]

HEADER = f"{'case':<16} {'work':<46} {'Sloyd':>10} {'other':>10} {'ratio':>6} {'reach':>6}"


@dataclass(frozen=True, slots=True)
class Row:
    """One case with its samples; ``other`` is what ``against`` needed, empty for nothing."""

    name: str
    title: str
    ours: Sequence[Sample]
    other: Sequence[Sample]
    against: str
    reach: Reach
    most_seconds: float | None = None
    most_memory: float | None = None
    per_call: int = 1

    def lines(self) -> list[str]:
        """The row of the time, and one of the memory where that matters."""
        seconds = _median([sample.seconds for sample in self.ours])
        others = _median([sample.seconds for sample in self.other])
        reach = self.reach.time if self.against == "pi" else None
        rows = [
            self._line(
                self.title,
                _time(seconds / self.per_call) if seconds is not None else "",
                _time(others / self.per_call) if others is not None else "",
                _Verdict(seconds, others, reach, self.most_seconds, "ms", 1000),
            )
        ]
        if self.reach.memory is not None or self.most_memory is not None:
            memory = _median([s.memory for s in self.ours if s.memory is not None])
            other_memory = (
                _median([s.memory for s in self.other if s.memory is not None])
                if self.against == "pi"
                else None
            )
            reach = self.reach.memory if self.against == "pi" else None
            rows.append(
                self._line(
                    "  memory",
                    f"{memory:.0f} MB" if memory is not None else "",
                    f"{other_memory:.0f} MB" if other_memory is not None else "",
                    _Verdict(memory, other_memory, reach, self.most_memory, "MB", 1),
                )
            )
        return rows

    def _note(self, other: str) -> str:
        return f" ({self.against})" if other and self.against == "raw" else ""

    def _line(self, title: str, ours: str, other: str, verdict: _Verdict) -> str:
        return (
            f"{self.name:<16} {title:<46} {ours:>10} {other:>10} "
            f"{verdict.ratio:>6} {verdict.wanted:>6} {verdict.word}{self._note(other)}"
        ).rstrip()


@dataclass(frozen=True, slots=True)
class _Verdict:
    """A figure held against a ratio and against an absolute limit."""

    ours: float | None
    other: float | None
    most_ratio: float | None
    most: float | None
    unit: str
    factor: float

    @property
    def ratio(self) -> str:
        return f"{self.ours / self.other:.2f}" if self.ours is not None and self.other else ""

    @property
    def wanted(self) -> str:
        if self.most is not None:
            return f"{self.most * self.factor:.0f} {self.unit}"
        return f"{self.most_ratio:.2f}" if self.most_ratio is not None else ""

    @property
    def word(self) -> str:
        if self.ours is None:
            return "failed"
        if self.most is not None:
            return "ok" if self.ours <= self.most else "MISSED"
        if self.most_ratio is not None and self.other:
            return "ok" if self.ours / self.other <= self.most_ratio else "MISSED"
        return ""


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _time(seconds: float) -> str:
    if seconds < 0.1:
        return f"{seconds * 1000:.2f} ms"
    return f"{seconds:.3f} s"
