"""The composer's text on the screen: it draws the rows, shows the cursor and does the editing keys.

What a key means beyond editing (sending, completion, history) the composer decides: it is asked
about each key first.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from sloyd.modes.tui.composer_layout import Layout, Row
from sloyd.modes.tui.editing import Editor
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.words import is_atom

__all__ = ["PromptArea"]

_FEWEST_ROWS: Final = 3
_EDITS: Final[Mapping[str, Callable[[Editor], None]]] = {
    "cursor.left": Editor.left,
    "cursor.right": Editor.right,
    "cursor.word_left": Editor.word_left,
    "cursor.word_right": Editor.word_right,
    "cursor.line_start": Editor.line_start,
    "cursor.line_end": Editor.line_end,
    "edit.delete_left": Editor.backspace,
    "edit.delete_right": Editor.delete,
    "edit.delete_word_left": Editor.cut_word_left,
    "edit.delete_word_right": Editor.cut_word_right,
    "edit.delete_to_start": Editor.cut_to_line_start,
    "edit.delete_to_end": Editor.cut_to_line_end,
    "edit.yank": Editor.yank,
    "edit.yank_older": Editor.yank_pop,
    "edit.undo": Editor.undo,
    "edit.redo": Editor.redo,
    "input.newline": lambda editor: editor.insert("\n", typed=True),
}


class PromptArea(Widget, can_focus=True):
    """A text that is being written. ``marker`` gives what is shown for an atom."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "area--cursor",
        "area--atom",
        "area--placeholder",
        "area--command",
        "area--shell",
        "area--shell-apart",
    }
    DEFAULT_CSS = """
    PromptArea { height: auto; }
    PromptArea > .area--cursor { text-style: reverse; }
    PromptArea > .area--atom { color: $accent; text-style: bold; }
    PromptArea > .area--placeholder { color: $text-disabled; }
    PromptArea > .area--command { color: $accent; }
    PromptArea > .area--shell { color: $success; }
    PromptArea > .area--shell-apart { color: $warning; }
    """

    class Pasted(Message):
        """Text was pasted."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(
        self, keys: KeyMap, marker: Callable[[str], str], *, placeholder: str = ""
    ) -> None:
        super().__init__()
        self.editor = Editor(self._edited)
        self.placeholder = placeholder
        self.edited: Callable[[], None] = lambda: None
        self.hear: Callable[[str | None, events.Key], bool] = lambda _action, _event: False
        self._keys = keys
        self._layout = Layout(marker)
        self._top = 0
        self._column: int | None = None
        self._jump: bool | None = None
        self._moves_vertically = False

    # Keys

    async def _on_key(self, event: events.Key) -> None:
        if self._jump is not None:
            backwards, self._jump = self._jump, None
            if event.is_printable and event.character:
                self.editor.jump(event.character, backwards=backwards)
                self._take(event)
                return
        action = self._keys.action(event.key, "composer")
        if self.hear(action, event) or self._perform(action) or self._type(action, event):
            self._take(event)

    def _take(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()

    def _perform(self, action: str | None) -> bool:
        """Do an editing action; false for any other."""
        if action is None:
            return False
        if action == "edit.delete_right" and not self.editor.text:
            return False  # its key may mean something else where there is nothing to delete
        if action in _EDITS:
            _EDITS[action](self.editor)
        elif action == "cursor.up":
            self.move_row(-1)
        elif action == "cursor.down":
            self.move_row(1)
        elif action in ("cursor.jump_forward", "cursor.jump_backward"):
            self._jump = action == "cursor.jump_backward"
        else:
            return False
        return True

    def _type(self, action: str | None, event: events.Key) -> bool:
        character = event.character
        *modifiers, _ = event.key.split("+") if event.key != "+" else [""]
        if action is not None or not character or set(modifiers) - {"shift"}:
            return False
        # Joiners of emoji are format characters, and terminals send them as keys of their own.
        if not character.isprintable() and unicodedata.category(character[0]) != "Cf":
            return False
        self.editor.insert(character, typed=True)
        return True

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.post_message(self.Pasted(event.text))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        offset = event.get_content_offset(self)
        if offset is not None:
            self.editor.move_to(self._layout.place_at(self._top + offset.y, offset.x))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        if self._top > 0:
            event.stop()
            self.move_row(-1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        if self._top + self.content_size.height < len(self._rows()):
            event.stop()
            self.move_row(1)

    # Places

    @property
    def is_on_first_row(self) -> bool:
        """Whether the cursor cannot go up."""
        self._rows()
        return self._layout.locate(self.editor.cursor)[0] == 0

    @property
    def is_on_last_row(self) -> bool:
        """Whether the cursor cannot go down."""
        rows = self._rows()
        return self._layout.locate(self.editor.cursor)[0] == len(rows) - 1

    def move_row(self, by: int) -> None:
        """Go up or down; above the first row to the start, below the last one to the end."""
        rows = self._rows()
        row, column = self._layout.locate(self.editor.cursor)
        if not 0 <= row + by < len(rows):
            if by < 0:
                self.editor.text_start()
            else:
                self.editor.text_end()
            return
        goal = column if self._column is None else self._column
        self._moves_vertically = True
        self.editor.move_to(self._layout.place_at(row + by, goal))
        self._moves_vertically = False
        self._column = goal

    def _rows(self) -> list[Row]:
        # One cell stays free for the cursor behind a full row.
        self._layout.update(self.editor.text, max(self.content_size.width, 3) - 1)
        return self._layout.rows

    def _edited(self) -> None:
        if not self._moves_vertically:
            self._column = None
        if not self.is_attached:
            return
        height = len(self._rows())
        self.edited()
        self.refresh(layout=min(height, self._most_rows()) != self.content_size.height)
        self.call_after_refresh(self._place_terminal_cursor)

    def _most_rows(self) -> int:
        return max(_FEWEST_ROWS, self.app.size.height // 3)

    def _place_terminal_cursor(self) -> None:
        """Put the terminal's own cursor where ours is: input methods show their window there."""
        if self.has_focus:
            row, column = self._layout.locate(self.editor.cursor)
            self.app.cursor_position = self.content_region.offset + Offset(column, row - self._top)

    def on_focus(self) -> None:
        self._place_terminal_cursor()

    # Drawing

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        self._layout.update(self.editor.text, max(width, 3) - 1)
        return min(len(self._layout.rows), self._most_rows())

    def render_line(self, y: int) -> Strip:
        rows = self._rows()
        width, height = self.content_size
        base = self.rich_style
        cursor_row, _ = self._layout.locate(self.editor.cursor)
        self._top = min(max(self._top, cursor_row - height + 1), cursor_row)
        self._top = max(0, min(self._top, len(rows) - height))
        if not self.editor.text:
            return self._blank(y, width, base)
        number = self._top + y
        if number >= len(rows):
            return Strip.blank(width, base)
        segments = self._segments(rows[number], base, has_cursor=number == cursor_row)
        return Strip(segments).adjust_cell_length(width, base)

    def _blank(self, y: int, width: int, base: Style) -> Strip:
        if y > 0:
            return Strip.blank(width, base)
        dim = base + self._style("area--placeholder")
        text = self.placeholder or " "
        cursor = dim + self._style("area--cursor") if self.has_focus else dim
        segments = [Segment(text[:1], cursor), Segment(text[1:], dim)]
        return Strip(segments).adjust_cell_length(width, base)

    def _segments(self, row: Row, base: Style, *, has_cursor: bool) -> list[Segment]:
        text, cursor = self.editor.text, self.editor.cursor
        inked, until = self._inked(base)
        atom, pointed = self._style("area--atom"), self._style("area--cursor")
        shows_cursor = has_cursor and self.has_focus
        segments = []
        for piece in row.pieces:
            place = row.line_start + piece.start
            style = inked if place < until else base
            if is_atom(text[place]):
                style += atom
            if shows_cursor and place == cursor:
                style += pointed
            segments.append(Segment(piece.shown, style))
        if shows_cursor and cursor == row.end:
            segments.append(Segment(" ", base + pointed))
        return segments

    def _inked(self, base: Style) -> tuple[Style, int]:
        """The style of a text that is no plain prompt, and up to which place it holds."""
        text = self.editor.text
        if text.startswith("!!"):
            return base + self._style("area--shell-apart"), len(text)
        if text.startswith("!"):
            return base + self._style("area--shell"), len(text)
        if text.startswith("/"):
            return base + self._style("area--command"), len(text.split(maxsplit=1)[0])
        return base, 0

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(name, partial=True)
