"""The way to the terminal: standard output, where Textual takes standard error.

So ``sloyd 2>log`` keeps its screen, and what other code writes to standard error cannot be taken
for a part of it.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from functools import lru_cache
from typing import Any, TextIO, cast

from textual.driver import Driver

__all__ = ["driver_class"]


class _Hearing:
    """A terminal's stream that may go away: then nothing is written, and nobody waits for it.

    Textual's thread for output would end at the first error, and the app would wait for it at its
    own end: a process that lives on without a terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            return self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return self._stream.isatty()


@lru_cache(1)
def driver_class() -> type[Driver] | None:
    """The driver for this system; None for Textual's own, which is right on Windows."""
    if os.name != "posix":
        return None
    from textual.drivers.linux_driver import LinuxDriver

    class TerminalDriver(LinuxDriver):
        """Writes to standard output."""

        def __init__(
            self,
            app: object,
            *,
            debug: bool = False,
            mouse: bool = True,
            size: tuple[int, int] | None = None,
        ) -> None:
            super().__init__(app, debug=debug, mouse=mouse, size=size)  # type: ignore[arg-type]
            if sys.__stdout__ is not None:
                if isinstance(sys.__stdout__, io.TextIOWrapper):
                    # A locale such as POSIX has no box characters, but terminals have.
                    sys.__stdout__.reconfigure(encoding="utf-8", errors="replace")
                self._file = cast("Any", _Hearing(sys.__stdout__))

        def _sigcont_application(self, *_: object) -> None:
            # The system sends this signal to a process whose terminal goes away, too. Textual
            # would start its screen a second time, and then wait for its first one for ever.
            if self._must_signal_resume:
                super()._sigcont_application()

        def _get_terminal_size(self) -> tuple[int, int]:
            # COLUMNS and LINES, which Textual asks first, do not follow the window when exported.
            try:
                width, height = os.get_terminal_size(sys.__stdout__.fileno())  # type: ignore[union-attr]
            except (AttributeError, OSError, ValueError):
                return super()._get_terminal_size()
            return (width, height) if width and height else super()._get_terminal_size()

    return TerminalDriver
