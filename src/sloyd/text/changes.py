"""Which lines a set of replacements changes, without a comparison of the whole text.

Lines are split at LF and keep it, so a CR before it is part of the line, as `git` sees it. The work
depends on the replaced lines only, apart from counting line ends at memory speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sloyd.text.align import align
from sloyd.text.splice import Replacement

__all__ = ["LineChange", "line_changes", "split_lines"]


@dataclass(frozen=True, slots=True)
class LineChange:
    """A run of old lines that became a run of new lines; either may be empty, not both.

    Attributes:
        start: byte offset of the first old line, or of the place where lines were inserted.
        end: byte offset behind the last old line.
        old_line: number of the first old line, from 1.
        new_line: number of the first new line, in the new text.
        old: the old lines, with their LF.
        new: the new lines, with their LF.
    """

    start: int
    end: int
    old_line: int
    new_line: int
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]


def split_lines(text: bytes) -> list[bytes]:
    """The lines of a text with their LF; an empty text has none."""
    lines = text.split(b"\n")
    last = lines.pop()
    lines = [line + b"\n" for line in lines]
    if last:
        lines.append(last)
    return lines


def line_changes(data: bytes, replacements: Sequence[Replacement]) -> list[LineChange]:
    """The changed lines, in order; lines that come out as they were are left out."""
    changes: list[LineChange] = []
    counted = 0
    line = 1
    shift = 0
    for start, end, new in _whole_lines(data, replacements):
        line += data.count(b"\n", counted, start)
        counted = start
        before, after = split_lines(data[start:end]), split_lines(new)
        offset, at = start, 0
        for step in align(before, after):
            old = before[step.old_start : step.old_end]
            width = sum(map(len, old))
            if not step.equal:
                change = LineChange(
                    offset,
                    offset + width,
                    line + step.old_start,
                    line + shift + step.new_start,
                    tuple(old),
                    tuple(after[step.new_start : step.new_end]),
                )
                if changes and changes[-1].end == offset:
                    change = _joined(changes.pop(), change)
                changes.append(change)
            offset += width
            at = step.new_end
        shift += at - len(before)
    return changes


def _joined(first: LineChange, second: LineChange) -> LineChange:
    """Two changes without a line between them, as one: removed lines come before added ones."""
    return LineChange(
        first.start,
        second.end,
        first.old_line,
        first.new_line,
        first.old + second.old,
        first.new + second.new,
    )


def _whole_lines(data: bytes, replacements: Sequence[Replacement]) -> list[tuple[int, int, bytes]]:
    """The replacements widened to whole lines; those that share a line are joined."""
    blocks: list[tuple[int, int, bytes]] = []
    for replacement in replacements:
        start = data.rfind(b"\n", 0, replacement.start) + 1
        found = data.find(b"\n", replacement.end)
        end = len(data) if found < 0 else found + 1
        if blocks and (start < blocks[-1][1] or blocks[-1][1] == len(data)):
            # The block before ends with the line in which this replacement begins, or with the
            # text, where a line may be left without its end for this one to join.
            first, before_end, new = blocks.pop()
            tail = before_end - replacement.start
            joined = new[: len(new) - tail] + replacement.new + data[replacement.end : end]
            blocks.append((first, end, joined))
        else:
            new = data[start : replacement.start] + replacement.new + data[replacement.end : end]
            blocks.append((start, end, new))
    return blocks
