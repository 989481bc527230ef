"""Cut a text to what a model should read: at most so many whole lines and so many bytes.

Lines end at LF and nowhere else; a CR is part of its line, and a final LF starts no further line.
Sizes are those of the text in UTF-8. Every limit holds at once, and neither is ever exceeded.
Only the part that is kept is looked at closely, so a text of many megabytes costs little more
than counting its line breaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

__all__ = [
    "MAX_BYTES",
    "MAX_LINES",
    "Truncation",
    "byte_length",
    "count_lines",
    "format_size",
    "last_bytes",
    "truncate_head",
    "truncate_line",
    "truncate_tail",
]

MAX_LINES: Final = 2000
MAX_BYTES: Final = 50 * 1024

_CONTINUATION: Final = 0b1000_0000
_CONTINUATION_MASK: Final = 0b1100_0000


@dataclass(frozen=True, slots=True)
class Truncation:
    """A text after truncation, and what was done to it.

    Attributes:
        content: the text that was kept; without a final LF when anything was cut.
        truncated: whether anything was cut.
        truncated_by: the limit that was met first, or None when nothing was cut.
        total_lines: lines of the whole text.
        total_bytes: bytes of the whole text in UTF-8.
        output_lines: lines of ``content``.
        output_bytes: bytes of ``content`` in UTF-8.
        last_line_partial: tail only: even the last line was over the byte limit, and ``content``
            is its end.
        first_line_exceeds_limit: head only: even the first line was over the byte limit, and
            ``content`` is empty.
        max_lines: the line limit that was used.
        max_bytes: the byte limit that was used.
    """

    content: str
    truncated: bool
    truncated_by: Literal["lines", "bytes"] | None
    total_lines: int
    total_bytes: int
    output_lines: int
    output_bytes: int
    last_line_partial: bool = False
    first_line_exceeds_limit: bool = False
    max_lines: int = MAX_LINES
    max_bytes: int = MAX_BYTES


def count_lines(text: str) -> int:
    """The number of lines of a text; 0 for the empty text."""
    return text.count("\n") + (not text.endswith("\n") if text else 0)


def byte_length(text: str) -> int:
    """The bytes of a text in UTF-8. A lone surrogate counts as the three bytes it would take."""
    return len(text) if text.isascii() else len(_encode(text))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _untouched(text: str, lines: int, size: int, max_lines: int, max_bytes: int) -> Truncation:
    return Truncation(
        content=text,
        truncated=False,
        truncated_by=None,
        total_lines=lines,
        total_bytes=size,
        output_lines=lines,
        output_bytes=size,
        max_lines=max_lines,
        max_bytes=max_bytes,
    )


def truncate_head(text: str, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncation:
    """Keep whole lines from the start of a text while both limits hold.

    A first line that is over ``max_bytes`` alone leaves an empty content and sets
    ``first_line_exceeds_limit``.
    """
    lines, size = count_lines(text), byte_length(text)
    if lines <= max_lines and size <= max_bytes:
        return _untouched(text, lines, size, max_lines, max_bytes)
    kept = end = used = 0
    exceeded = False
    while kept < min(lines, max_lines):
        stop = text.find("\n", end, end + max_bytes - used + 1)
        if stop < 0:
            if len(text) - end > max_bytes - used:
                exceeded = True
                break
            stop = len(text)
        cost = byte_length(text[end:stop])
        if used + cost > max_bytes:
            exceeded = True
            break
        kept += 1
        used += cost + 1  # the LF between this line and the next
        end = stop + 1
    content = text[: max(end - 1, 0)]
    return Truncation(
        content=content,
        truncated=True,
        truncated_by="bytes" if exceeded or kept < max_lines else "lines",
        total_lines=lines,
        total_bytes=size,
        output_lines=kept,
        output_bytes=max(used - 1, 0),
        first_line_exceeds_limit=exceeded and kept == 0,
        max_lines=max_lines,
        max_bytes=max_bytes,
    )


def truncate_tail(text: str, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncation:
    """Keep whole lines from the end of a text while both limits hold.

    Of a last line that is over ``max_bytes`` alone its end is kept, cut at a character, and
    ``last_line_partial`` is set.
    """
    lines, size = count_lines(text), byte_length(text)
    if lines <= max_lines and size <= max_bytes:
        return _untouched(text, lines, size, max_lines, max_bytes)
    bottom = len(text) - text.endswith("\n")
    kept = used = 0
    start = bottom + 1
    exceeded = False
    while kept < min(lines, max_lines):
        stop = start - 1
        window = max(stop - (max_bytes - used) - 1, 0)
        begin = text.rfind("\n", window, stop) + 1
        if begin == 0 and window > 0:
            exceeded = True
            break
        cost = byte_length(text[begin:stop])
        if used + cost > max_bytes:
            exceeded = True
            break
        kept += 1
        used += cost + 1
        start = begin
    content, partial = text[start:bottom], False
    if exceeded and kept == 0:
        content = last_bytes(text[max(bottom - max_bytes, 0) : bottom], max_bytes)
        kept, used, partial = (1 if content else 0), byte_length(content) + 1, True
    return Truncation(
        content=content,
        truncated=True,
        truncated_by="bytes" if exceeded or kept < max_lines else "lines",
        total_lines=lines,
        total_bytes=size,
        output_lines=kept,
        output_bytes=max(used - 1, 0),
        last_line_partial=partial,
        max_lines=max_lines,
        max_bytes=max_bytes,
    )


def last_bytes(text: str, limit: int) -> str:
    """The end of a text that takes at most ``limit`` bytes; no character is split."""
    if limit <= 0:
        return ""
    encoded = _encode(text)
    start = max(len(encoded) - limit, 0)
    while start < len(encoded) and encoded[start] & _CONTINUATION_MASK == _CONTINUATION:
        start += 1
    return encoded[start:].decode("utf-8", "surrogatepass")


def truncate_line(line: str, limit: int = 500) -> tuple[str, bool]:
    """Cut one line to ``limit`` UTF-16 units (as pi counts), and say whether it was cut.

    A character outside the basic plane takes two units and is never split.
    """
    if len(line) * 2 <= limit:
        return line, False
    if line.isascii():
        kept = line[:limit]
    else:
        encoded = line[: limit + 1].encode("utf-16-le", "surrogatepass")
        if len(line) <= limit and len(encoded) <= limit * 2:
            return line, False
        kept = _whole_units(encoded[: limit * 2])
    if len(kept) == len(line):
        return line, False
    return f"{kept}... [truncated]", True


def _whole_units(encoded: bytes) -> str:
    """UTF-16 as text, without the first half of a pair at the end."""
    if len(encoded) >= 2 and 0xD8 <= encoded[-1] <= 0xDB:
        encoded = encoded[:-2]
    return encoded.decode("utf-16-le", "surrogatepass")


def format_size(size: int) -> str:
    """A byte count for people and models: ``512B``, ``50.0KB``, ``1.5MB``. 1 KB is 1024 bytes."""
    if size < 1024:
        return f"{size}B"
    if size < 1024 * 1024:
        return f"{size / 1024:.1f}KB"
    return f"{size / (1024 * 1024):.1f}MB"
