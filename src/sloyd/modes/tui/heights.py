"""The heights of many blocks above each other: what lies where, without adding them all up."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Heights"]


class Heights:
    """Heights in lines, by place. Changing one and finding a line both take O(log n).

    It is a binary indexed tree: ``_tree[i]`` holds the sum of the heights that end at place i.
    """

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights = list(heights)
        self._tree = [0, *self._heights]
        for place in range(1, len(self._tree)):
            above = place + (place & -place)
            if above < len(self._tree):
                self._tree[above] += self._tree[place]

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, place: int) -> int:
        return self._heights[place]

    @property
    def total(self) -> int:
        """The height of all."""
        return self.top(len(self._heights))

    def append(self, height: int) -> None:
        """Put another one below the last."""
        place = len(self._tree)
        # The new node covers the places that its lowest bit spans, which are all known.
        self._tree.append(height + self.top(place - 1) - self.top(place - (place & -place)))
        self._heights.append(height)

    def set(self, place: int, height: int) -> int:
        """Change one; returns by how much it grew."""
        change = height - self._heights[place]
        if change:
            self._heights[place] = height
            node = place + 1
            while node < len(self._tree):
                self._tree[node] += change
                node += node & -node
        return change

    def top(self, place: int) -> int:
        """The line at which a place begins: the height of all before it."""
        total = 0
        while place:
            total += self._tree[place]
            place &= place - 1
        return total

    def find(self, line: int) -> int:
        """The place that holds a line; the last one when the line lies below all of them."""
        place = 0
        step = 1 << len(self._heights).bit_length()
        while step:
            ahead = place + step
            if ahead < len(self._tree) and self._tree[ahead] <= line:
                place = ahead
                line -= self._tree[ahead]
            step >>= 1
        return min(place, len(self._heights) - 1)
