"""The numbered diff that people read, in pi's row format.

One row a line: a sign (space, ``-``, ``+``), the line number right-aligned, a space, the line.
Context and removed rows bear old numbers, added rows new ones. Four lines of context; what is left
out between and around them is one row `` ...``. Rows show text: a CR before the line end and a byte
order mark are not shown, undecodable bytes are markers, and very long lines show the part that
changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from sloyd.text.changes import LineChange, split_lines
from sloyd.text.encoding import show_undecodable

__all__ = ["CONTEXT", "MAX_DIFF", "context_after", "context_before", "grouped", "numbered_diff"]

CONTEXT: Final = 4
"""Unchanged lines shown on each side of a change."""

MAX_DIFF: Final = 256 * 1024
"""Most characters of a numbered diff; what is beyond is left out, and the last row says so."""

_MAX_LINE: Final = 2000


def grouped(changes: Sequence[LineChange]) -> list[list[LineChange]]:
    """Changes whose contexts touch, together."""
    groups: list[list[LineChange]] = []
    for change in changes:
        if groups:
            last = groups[-1][-1]
            if change.old_line - (last.old_line + len(last.old)) <= 2 * CONTEXT:
                groups[-1].append(change)
                continue
        groups.append([change])
    return groups


def context_before(data: bytes, offset: int) -> list[bytes]:
    """Up to `CONTEXT` whole lines before ``offset``, which is the start of a line."""
    start = offset
    for _ in range(CONTEXT):
        if start == 0:
            break
        start = data.rfind(b"\n", 0, start - 1) + 1
    return split_lines(data[start:offset])


def context_after(data: bytes, offset: int) -> list[bytes]:
    """Up to `CONTEXT` whole lines from ``offset`` on, which is the start of a line."""
    end = offset
    for _ in range(CONTEXT):
        found = data.find(b"\n", end)
        end = len(data) if found < 0 else found + 1
    return split_lines(data[offset:end])


def numbered_diff(data: bytes, changes: Sequence[LineChange]) -> str:
    """The diff for people; ``data`` is the old text without byte order mark."""
    old_total = data.count(b"\n") + 1
    grown = sum(_breaks(change.new) - _breaks(change.old) for change in changes)
    width = len(str(max(old_total, old_total + grown)))
    rows: list[str] = []
    size = 0
    for row in _rows(data, changes, width):
        size += len(row) + 1
        if size > MAX_DIFF:
            rows.append(f" {' ' * width} ... (the diff goes on)")
            break
        rows.append(row)
    return "\n".join(rows)


def _breaks(lines: Sequence[bytes]) -> int:
    return sum(line.endswith(b"\n") for line in lines)


def _rows(data: bytes, changes: Sequence[LineChange], width: int) -> Iterator[str]:
    gap = f" {' ' * width} ..."
    end, line = 0, 1
    for group in grouped(changes):
        before = context_before(data, group[0].start)
        line = group[0].old_line - len(before)
        if line > 1:
            yield gap
        yield from _context(before, line, width)
        for index, change in enumerate(group):
            if index:
                yield from _context(split_lines(data[end : change.start]), line, width)
            yield from _changed(change, width)
            end, line = change.end, change.old_line + len(change.old)
        after = context_after(data, end)
        yield from _context(after, line, width)
        end += sum(map(len, after))
    if changes and end < len(data):
        yield gap


def _context(lines: Sequence[bytes], number: int, width: int) -> Iterator[str]:
    for offset, line in enumerate(lines):
        yield f" {number + offset:>{width}} {_shorten(_shown(line))}"


def _changed(change: LineChange, width: int) -> Iterator[str]:
    old, new = [_shown(line) for line in change.old], [_shown(line) for line in change.new]
    for offset, line in enumerate(old):
        other = new[offset] if offset < len(new) else ""
        yield f"-{change.old_line + offset:>{width}} {_shorten(line, other)}"
    for offset, line in enumerate(new):
        other = old[offset] if offset < len(old) else ""
        yield f"+{change.new_line + offset:>{width}} {_shorten(line, other)}"


def _shown(line: bytes) -> str:
    body = line.removesuffix(b"\n").removesuffix(b"\r") if line.endswith(b"\n") else line
    return show_undecodable(body.decode("utf-8", "surrogateescape"))


def _shorten(line: str, other: str = "") -> str:
    """A line within `_MAX_LINE` characters: the part where it first differs from ``other``."""
    if len(line) <= _MAX_LINE:
        return line
    start = 0
    if other:
        low, high = 0, min(len(line), len(other))
        while low < high:
            middle = (low + high + 1) // 2
            if line[:middle] == other[:middle]:
                low = middle
            else:
                high = middle - 1
        start = max(0, min(low - _MAX_LINE // 4, len(line) - _MAX_LINE))
    end = start + _MAX_LINE
    left = f"[{start} characters] ..." if start else ""
    right = f"... [{len(line) - end} characters]" if end < len(line) else ""
    return f"{left}{line[start:end]}{right}"
