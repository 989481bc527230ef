"""The screen measured in a pseudo-terminal: first frame, streaming, a very long conversation.

usage: python -m bench.screen [first|stream|long ...]

Each figure is one line: what, the figure, and the most that it may be. The exit code is 1 when one
is missed.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.contenders import sloyd_program
from bench.screen_child import BEGIN, END

__all__ = ["main"]

_SIZE = (40, 120)
_COMPOSER = "╭".encode()
_PLACEHOLDER = b"sk for something"
"""The cursor stands on its first letter and parts that from the rest."""
_RUNS = 5


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure. ``most`` is the limit, in the same unit."""

    what: str
    value: float
    unit: str
    most: float

    @property
    def holds(self) -> bool:
        return self.value <= self.most

    def __str__(self) -> str:
        verdict = "" if self.holds else "   MISSED"
        shown = f"{self.value:.2f} {self.unit}"
        return f"{self.what:<58} {shown:>12}   at most {self.most:g} {self.unit}{verdict}"


class _Terminal:
    """A program in a pseudo-terminal, whose output is taken away and searched."""

    def __init__(self, arguments: list[str], directory: Path) -> None:
        self.started = time.perf_counter()
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.environ.update(
                TERM="xterm-256color", COLORTERM="truecolor", SLOYD_HOME=str(directory / "home")
            )
            os.chdir(directory)
            os.execv(arguments[0], arguments)
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", *_SIZE, 0, 0))
        self.output = b""

    def wait_for(self, mark: bytes, seconds: float = 120) -> float:
        """Read until the mark was written; the seconds since the start."""
        deadline = time.perf_counter() + seconds
        while mark not in self.output:
            if time.perf_counter() > deadline or not self._read():
                raise RuntimeError(f"{mark!r} never came; the end was {self.output[-500:]!r}")
        return time.perf_counter() - self.started

    def _read(self) -> bool:
        if select.select([self.descriptor], [], [], 1)[0]:
            try:
                self.output += os.read(self.descriptor, 1 << 16)
            except OSError:
                return False
        return True

    def close(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.descriptor)


def _first(directory: Path) -> list[Figure]:
    script = directory / "script.json"
    script.write_text("[]")
    frames, ready = [], []
    for _ in range(_RUNS):
        terminal = _Terminal([sloyd_program(), "--model", f"scripted:{script}"], directory)
        try:
            frames.append(terminal.wait_for(_COMPOSER))
            ready.append(terminal.wait_for(_PLACEHOLDER))
        finally:
            terminal.close()
    return [
        Figure("exec to the first frame", median(frames), "s", 0.3),
        Figure("exec to a composer that answers", median(ready), "s", 1.0),
    ]


def _child(case: str, directory: Path) -> list[Figure]:
    """The figures that the child writes between two marks: name=value pairs."""
    arguments = [sys.executable, "-m", "bench.screen_child", case]
    terminal = _Terminal(["/usr/bin/env", f"PYTHONPATH={os.getcwd()}", *arguments], directory)
    try:
        terminal.wait_for(END)
    finally:
        terminal.close()
    told = terminal.output.split(BEGIN)[1].split(END)[0].decode()
    figures = []
    for line in told.strip().splitlines():
        what, value, unit, most = line.strip().split("|")
        figures.append(Figure(what, float(value), unit, float(most)))
    return figures


_CASES: dict[str, Callable[[Path], list[Figure]]] = {
    "first": _first,
    "stream": lambda directory: _child("stream", directory),
    "long": lambda directory: _child("long", directory),
}


def main() -> int:
    """Measure; returns the exit code."""
    missed = False
    with tempfile.TemporaryDirectory(prefix="sloyd-screen-") as directory:
        for name in sys.argv[1:] or list(_CASES):
            for figure in _CASES[name](Path(directory)):
                print(figure, flush=True)
                missed = missed or not figure.holds
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
