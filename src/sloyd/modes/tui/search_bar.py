"""The line in which one searches in the transcript; it takes the composer's place meanwhile."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.transcript import Transcript

__all__ = ["SearchBar"]


class _Line(Input):
    """An input that lets its bar hear each key first."""

    async def _on_key(self, event: events.Key) -> None:
        bar = self.parent
        if isinstance(bar, SearchBar) and bar.hear(event.key):
            event.stop()
            event.prevent_default()
            return
        await super()._on_key(event)


class SearchBar(Horizontal):
    """Searches as one types."""

    DEFAULT_CSS = """
    SearchBar { height: 1; padding: 0 1; background: $surface; display: none; }
    SearchBar > Static { width: auto; color: $primary; }
    SearchBar > Input { width: 1fr; border: none; height: 1; padding: 0; background: $surface; }
    SearchBar > Input:focus { border: none; }
    """

    class Closed(Message):
        """The search is over."""

    def __init__(self, transcript: Transcript, keys: KeyMap) -> None:
        super().__init__()
        self._transcript = transcript
        self._keys = keys
        self._line = _Line(placeholder="search in the conversation", select_on_focus=True)
        self._count = Static("", markup=False)
        self._at: int | None = None

    def compose(self) -> ComposeResult:
        yield Static("/ ", markup=False)
        yield self._line
        yield self._count

    def open(self) -> None:
        """Begin."""
        self.display = True
        self._at = None
        self._line.focus()
        self._search(-1)

    def hear(self, key: str) -> bool:
        """Act on a key; false for one that is typed."""
        match self._keys.action(key, "search"):
            case "search.next":
                self._search(1)
            case "search.previous":
                self._search(-1)
            case "search.close":
                self.close()
            case _:
                return False
        return True

    def close(self) -> None:
        """Done."""
        self.display = False
        self._transcript.mark("")
        self.post_message(self.Closed())

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._at = None
        self._search(-1)

    def _search(self, direction: int) -> None:
        needle = self._line.value
        self._transcript.mark(needle)
        found = self._transcript.find(needle, direction, start=self._at)
        if found is not None:
            self._at = found
        self._count.update("" if found is not None or not needle else "not there ")
