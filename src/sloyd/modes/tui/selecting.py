"""What a selection in the transcript covers: its text, the word or the line under a place."""

from __future__ import annotations

import re

from textual.geometry import Offset
from textual.selection import Selection

from sloyd.modes.tui.stack import Stack

__all__ = ["line_at", "selected_text", "word_at"]

_WORD = re.compile(r"[\w./~@:+%#=-]+|\S")
"""What a double click takes: a word, and a path or an address as one."""


def selected_text(stack: Stack, selection: Selection) -> str:
    """The selected characters, line by line, without blanks at the ends of lines."""
    first = selection.start or Offset(0, 0)
    last = selection.end.y if selection.end is not None else stack.height - 1
    lines: list[str] = []
    for number in range(first.y, min(last, stack.height - 1) + 1):
        text = _text(stack, number)
        end = selection.end.x if selection.end is not None and number == last else len(text)
        start = first.x if number == first.y else 0
        lines.append(text[start:end].rstrip())
    return "\n".join(lines)


def word_at(stack: Stack, offset: Offset) -> Selection | None:
    """The word under a place."""
    for found in _WORD.finditer(_text(stack, offset.y)):
        if found.start() <= offset.x < found.end():
            return _within(offset.y, found.start(), found.end())
    return None


def line_at(stack: Stack, offset: Offset) -> Selection | None:
    """The line under a place."""
    text = _text(stack, offset.y).rstrip()
    return _within(offset.y, len(text) - len(text.lstrip()), len(text)) if text else None


def _within(line: int, start: int, end: int) -> Selection:
    return Selection(Offset(start, line), Offset(end, line))


def _text(stack: Stack, number: int) -> str:
    strip = stack.line(number)
    return strip.text if strip is not None else ""
