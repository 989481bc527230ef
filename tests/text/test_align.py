"""The edit script: it covers both sides, its equal parts are equal, and none is shorter."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sloyd.text.align import align

ITEMS = st.text("abc", max_size=9)


def longest_common(first: str, second: str) -> int:
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for row, left in enumerate(first):
        for column, right in enumerate(second):
            table[row + 1][column + 1] = (
                table[row][column] + 1
                if left == right
                else max(table[row][column + 1], table[row + 1][column])
            )
    return table[-1][-1]


@given(ITEMS, ITEMS, st.sampled_from([0, 2, 600]))
def test_steps_cover_both_sides(old: str, new: str, bound: int) -> None:
    at_old = at_new = kept = 0
    for step in align(old, new, max_distance=bound):
        assert (step.old_start, step.new_start) == (at_old, at_new)
        if step.equal:
            assert old[at_old : step.old_end] == new[at_new : step.new_end]
            kept += step.old_end - at_old
        at_old, at_new = step.old_end, step.new_end
    assert (at_old, at_new) == (len(old), len(new))
    if bound == 600:
        assert kept == longest_common(old, new)
