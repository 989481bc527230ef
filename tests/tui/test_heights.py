"""The heights of blocks: sums and places, against adding them all up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sloyd.modes.tui.heights import Heights

SIZES = st.lists(st.integers(0, 30), min_size=1, max_size=40)


@given(SIZES, st.lists(st.tuples(st.integers(0, 39), st.integers(0, 30)), max_size=20), SIZES)
def test_sums_and_places(
    start: list[int], changes: list[tuple[int, int]], appended: list[int]
) -> None:
    heights = Heights(start)
    plain = list(start)
    for height in appended:
        heights.append(height)
        plain.append(height)
    for place, height in changes:
        place %= len(plain)
        assert heights.set(place, height) == height - plain[place]
        plain[place] = height
    assert heights.total == sum(plain)
    assert [heights.top(place) for place in range(len(plain) + 1)] == [
        sum(plain[:place]) for place in range(len(plain) + 1)
    ]
    lines = [place for place, height in enumerate(plain) for _ in range(height)]
    assert [heights.find(line) for line in range(len(lines))] == lines
    assert heights.find(len(lines) + 5) == len(plain) - 1
