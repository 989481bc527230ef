"""Where each cluster of the edited text stands on the screen: wrapped rows and their cells.

Rows break between words and, where a word is wider than a row, between clusters; wide and combining
characters never overflow. An atom is as wide as its marker and never broken.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Final, NamedTuple

from rich.cells import cell_len, set_cell_size

from sloyd.modes.tui.graphemes import clusters
from sloyd.modes.tui.words import is_atom

__all__ = ["Layout", "Piece", "Row"]

_TAB: Final = "    "
_MOST_CACHED: Final = 4_096


class Piece(NamedTuple):
    """One cluster: where it begins in its line, what is shown for it, and its width in cells."""

    start: int
    shown: str
    width: int


class Row(NamedTuple):
    """One row of the screen. ``start`` and ``end`` are places in the text.

    ``pieces`` have their places relative to ``line_start``.
    """

    line_start: int
    start: int
    end: int
    pieces: tuple[Piece, ...]


class Layout:
    """Rows of a text. ``marker`` gives what is shown for an atom."""

    def __init__(self, marker: Callable[[str], str]) -> None:
        self._marker = marker
        self._cache: dict[str, tuple[tuple[Piece, ...], ...]] = {}
        self._width = 0
        self._text: str | None = None
        self.rows: list[Row] = [Row(0, 0, 0, ())]
        self._starts = [0]

    def update(self, text: str, width: int) -> None:
        """Lay the text out in rows of ``width`` cells; one more cell is needed for the cursor."""
        width = max(width, 2)
        if width != self._width or len(self._cache) > _MOST_CACHED:
            self._cache.clear()
        elif text == self._text:
            return
        self._width, self._text = width, text
        self.rows = []
        start = 0
        for line in text.split("\n"):
            wrapped = self._cache.get(line)
            if wrapped is None:
                wrapped = self._cache[line] = self._wrap(line)
            for number, pieces in enumerate(wrapped):
                first = pieces[0].start if pieces else 0
                last = wrapped[number + 1][0].start if number + 1 < len(wrapped) else len(line)
                self.rows.append(Row(start, start + first, start + last, pieces))
            start += len(line) + 1
        self._starts = [row.start for row in self.rows]

    def locate(self, place: int) -> tuple[int, int]:
        """The row and the column of a place in the text."""
        number = max(0, bisect_right(self._starts, place) - 1)
        row = self.rows[number]
        column = sum(piece.width for piece in row.pieces if row.line_start + piece.start < place)
        return number, column

    def place_at(self, number: int, column: int) -> int:
        """The place in the text that is nearest to a row and a column, within that row."""
        number = min(max(number, 0), len(self.rows) - 1)
        row = self.rows[number]
        passed = 0
        for piece in row.pieces:
            if passed + (piece.width + 1) // 2 > column:
                return row.line_start + piece.start
            passed += piece.width
        continues = number + 1 < len(self.rows) and self.rows[number + 1].start == row.end
        if continues and row.pieces:
            # The row's end is the next row's beginning; stay in this row.
            return row.line_start + row.pieces[-1].start
        return row.end

    def _wrap(self, line: str) -> tuple[tuple[Piece, ...], ...]:
        rows: list[tuple[Piece, ...]] = []
        row: list[Piece] = []
        used = 0
        breaks = 0  # how many pieces stay in this row if it is broken at its last chance
        for start, end in clusters(line):
            shown = self._shown(line[start:end])
            piece = Piece(start, shown, cell_len(shown))
            if used + piece.width > self._width and row:
                kept = breaks or len(row)
                rows.append(tuple(row[:kept]))
                row = row[kept:]
                used = sum(item.width for item in row)
                breaks = 0
                if used + piece.width > self._width and row:
                    rows.append(tuple(row))
                    row, used = [], 0
            row.append(piece)
            used += piece.width
            if line[start].isspace() or piece.width == 2:
                breaks = len(row)
        rows.append(tuple(row))
        return tuple(rows)

    def _shown(self, cluster: str) -> str:
        first = cluster[0]
        if is_atom(first):
            marker = self._marker(first)
            return marker if cell_len(marker) <= self._width else set_cell_size(marker, self._width)
        if first == "\t":
            return _TAB[: self._width]
        if ord(first) < 0x20:
            return chr(0x2400 + ord(first))
        if first == "\x7f":
            return "\u2421"
        if cell_len(cluster) == 0:
            # A mark that stands alone, or a format character: shown, so that it can be deleted.
            return f"\u25cc{cluster}" if first.isprintable() else "\u25cc"
        return cluster
