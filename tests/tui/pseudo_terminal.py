"""A program in a pseudo-terminal, and the screen that its output paints: a small terminal emulator.

It knows what the program writes: moving, erasing, colours (which are dropped), modes. Anything else
is ignored, as a terminal would.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.cells import cell_len

__all__ = ["Painted", "PseudoTerminal"]

_SEQUENCE = re.compile(
    r"\x1b(?:\[([?<>=]?)([0-9;:]*)([ -/]*)([@-~])|\]([^\x07\x1b]*)(?:\x07|\x1b\\)"
    r"|[78=>]|[ -/][0-~])"
)


class Painted:
    """The characters on the screen, and which modes are on."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self.modes: set[int] = set()
        self.keyboard = 0
        """How many entries the program has pushed onto the keyboard protocol's stack."""
        self.titles: list[str] = []
        self.main: list[list[str]] = self._empty()
        self._other: list[list[str]] = self._empty()
        self._x = self._y = 0
        self._rest = ""

    def _empty(self) -> list[list[str]]:
        return [[" "] * self.width for _ in range(self.height)]

    @property
    def _cells(self) -> list[list[str]]:
        return self._other if 1049 in self.modes else self.main

    @property
    def text(self) -> str:
        """The screen, lines without the blanks at their ends."""
        return "\n".join("".join(row).rstrip() for row in self._cells)

    def paint(self, data: str) -> None:
        """Take in what was written."""
        data = self._rest + data
        self._rest = ""
        at = 0
        while at < len(data):
            character = data[at]
            if character == "\x1b":
                found = _SEQUENCE.match(data, at)
                if found is None:
                    if len(data) - at < 200:
                        self._rest = data[at:]
                        return
                    at += 1
                    continue
                self._obey(found)
                at = found.end()
                continue
            at += 1
            self._put(character)

    def _put(self, character: str) -> None:
        if character == "\r":
            self._x = 0
        elif character == "\n":
            self._down()
        elif character == "\b":
            self._x = max(self._x - 1, 0)
        elif character >= " ":
            size = cell_len(character)
            if size == 0:
                return
            if self._x + size > self.width:
                if 7 not in self.modes and 1049 in self.modes:
                    return
                self._x = 0
                self._down()
            row = self._cells[self._y]
            row[self._x] = character
            if size == 2:
                row[self._x + 1] = ""
            self._x += size

    def _down(self) -> None:
        if self._y == self.height - 1:
            self._cells.append([" "] * self.width)
            del self._cells[0]
        else:
            self._y += 1

    def _obey(self, found: re.Match[str]) -> None:
        private, parameters, _, final, command = found.groups()
        if command is not None:
            if command.startswith("2;"):
                self.titles.append(command[2:])
            return
        numbers = [int(part) if part.isdecimal() else 0 for part in (parameters or "").split(";")]
        if private == "?" and final in "hl":
            self._switch(numbers, on=final == "h")
        elif private == ">" and final == "u":
            self.keyboard += 1
        elif private == "<" and final == "u":
            self.keyboard -= 1
        elif not private and final == "H":
            line, column = numbers[0], numbers[1] if len(numbers) > 1 else 1
            self._y = min(max(line, 1), self.height) - 1
            self._x = min(max(column, 1), self.width) - 1
        elif not private and final == "J":
            for row in self._cells:
                row[:] = [" "] * self.width
        elif not private and final == "K":
            self._cells[self._y][self._x :] = [" "] * (self.width - self._x)

    def _switch(self, numbers: Sequence[int], *, on: bool) -> None:
        for number in numbers:
            if number == 1049 and on and number not in self.modes:
                self._other = self._empty()
            if on:
                self.modes.add(number)
            else:
                self.modes.discard(number)


class PseudoTerminal:
    """A program in a pseudo-terminal, started at once."""

    def __init__(
        self,
        program: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        *,
        size: tuple[int, int] = (80, 24),
    ) -> None:
        self.screen = Painted(*size)
        self.output = ""
        width, height = size
        self.pid, self._descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvpe(program[0], list(program), dict(environment))
        self.resize(width, height)
        self.before = termios.tcgetattr(self._descriptor)

    def resize(self, width: int, height: int) -> None:
        """Change the size of the window."""
        size = struct.pack("HHHH", height, width, 0, 0)
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, size)

    def type(self, text: str) -> None:
        """Send keys."""
        os.write(self._descriptor, text.encode())

    def until(self, true: Callable[[Painted], bool], what: str, seconds: float = 20) -> None:
        """Take in output until something is true of the screen."""
        deadline = time.monotonic() + seconds
        while not true(self.screen):
            if time.monotonic() > deadline or not self._read(0.2):
                raise AssertionError(f"never came: {what}\n{self.screen.text}")

    def until_shown(self, words: str, seconds: float = 20) -> None:
        """Take in output until the screen shows some words."""
        self.until(lambda screen: words in screen.text, words, seconds)

    def _read(self, seconds: float) -> bool:
        """Take in what there is; false at the end of output."""
        if select.select([self._descriptor], [], [], seconds)[0]:
            try:
                data = os.read(self._descriptor, 1 << 16)
            except OSError:
                return False
            if not data:
                return False
            text = data.decode("utf-8", "replace")
            self.output += text
            self.screen.paint(text)
        return True

    def wait(self, seconds: float = 20) -> int:
        """The exit code, once the program has ended; its last output is taken in."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            open_still = self._read(0.1)
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                while open_still and select.select([self._descriptor], [], [], 0.1)[0]:
                    open_still = self._read(0)
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
        raise AssertionError(f"it did not end\n{self.screen.text}")

    @property
    def settings(self) -> list[object]:
        """The terminal's settings now."""
        return list(termios.tcgetattr(self._descriptor))

    def signal(self, number: int) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    def hang_up(self, seconds: float = 10) -> None:
        """Take the terminal away, as closing a window does, and wait for the program's end."""
        os.close(self._descriptor)
        self._descriptor = -1
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                self.pid = 0
                return
            time.sleep(0.02)
        raise AssertionError("it lives on without a terminal")

    def close(self) -> None:
        """End the program, if it still runs."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        if self._descriptor >= 0:
            os.close(self._descriptor)
