"""The way to the terminal: standard output, where Textual takes standard error.

So ``sloyd 2>log`` keeps its screen, and what other code writes to standard error cannot be taken
for a part of it.
"""

from __future__ import annotations

import io
import os
import sys
from functools import lru_cache

from textual.driver import Driver

__all__ = ["driver_class"]


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
                self._file = sys.__stdout__

        def _get_terminal_size(self) -> tuple[int, int]:
            # COLUMNS and LINES, which Textual asks first, do not follow the window when exported.
            try:
                width, height = os.get_terminal_size(sys.__stdout__.fileno())  # type: ignore[union-attr]
            except (AttributeError, OSError, ValueError):
                return super()._get_terminal_size()
            return (width, height) if width and height else super()._get_terminal_size()

    return TerminalDriver
