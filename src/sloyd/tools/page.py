"""What a model reads of a window of lines: the text, cut to the limits, and how to go on.

The words of the notices are those of pi, where it has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sloyd.errors import ToolError
from sloyd.text.truncate import MAX_BYTES, MAX_LINES, byte_length, format_size, truncate_head
from sloyd.tools.line_window import LineWindow
from sloyd.tools.visible import show_controls

__all__ = ["Page", "shown_page"]


@dataclass(frozen=True, slots=True)
class Page:
    """A window that has seen the whole file, and what was asked for.

    ``limit`` is None when no number of lines was asked for, ``column`` when whole lines were.
    """

    window: LineWindow
    first: int
    limit: int | None
    column: int | None

    @property
    def total(self) -> int:
        """Lines of the file."""
        return self.window.total_lines

    @property
    def wanted(self) -> int:
        """How many lines were asked for and are there."""
        there = self.total - self.first + 1
        return there if self.limit is None else min(self.limit, there)


def shown_page(page: Page) -> tuple[str, dict[str, Any]]:
    """The text for the model and the details. Raises `ToolError` beyond the end of the file."""
    if page.first > page.total:
        raise ToolError(f"Offset {page.first} is beyond end of file ({page.total} lines total)")
    if page.column is not None:
        return _part_of_line(page, page.column), {}
    content = show_controls(page.window.content.decode("utf-8", "surrogateescape"))
    cut = truncate_head(content, min(page.wanted, MAX_LINES), MAX_BYTES)
    if cut.first_line_exceeds_limit:
        return _long_line(page), _details(page, 0, 0, "bytes")
    # What truncation cut has no final LF; here a blank line at its end is a line.
    text = cut.content if cut.truncated else content.removesuffix("\n")
    last = page.first + cut.output_lines - 1
    more = page.total - last
    if cut.output_lines == page.wanted:
        if not more:
            return (text if cut.truncated else content), {}
        return f"{text}\n\n[{more} more lines in file. Use offset={last + 1} to continue.]", {}
    by_lines = cut.output_lines == MAX_LINES
    why = "" if by_lines else f" ({format_size(MAX_BYTES)} limit)"
    notice = (
        f"[Showing lines {page.first}-{last} of {page.total}{why}. "
        f"Use offset={last + 1} to continue.]"
    )
    size = byte_length(text)
    return f"{text}\n\n{notice}", _details(
        page, cut.output_lines, size, "lines" if by_lines else "bytes"
    )


def _details(page: Page, lines: int, size: int, by: str) -> dict[str, Any]:
    return {
        "truncation": {
            "truncated": True,
            "truncatedBy": by,
            "totalLines": page.wanted,
            "outputLines": lines,
            "outputBytes": size,
            "firstLineExceedsLimit": lines == 0,
            "maxLines": MAX_LINES,
            "maxBytes": MAX_BYTES,
        }
    }


def _long_line(page: Page) -> str:
    length = page.window.first_length
    size, limit = format_size(length), format_size(MAX_BYTES)
    if length <= MAX_BYTES:
        what = f"is {size} and over the {limit} limit with its unprintable bytes spelt out"
    elif size == limit:
        what = f"is {length} bytes, exceeds {limit} limit ({MAX_BYTES} bytes)"
    else:
        what = f"is {size}, exceeds {limit} limit"
    line = page.first
    skip = f", or offset={line + 1} to go past it" if line < page.total else ""
    return f"[Line {line} {what}. Use offset={line}, column=1 to read it in parts{skip}.]"


def _part_of_line(page: Page, column: int) -> str:
    length = page.window.first_length
    line = page.first
    if column > max(length, 1):
        raise ToolError(f"Column {column} is beyond end of line {line} ({length} bytes)")
    raw = bytes(page.window.content)
    kept = _fitting(raw, is_end=column - 1 + len(raw) >= length)
    last = column - 1 + len(kept)
    text = show_controls(kept.decode("utf-8", "surrogateescape"))
    what = f"Showing bytes {column}-{last} of {length} of line {line}"
    if last < length:
        return f"{text}\n\n[{what}. Use offset={line}, column={last + 1} to continue.]"
    if line < page.total:
        return f"{text}\n\n[{what}, to its end. Use offset={line + 1} to continue.]"
    return f"{text}\n\n[{what}, to the end of the file.]"


def _fitting(raw: bytes, *, is_end: bool) -> bytes:
    """The longest beginning whose shown form is within the limit and splits no character."""
    if is_end and len(raw) <= MAX_BYTES and _shown_size(raw) <= MAX_BYTES:
        return raw
    low, high = 1, min(len(raw), MAX_BYTES)
    while low < high:
        middle = (low + high + 1) // 2
        if _shown_size(raw[:middle]) <= MAX_BYTES:
            low = middle
        else:
            high = middle - 1
    for back in range(min(low, 4)):
        cut = low - back
        following = raw[cut : cut + 1]
        if following and following[0] & 0xC0 != 0x80:
            return raw[:cut]
    return raw[:low]


def _shown_size(raw: bytes) -> int:
    return byte_length(show_controls(raw.decode("utf-8", "surrogateescape")))
