"""How the plain conversation tells and asks: lines out, a line in."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

from sloyd.harness.door import NoticeLevel
from sloyd.modes.line_reader import LineReader
from sloyd.modes.output import Output
from sloyd.modes.plain_view import PlainView
from sloyd.text.terminal import plain_text

__all__ = ["PlainDoor"]

_LONGEST_COPY = 100_000
"""Bytes that common terminals take through the clipboard sequence."""


class PlainDoor:
    """The plain conversation as commands and extensions see it."""

    name = "plain"
    can_ask = True
    keys: Sequence[tuple[str, str]] = (
        ("Ctrl-C", "stop the run; pressed again, leave"),
        ("Ctrl-D", "leave"),
        ("\\ at the end", "go on in the next line"),
    )

    def __init__(self, view: PlainView, lines: LineReader, out: Output) -> None:
        self._view = view
        self._lines = lines
        self._out = out
        self.on_quit: Callable[[], None] | None = None

    async def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """One line as a note, more lines as they are."""
        if "\n" in message:
            self._view.end_line()
            self._out.line(plain_text(message))
        else:
            self._view.note(message if level == "info" else f"{level}: {message}")

    async def confirm(self, title: str, message: str = "") -> bool:
        """Anything but y or yes is no."""
        text = f"{message}\n{title}" if message else title
        answer = await self._asked(f"{text} [y/N] ")
        return answer is not None and answer.strip().lower() in ("y", "yes")

    async def select(self, title: str, options: Sequence[str]) -> int | None:
        """By number; an empty line chooses nothing."""
        rows = [f"{number:>3}  {option}" for number, option in enumerate(options, 1)]
        while True:
            answer = await self._asked("\n".join([title, *rows, "number, or Enter for none: "]))
            if answer is None or not answer.strip():
                return None
            if answer.strip().isdecimal() and 1 <= int(answer) <= len(options):
                return int(answer) - 1
            self._out.line(f"{plain_text(answer.strip())} is none of 1 to {len(options)}")

    async def input(self, title: str, default: str = "") -> str | None:
        """A line; an empty one is the default."""
        hint = f" [{default}]" if default else ""
        answer = await self._asked(f"{title}{hint} ")
        return default if answer == "" else answer

    async def set_editor_text(self, text: str) -> None:
        """There is no editor here: the text is shown, to be copied."""
        if text:
            self._view.note("the message was:")
            self._out.line(plain_text(text))

    async def copy(self, text: str) -> bool:
        """By the terminal's clipboard sequence, OSC 52."""
        data = base64.b64encode(text.encode("utf-8", "replace"))
        if not self._out.is_terminal or len(data) > _LONGEST_COPY:
            return False
        self._out.write(b"\x1b]52;c;" + data + b"\x07")
        return True

    async def quit(self) -> None:
        """Leave after this command."""
        if self.on_quit is not None:
            self.on_quit()

    async def _asked(self, text: str) -> str | None:
        self._view.end_line()
        self._out.write(plain_text(text))
        return await self._lines.read()
