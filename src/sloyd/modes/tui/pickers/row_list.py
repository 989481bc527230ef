"""A list of rows of which one is chosen; only what is on the screen is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

__all__ = ["Row", "RowList"]

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Row(Generic[Value]):
    """One row.

    Attributes:
        value: what it stands for.
        label: what it says.
        detail: more, dimmed, behind the label.
        places: letters of the label that a search found.
        tail: shown at the right edge, as long as there is room.
    """

    value: Value
    label: str
    detail: str = ""
    places: tuple[int, ...] = ()
    tail: str = ""
    style: str = ""


class RowList(Widget, Generic[Value]):
    """Rows and a cursor. Moves are methods; whoever has the focus calls them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", "rows--detail", "rows--found"}
    DEFAULT_CSS = """
    RowList { height: auto; }
    RowList > .rows--cursor { background: $panel; text-style: bold; }
    RowList > .rows--detail { color: $text-muted; }
    RowList > .rows--found { color: $accent; text-style: bold; }
    """

    cursor: reactive[int] = reactive(0)

    class Chosen(Message):
        """A row was clicked."""

        def __init__(self, rows: RowList[Any], index: int) -> None:
            super().__init__()
            self.rows = rows
            self.index = index

        @property
        def control(self) -> RowList[Any]:
            """The list."""
            return self.rows

    def __init__(self, *, most: int | None = None) -> None:
        super().__init__()
        self.rows: Sequence[Row[Value]] = ()
        self._most = most
        self._top = 0

    def show(self, rows: Sequence[Row[Value]], cursor: int = 0) -> None:
        """Show other rows."""
        self.rows = rows
        self.set_reactive(RowList.cursor, min(max(cursor, 0), max(len(rows) - 1, 0)))
        self.refresh(layout=True)

    @property
    def chosen(self) -> Row[Value] | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    def move(self, by: int, *, around: bool = False) -> None:
        """Move the cursor; ``around`` goes on at the other end."""
        if self.rows:
            place = self.cursor + by
            last = len(self.rows) - 1
            self.cursor = place % (last + 1) if around else min(max(place, 0), last)

    def move_page(self, by: int) -> None:
        """Move by the height of the list."""
        self.move(by * max(self.size.height - 1, 1))

    def watch_cursor(self) -> None:
        self.refresh()

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return min(len(self.rows), self._most) if self._most else len(self.rows)

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        self._top = min(max(self._top, self.cursor - height + 1), self.cursor)
        self._top = max(0, min(self._top, len(self.rows) - height))
        index = self._top + y
        base = self.rich_style
        if index >= len(self.rows):
            return Strip.blank(width, base)
        row = self.rows[index]
        if index == self.cursor:
            base += self.get_component_rich_style("rows--cursor", partial=True)
        text = self._text(row, width, selected=index == self.cursor)
        segments = [
            Segment(segment.text, base + (segment.style or Style()))
            for segment in text.render(self.app.console)
            if segment.text != "\n"
        ]
        return Strip(segments).adjust_cell_length(width, base)

    def _text(self, row: Row[Value], width: int, *, selected: bool) -> Text:
        mark = "› " if selected else "  "
        text = Text(mark, no_wrap=True, end="")
        label = Text(_one_line(row.label), style=row.style)
        found = self.get_component_rich_style("rows--found", partial=True)
        for place in row.places:
            label.stylize(found, place, place + 1)
        text.append_text(label)
        dim = self.get_component_rich_style("rows--detail", partial=True)
        tail = Text(_one_line(row.tail), style=dim)
        if row.detail:
            text.append("  ").append(_one_line(row.detail), style=dim)
        room = width - (tail.cell_len + 2 if row.tail else 0)
        if row.tail and room >= width // 3:
            text.truncate(room, overflow="ellipsis", pad=True)
            text.append("  ").append_text(tail)
        text.truncate(width, overflow="ellipsis")
        return text

    def on_click(self, event: events.Click) -> None:
        index = self._top + event.y
        if 0 <= index < len(self.rows):
            event.stop()
            self.cursor = index
            self.post_message(self.Chosen(self, index))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.move(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.move(-1)


def _one_line(text: str) -> str:
    """The text with nothing in it that would leave its row; each letter keeps its place."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else " " for letter in text)
