"""A list in which one searches by typing and picks one row; every picker is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from sloyd.modes.tui.fuzzy import match
from sloyd.modes.tui.key_table import KeyContext
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.pickers.row_list import Row, RowList

__all__ = ["FuzzyScreen", "SearchInput"]

Value = TypeVar("Value")
Result = TypeVar("Result")


class SearchInput(Input):
    """A line of input whose screen hears each key first."""

    async def _on_key(self, event: events.Key) -> None:
        screen = self.screen
        if isinstance(screen, FuzzyScreen) and screen.hear(event):
            event.stop()
            event.prevent_default()
            return
        await super()._on_key(event)


class FuzzyScreen(ModalScreen[Result | None], Generic[Value, Result]):
    """A modal screen with a title, a line to search with, rows, and a line about keys.

    A picker overrides `all_rows` and `choose`, and `act` for keys of its own.
    """

    CONTEXTS: ClassVar[tuple[KeyContext, ...]] = ("list",)
    DEFAULT_CSS = """
    FuzzyScreen { align: center middle; }
    FuzzyScreen > Vertical {
        width: 90%; max-width: 110; height: auto; max-height: 80%;
        border: round $primary; background: $surface; padding: 0 1;
    }
    FuzzyScreen .title { height: auto; text-style: bold; color: $primary; }
    FuzzyScreen Input { border: none; height: 1; padding: 0; background: $surface; }
    FuzzyScreen Input:focus { border: none; }
    FuzzyScreen RowList { height: auto; max-height: 100%; margin: 1 0 0 0; }
    FuzzyScreen .more { height: auto; max-height: 10; color: $foreground; margin: 1 0 0 0; }
    FuzzyScreen .hint { height: auto; color: $text-muted; margin: 1 0 0 0; }
    """

    def __init__(self, keys: KeyMap, *, title: str, query: str = "", hint: str = "") -> None:
        super().__init__()
        self.keys = keys
        self.heading = Static(title, classes="title", markup=False)
        self.input = SearchInput(query, placeholder="type to search", select_on_focus=False)
        self.list: RowList[Value] = RowList()
        self.more = Static(classes="more", markup=False)
        self._hint = hint
        self._filled_for: str | None = None

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self.heading
            yield self.input
            yield self.list
            yield self.more
            yield Static(self._hint, classes="hint", markup=False)

    def on_mount(self) -> None:
        self.more.display = False
        self.query_one(".hint").display = bool(self._hint)
        self.input.focus()
        self.fill()

    # For pickers to override

    def all_rows(self) -> Sequence[Row[Value]]:
        """Every row that there is, in its order."""
        raise AssertionError("each picker has rows")

    def choose(self, row: Row[Value]) -> None:
        """A row was chosen."""
        raise AssertionError("each picker does something with the row")

    def act(self, action: str) -> bool:
        """Do an action of the picker's own; false for any other."""
        del action
        return False

    def leave(self) -> None:
        """The list is left without a choice."""
        self.dismiss(None)

    def moved(self) -> None:
        """The cursor, or what is shown, has changed."""

    # How it works

    @property
    def chosen(self) -> Row[Value] | None:
        """The row under the cursor."""
        return self.list.chosen

    def fill(self, *, stay: bool = False) -> None:
        """Show the rows that fit what is written; with ``stay`` the cursor stays on its value."""
        self._filled_for = self.input.value
        before = self.list.chosen if stay else None
        rows = self.matching(self.all_rows(), self.input.value)
        cursor = 0 if self.input.value else self.first_cursor(rows)
        if before is not None:
            cursor = next((i for i, row in enumerate(rows) if row.value == before.value), cursor)
        self.list.show(rows, cursor)
        self._limit_height()
        self.moved()

    def first_cursor(self, rows: Sequence[Row[Value]]) -> int:
        """Where the cursor stands while nothing is searched for."""
        del rows
        return 0

    def matching(self, rows: Sequence[Row[Value]], query: str) -> list[Row[Value]]:
        """The rows that fit, the best first; by their labels, or else by all that they say."""
        if not query.strip():
            return list(rows)
        found: list[tuple[int, int, Row[Value]]] = []
        for order, row in enumerate(rows):
            hit = match(query, f"{row.label} {row.detail} {row.tail}")
            if hit is not None:
                places = tuple(place for place in hit.places if place < len(row.label))
                found.append((-hit.score, order, replace(row, places=places)))
        found.sort(key=lambda item: item[:2])
        return [row for *_, row in found]

    def hear(self, event: events.Key) -> bool:
        """Act on a key; true when it is used up."""
        action = self.keys.action(event.key, *self.CONTEXTS)
        if action is None:
            return False
        if self._filled_for != self.input.value:
            # Keys that came at once: what was typed is to count before what is chosen.
            self.fill()
        if action == "list.close":
            self.leave()
        elif action == "list.choose":
            if self.chosen is not None:
                self.choose(self.chosen)
        elif action in ("list.up", "list.down"):
            self.list.move(-1 if action == "list.up" else 1, around=True)
            self.moved()
        elif action in ("list.page_up", "list.page_down"):
            self.list.move_page(-1 if action == "list.page_up" else 1)
            self.moved()
        else:
            return self.act(action)
        return True

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.list.is_mounted and self._filled_for != self.input.value:
            self.fill()

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        if self.chosen is not None:
            self.choose(self.chosen)

    def on_resize(self) -> None:
        self._limit_height()

    def _limit_height(self) -> None:
        """Leave room for the other lines, so that these never run out of the frame."""
        others = 8 + (min(self.more.size.height, 10) + 1 if self.more.display else 0)
        self.list.styles.max_height = max(3, self.size.height * 8 // 10 - others)
