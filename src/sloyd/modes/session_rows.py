"""Sessions as rows of a list: id, time, size, title, and where."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sloyd.sessions.summary_of import SessionSummary
from sloyd.text.terminal import plain_text

__all__ = ["local_time", "session_row", "short_ids"]

_SHORTEST = 8


def short_ids(ids: Iterable[str]) -> Mapping[str, str]:
    """For each id its shortest beginning, of at least eight characters, that no other id has."""
    ordered = sorted(set(ids))
    short = {}
    for place, identifier in enumerate(ordered):
        beside = (*ordered[max(place - 1, 0) : place], *ordered[place + 1 : place + 2])
        shared = max((_shared(identifier, other) for other in beside), default=0)
        short[identifier] = identifier[: max(shared + 1, _SHORTEST)]
    return short


def _shared(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def local_time(milliseconds: int) -> str:
    """A time of the epoch as people read it, in their own time zone."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(milliseconds / 1000))


def session_row(summary: SessionSummary, short: str, *, cwd: bool = False) -> Sequence[str]:
    """The cells of a session's row: id, time of its last change, messages, title, directory.

    Nothing in them can move a cursor.
    """
    title = f"cannot be read: {summary.problem}" if summary.problem else summary.title
    cells = [
        short or Path(summary.path).name,
        local_time(summary.modified),
        f"{summary.messages:>4}",
        " ".join(plain_text(title).split()),
    ]
    return [*cells, plain_text(summary.cwd)] if cwd else cells
