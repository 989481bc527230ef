"""A text under edit: the text, the place in it, undo, and what was cut. No screen, no keys.

Places are indices into ``text`` and always between two clusters (`sloyd.modes.tui.graphemes`).

A folded paste or an image is an *atom*: one character out of the range of the high surrogates,
which no text that can be encoded holds. So every motion, deletion, undo and yank treats it as one
character, and text that merely looks like its marker is only text. What the atoms mean is known to
`sloyd.modes.tui.paste`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from sloyd.modes.tui.graphemes import next_boundary, previous_boundary
from sloyd.modes.tui.words import next_word_end, previous_word_start

__all__ = ["Editor", "clean_text"]

_MOST_STATES: Final = 500
_MOST_CUT: Final = 32
_SURROGATES: Final = re.compile("[\ud800-\udfff]")

_Change: TypeAlias = Literal["type", "erase", "other"]


class _State(NamedTuple):
    text: str
    cursor: int


def clean_text(text: str) -> str:
    """Text from outside as it may be inserted: one kind of line end, nothing that is no text."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATES.sub("\ufffd", text)


@dataclass(slots=True)
class _Yank:
    """The last yank, which yank-pop may replace."""

    start: int
    end: int
    index: int


class Editor:
    """One text under edit.

    Attributes:
        text: the text, atoms included.
        cursor: the place, an index into ``text``.
        on_change: called after each change of text or place.
    """

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        self.text = ""
        self.cursor = 0
        self.on_change = on_change
        self._undo: list[_State] = []
        self._redo: list[_State] = []
        self._last: tuple[_Change, int] | None = None
        self._cut: list[str] = []
        self._cut_at: int | None = None
        self._yank: _Yank | None = None

    # Text

    def insert(self, text: str, *, typed: bool = False) -> None:
        """Put text in at the cursor. ``typed`` text joins what was typed before in one undo."""
        if not text:
            return
        joins = typed and not text.isspace() and self._last == ("type", self.cursor)
        cursor = self.cursor
        self._change(
            self.text[:cursor] + text + self.text[cursor:],
            cursor + len(text),
            kind="type" if typed else "other",
            joins=joins,
        )

    def replace(self, start: int, end: int, text: str) -> None:
        """Put text in the place of another, as one step of undo; the cursor stands behind it."""
        self._change(self.text[:start] + text + self.text[end:], start + len(text))

    def set_text(self, text: str, cursor: int | None = None) -> None:
        """Replace everything; it can be undone."""
        self._change(text, len(text) if cursor is None else cursor)

    def reset(self, text: str = "") -> None:
        """Begin anew with this text: nothing to undo. What was cut is kept."""
        self.text = text
        self.cursor = len(text)
        self._undo.clear()
        self._redo.clear()
        self._end_runs()
        self.on_change()

    # Moving

    def move_to(self, place: int) -> None:
        """Set the cursor; a place inside a cluster becomes the cluster's start."""
        place = min(max(place, 0), len(self.text))
        if 0 < place < len(self.text):
            before = previous_boundary(self.text, place)
            if next_boundary(self.text, before) > place:
                place = before
        self.cursor = place
        self._end_runs()
        self.on_change()

    def left(self) -> None:
        self.move_to(previous_boundary(self.text, self.cursor))

    def right(self) -> None:
        self.move_to(next_boundary(self.text, self.cursor))

    def word_left(self) -> None:
        self.move_to(previous_word_start(self.text, self.cursor))

    def word_right(self) -> None:
        self.move_to(next_word_end(self.text, self.cursor))

    def line_start(self) -> None:
        self.move_to(self._line_start())

    def line_end(self) -> None:
        self.move_to(self._line_end())

    def text_start(self) -> None:
        self.move_to(0)

    def text_end(self) -> None:
        self.move_to(len(self.text))

    def jump(self, character: str, *, backwards: bool = False) -> None:
        """To the next, or the previous, place of a character; stay when there is none."""
        if backwards:
            found = self.text.rfind(character, 0, self.cursor)
        else:
            found = self.text.find(character, next_boundary(self.text, self.cursor))
        if found >= 0:
            self.move_to(found)

    # Erasing and cutting

    def backspace(self) -> None:
        self._erase(previous_boundary(self.text, self.cursor), self.cursor)

    def delete(self) -> None:
        self._erase(self.cursor, next_boundary(self.text, self.cursor))

    def cut_word_left(self) -> None:
        self._cut_out(previous_word_start(self.text, self.cursor), self.cursor, in_front=True)

    def cut_word_right(self) -> None:
        self._cut_out(self.cursor, next_word_end(self.text, self.cursor), in_front=False)

    def cut_to_line_start(self) -> None:
        """Cut what is before the cursor in its line; at the line's start, the line break."""
        start = self._line_start()
        start = start if start < self.cursor else max(0, start - 1)
        self._cut_out(start, self.cursor, in_front=True)

    def cut_to_line_end(self) -> None:
        """Cut what is behind the cursor in its line; at the line's end, the line break."""
        end = self._line_end()
        end = end if end > self.cursor else min(len(self.text), end + 1)
        self._cut_out(self.cursor, end, in_front=False)

    def yank(self) -> None:
        """Put in what was cut last."""
        if self._cut:
            self._put_yank(self.cursor, self.cursor, len(self._cut) - 1)

    def yank_pop(self) -> None:
        """Directly after a yank: put in what was cut before that instead."""
        yank = self._yank
        if yank is not None:
            self._put_yank(yank.start, yank.end, (yank.index - 1) % len(self._cut))

    # Undo

    def undo(self) -> None:
        self._go_back(self._undo, self._redo)

    def redo(self) -> None:
        self._go_back(self._redo, self._undo)

    # How it is done

    def _line_start(self) -> int:
        return self.text.rfind("\n", 0, self.cursor) + 1

    def _line_end(self) -> int:
        end = self.text.find("\n", self.cursor)
        return len(self.text) if end < 0 else end

    def _erase(self, start: int, end: int) -> None:
        if start == end:
            return
        joins = self._last == ("erase", self.cursor)
        self._change(self.text[:start] + self.text[end:], start, kind="erase", joins=joins)

    def _cut_out(self, start: int, end: int, *, in_front: bool) -> None:
        if start == end:
            return
        piece = self.text[start:end]
        if self._cut_at == self.cursor and self._cut:
            self._cut[-1] = piece + self._cut[-1] if in_front else self._cut[-1] + piece
        else:
            self._cut = [*self._cut[1 - _MOST_CUT :], piece]
        self._change(self.text[:start] + self.text[end:], start)
        self._cut_at = self.cursor

    def _put_yank(self, start: int, end: int, index: int) -> None:
        piece = self._cut[index]
        self._change(self.text[:start] + piece + self.text[end:], start + len(piece))
        self._yank = _Yank(start, start + len(piece), index)

    def _change(
        self, text: str, cursor: int, *, kind: _Change = "other", joins: bool = False
    ) -> None:
        if not joins:
            self._undo = [*self._undo[1 - _MOST_STATES :], _State(self.text, self.cursor)]
        self._redo.clear()
        self.text = text
        self._end_runs()
        self.cursor = self._snapped(cursor)
        self._last = (kind, self.cursor)
        self.on_change()

    def _snapped(self, cursor: int) -> int:
        """The place, or the end of the cluster that it is in: an accent joins what is before it."""
        if 0 < cursor < len(self.text):
            before = previous_boundary(self.text, cursor)
            end = next_boundary(self.text, before)
            return max(cursor, end)
        return cursor

    def _go_back(self, source: list[_State], other: list[_State]) -> None:
        if not source:
            return
        other.append(_State(self.text, self.cursor))
        self.text, self.cursor = source.pop()
        self._end_runs()
        self.on_change()

    def _end_runs(self) -> None:
        """What comes next joins neither what was typed, nor what was cut, nor a yank."""
        self._last = None
        self._cut_at = None
        self._yank = None
