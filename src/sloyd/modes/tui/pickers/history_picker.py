"""Searching in what was sent before."""

from __future__ import annotations

from collections.abc import Sequence

from sloyd.modes.tui.history import History
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.pickers.fuzzy_screen import FuzzyScreen
from sloyd.modes.tui.pickers.row_list import Row

__all__ = ["HistoryPicker"]

_MOST_ROWS = 500


class HistoryPicker(FuzzyScreen[str, str]):
    """Gives an old prompt back. Words are looked for as they are, the newest first."""

    def __init__(self, history: History, keys: KeyMap, query: str = "") -> None:
        first = query if "\n" not in query else ""
        super().__init__(keys, title="Older prompts", query=first)
        self._history = history

    def all_rows(self) -> Sequence[Row[str]]:
        return [
            Row(text, " ".join(text[:500].split()))
            for text in self._history.search(self.input.value)[:_MOST_ROWS]
        ]

    def matching(self, rows: Sequence[Row[str]], query: str) -> list[Row[str]]:
        return list(rows)

    def moved(self) -> None:
        row = self.chosen
        is_long = row is not None and row.value != row.label
        self.more.display = is_long
        if row is not None and is_long:
            self.more.update("\n".join(row.value.splitlines()[:10]))

    def choose(self, row: Row[str]) -> None:
        self.dismiss(row.value)
