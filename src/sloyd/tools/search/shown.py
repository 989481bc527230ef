"""A line of a file as a search shows it: no control characters, and not too long.

Of a long line the part around the match is shown. It says at which byte of the line it starts, the
number that the ``column`` of the read tool takes.
"""

from __future__ import annotations

from typing import Final

from sloyd.text.truncate import truncate_line
from sloyd.tools.search.request import ShownLine
from sloyd.tools.visible import show_controls

__all__ = ["LINE_LIMIT", "shown_line", "shown_window"]

LINE_LIMIT: Final = 500
"""Most characters of one line, in UTF-16 units, as pi counts them."""

_BEFORE_MATCH: Final = 100


def shown_line(raw: bytes, match_start: int = 0, match_end: int = 0) -> ShownLine:
    """The line without its end; of a long one the part where the match is.

    ``match_start`` and ``match_end`` are bytes of the line.
    """
    raw = raw.removesuffix(b"\n").removesuffix(b"\r")
    if len(raw) <= LINE_LIMIT // 4:
        return ShownLine(show_controls(raw.decode("utf-8", "surrogateescape")))
    whole = raw.decode("utf-8", "surrogateescape")
    text, was_cut = truncate_line(whole, LINE_LIMIT)
    start = len(raw[:match_start].decode("utf-8", "surrogateescape"))
    end = len(raw[:match_end].decode("utf-8", "surrogateescape"))
    visible = LINE_LIMIT // 2 if not whole.isascii() else LINE_LIMIT
    if not was_cut or end <= visible or start < _BEFORE_MATCH:
        return ShownLine(show_controls(text), was_cut)
    begin = start - _BEFORE_MATCH
    column = len(whole[:begin].encode("utf-8", "surrogateescape")) + 1
    text, _ = truncate_line(whole[begin : begin + LINE_LIMIT + 1], LINE_LIMIT)
    return ShownLine(f"[from column {column}] {show_controls(text)}", was_cut=True)


def shown_window(raw: bytes, start: int, match_start: int) -> ShownLine:
    """A part of a line that was too long to keep: ``raw`` begins at its byte ``start``."""
    end = raw.find(b"\n")
    raw = raw if end < 0 else raw[:end].removesuffix(b"\r")
    begin = max(match_start - start - _BEFORE_MATCH, 0)
    while begin and raw[begin : begin + 1] and raw[begin] & 0xC0 == 0x80:
        begin -= 1
    text, _ = truncate_line(raw[begin:].decode("utf-8", "surrogateescape"), LINE_LIMIT)
    place = f"[from column {start + begin + 1}] " if start + begin else ""
    return ShownLine(f"{place}{show_controls(text)}", was_cut=True)
