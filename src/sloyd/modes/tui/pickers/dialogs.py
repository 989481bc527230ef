"""Small questions over the screen: yes or no, one of several, a line of text."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.pickers.fuzzy_screen import FuzzyScreen
from sloyd.modes.tui.pickers.row_list import Row
from sloyd.modes.tui.safe_text import safe_text

__all__ = ["ConfirmDialog", "InputDialog", "SelectDialog"]

_FRAME = """
    {name} {{ align: center middle; }}
    {name} > Vertical {{
        width: 90%; max-width: 100; height: auto; max-height: 80%;
        border: round $primary; background: $surface; padding: 0 1;
    }}
    {name} .title {{ height: auto; text-style: bold; color: $primary; }}
    {name} .hint {{ height: auto; color: $text-muted; margin: 1 0 0 0; }}
"""


class ConfirmDialog(ModalScreen[bool]):
    """Yes or no; leaving it is no.

    Without ``by_enter`` only a letter says yes: that is for what cannot be taken back, since who
    types fast may be about to press Enter when the question comes up.
    """

    DEFAULT_CSS = (
        _FRAME.format(name="ConfirmDialog")
        + "ConfirmDialog VerticalScroll { height: auto; max-height: 16; }"
    )

    def __init__(
        self, keys: KeyMap, title: str, message: str = "", *, by_enter: bool = True
    ) -> None:
        super().__init__()
        self._keys = keys
        self._title = safe_text(title)
        self._message = safe_text(message)
        self._by_enter = by_enter

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title, classes="title", markup=False)
            if self._message:
                with VerticalScroll(can_focus=False):
                    yield Static(self._message, markup=False)
            yes = "y or enter: yes" if self._by_enter else "y: yes"
            yield Static(f"{yes}    n or esc: no", classes="hint", markup=False)

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        leaves = self._keys.is_key("list.close", event.key)
        chosen = self._by_enter and self._keys.is_key("list.choose", event.key)
        if event.key in ("y", "Y") or chosen:
            self.dismiss(True)
        elif event.key in ("n", "N") or leaves:
            self.dismiss(False)


class InputDialog(ModalScreen[str | None]):
    """A line of text; ``secret`` shows dots in its place."""

    DEFAULT_CSS = _FRAME.format(name="InputDialog") + (
        "InputDialog Input { border: none; height: 1; padding: 0; background: $panel; }"
        "InputDialog Input:focus { border: none; }"
    )

    def __init__(
        self,
        keys: KeyMap,
        title: str,
        default: str = "",
        *,
        hint: str = "enter: take it    esc: leave",
        secret: bool = False,
    ) -> None:
        super().__init__()
        self._keys = keys
        self._title = safe_text(title)
        self._hint = hint
        self.input = Input(safe_text(default), password=secret, select_on_focus=False)

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title, classes="title", markup=False)
            yield self.input
            yield Static(self._hint, classes="hint", markup=False)

    def on_mount(self) -> None:
        self.input.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value)

    def on_key(self, event: events.Key) -> None:
        if self._keys.is_key("list.close", event.key):
            event.stop()
            event.prevent_default()
            self.dismiss(None)


class SelectDialog(FuzzyScreen[int, int]):
    """One of several options; its index."""

    def __init__(self, keys: KeyMap, title: str, options: Sequence[str]) -> None:
        super().__init__(keys, title=safe_text(title))
        self._options = [safe_text(option) for option in options]

    def all_rows(self) -> Sequence[Row[int]]:
        return [Row(index, option) for index, option in enumerate(self._options)]

    def choose(self, row: Row[int]) -> None:
        self.dismiss(row.value)
