"""Which lines of two blocks belong together: the shortest edit script, within a bound.

Myers' greedy algorithm ("An O(ND) Difference Algorithm and Its Variations", 1986). Blocks too
different for the bound count as replaced as a whole, so that no input is slow.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

__all__ = ["MAX_DISTANCE", "Step", "align"]

MAX_DISTANCE: Final = 600
"""Most lines removed plus added that are searched for a script; the work grows with its square."""


class Step(NamedTuple):
    """A run of equal items (``equal``), or items ``old_start:old_end`` replaced by
    ``new_start:new_end``; either side of a replacement may be empty."""

    equal: bool
    old_start: int
    old_end: int
    new_start: int
    new_end: int


def align(
    old: Sequence[Hashable], new: Sequence[Hashable], *, max_distance: int = MAX_DISTANCE
) -> list[Step]:
    """The steps from one sequence to the other; together they cover both, in order."""
    head = 0
    shorter = min(len(old), len(new))
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old_end, new_end = len(old) - tail, len(new) - tail
    steps: list[Step] = []
    if head:
        steps.append(Step(True, 0, head, 0, head))
    if head < old_end and head < new_end:
        steps.extend(_middle(old, new, head, old_end, new_end, max_distance))
    elif head < old_end or head < new_end:
        steps.append(Step(False, head, old_end, head, new_end))
    if tail:
        steps.append(Step(True, old_end, len(old), new_end, len(new)))
    return steps


def _middle(
    old: Sequence[Hashable],
    new: Sequence[Hashable],
    head: int,
    old_end: int,
    new_end: int,
    max_distance: int,
) -> list[Step]:
    matches = _equal_pairs(old[head:old_end], new[head:new_end], max_distance)
    steps: list[Step] = []
    at_old, at_new = head, head
    for first, second, length in [*matches, (old_end - head, new_end - head, 0)]:
        first, second = first + head, second + head
        if at_old < first or at_new < second:
            steps.append(Step(False, at_old, first, at_new, second))
        if length:
            steps.append(Step(True, first, first + length, second, second + length))
        at_old, at_new = first + length, second + length
    return steps


def _equal_pairs(
    old: Sequence[Hashable], new: Sequence[Hashable], max_distance: int
) -> list[tuple[int, int, int]]:
    """Runs ``(old index, new index, length)`` that a shortest script keeps; none when too far."""
    if set(old).isdisjoint(new):
        return []
    trail = _search(old, new, max_distance)
    if trail is None:
        return []
    x, y = len(old), len(new)
    runs: list[tuple[int, int, int]] = []
    for distance in range(len(trail) - 1, -1, -1):
        reached = trail[distance]
        diagonal = x - y
        down = diagonal == -distance or (
            diagonal != distance and reached[diagonal - 1] < reached[diagonal + 1]
        )
        previous = diagonal + 1 if down else diagonal - 1
        before_x = reached[previous] if distance else 0
        before_y = before_x - previous if distance else 0
        begin_x = before_x if down or not distance else before_x + 1
        if x > begin_x:
            begin_y = y - (x - begin_x)
            runs.append((begin_x, begin_y, x - begin_x))
        x, y = before_x, before_y
    runs.reverse()
    return runs


def _search(
    old: Sequence[Hashable], new: Sequence[Hashable], max_distance: int
) -> list[dict[int, int]] | None:
    """For each distance the furthest reach on each diagonal before it; None when too far apart."""
    reached = {1: 0}
    trail: list[dict[int, int]] = []
    for distance in range(min(len(old) + len(new), max_distance) + 1):
        trail.append(dict(reached))
        for diagonal in range(-distance, distance + 1, 2):
            if diagonal == -distance or (
                diagonal != distance and reached[diagonal - 1] < reached[diagonal + 1]
            ):
                x = reached[diagonal + 1]
            else:
                x = reached[diagonal - 1] + 1
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            reached[diagonal] = x
            if x >= len(old) and y >= len(new):
                return trail
    return None
