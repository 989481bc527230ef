"""Restyling a part of a drawn line: for what is selected and what was found."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

__all__ = ["matches", "restyled"]


def restyled(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """The line with the characters from ``start`` to ``end`` in another style."""
    segments: list[Segment] = []
    at = 0
    for segment in strip:
        text, own, _ = segment
        first, last = max(start - at, 0), min(end - at, len(text))
        if first >= last:
            segments.append(segment)
        else:
            marked = own + style if own is not None else style
            pieces = ((text[:first], own), (text[first:last], marked), (text[last:], own))
            segments += [Segment(piece, how) for piece, how in pieces if piece]
        at += len(text)
    return Strip(segments, strip.cell_length)


def matches(strip: Strip, needle: str) -> list[tuple[int, int]]:
    """Where a text stands in a line, whatever its case."""
    folded, wanted = strip.text.lower(), needle.lower()
    # A few characters have a longer lower case; a place in it would then be wrong.
    if not wanted or len(folded) != len(strip.text):
        return []
    found: list[tuple[int, int]] = []
    at = folded.find(wanted)
    while at >= 0:
        found.append((at, at + len(wanted)))
        at = folded.find(wanted, at + len(wanted))
    return found
