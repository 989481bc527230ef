"""Small questions: yes or no, a line of text, one of a few options."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.pickers.fuzzy_screen import FuzzyScreen
from sloyd.modes.tui.pickers.row_list import Row

__all__ = ["ConfirmScreen", "LineScreen", "SelectScreen"]

_FRAME = """
    {name} {{ align: center middle; }}
    {name} > Vertical {{
        width: 80%; max-width: 80; height: auto;
        border: round $primary; background: $surface; padding: 0 1;
    }}
    {name} .title {{ height: auto; text-style: bold; }}
    {name} .hint {{ height: auto; color: $text-muted; margin: 1 0 0 0; }}
    {name} Input {{ border: none; height: 1; padding: 0; margin: 1 0 0 0; background: $panel; }}
    {name} Input:focus {{ border: none; }}
"""


class ConfirmScreen(ModalScreen[bool]):
    """Yes or no; anything but a yes is a no."""

    DEFAULT_CSS = _FRAME.format(name="ConfirmScreen")

    def __init__(self, title: str, message: str = "") -> None:
        super().__init__()
        self._question = title
        self._message = message

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._question, classes="title", markup=False)
            if self._message:
                yield Static(self._message, markup=False)
            yield Static("y yes    n no", classes="hint", markup=False)

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        # Not Enter: who is writing when the question comes up is about to press it.
        if event.key in ("y", "Y"):
            self.dismiss(True)
        elif event.key in ("n", "N", "escape", "ctrl+c", "q"):
            self.dismiss(False)


class LineScreen(ModalScreen[str | None]):
    """A line of text. With ``secret`` it is not shown."""

    DEFAULT_CSS = _FRAME.format(name="LineScreen")

    def __init__(
        self, title: str, default: str = "", *, hint: str = "", secret: bool = False
    ) -> None:
        super().__init__()
        self._question = title
        self._explained = hint or "enter takes it    esc leaves"
        self.input = Input(default, password=secret, select_on_focus=False)

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._question, classes="title", markup=False)
            yield self.input
            yield Static(self._explained, classes="hint", markup=False)

    def on_mount(self) -> None:
        self.input.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value)

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "ctrl+c"):
            event.stop()
            self.dismiss(None)


class SelectScreen(FuzzyScreen[int, int]):
    """One of a few options, by its index."""

    def __init__(self, keys: KeyMap, title: str, options: Sequence[str]) -> None:
        super().__init__(keys, title=title)
        self._options = options

    def all_rows(self) -> Sequence[Row[int]]:
        return [Row(index, option) for index, option in enumerate(self._options)]

    def choose(self, row: Row[int]) -> None:
        self.dismiss(row.value)
