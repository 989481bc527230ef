"""What is told to the terminal around the screen: title, progress, a notification."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

__all__ = ["TerminalSigns"]

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")


class TerminalSigns:
    """Writes sequences that terminals which do not know them ignore.

    ``write`` sends a sequence to the terminal.
    """

    def __init__(
        self, write: Callable[[str], None], variables: Mapping[str, str] | None = None
    ) -> None:
        variables = os.environ if variables is None else variables
        self._write = write
        # Others show OSC 9;4 as a notification with the text "4;3".
        self._has_progress = (
            "WT_SESSION" in variables
            or "ConEmuANSI" in variables
            or variables.get("TERM_PROGRAM") in ("ghostty", "WezTerm", "iTerm.app")
        )

    def title(self, text: str) -> None:
        """The title of the window; the old one is kept by `begin`."""
        self._write(f"\x1b]2;{_CONTROLS.sub(' ', text)}\x1b\\")

    def begin(self) -> None:
        """Keep the title that there is."""
        self._write("\x1b[22;2t")

    def end(self) -> None:
        """Bring the kept title back."""
        self.progress(active=False)
        self._write("\x1b[23;2t")

    def progress(self, *, active: bool) -> None:
        """Show in the task bar that something is going on."""
        if self._has_progress:
            self._write("\x1b]9;4;3\x1b\\" if active else "\x1b]9;4;0\x1b\\")

    def notify(self, text: str) -> None:
        """A bell, and a notification where the terminal has them."""
        plain = _CONTROLS.sub(" ", text).replace(";", ",")
        self._write(f"\x1b]777;notify;Sloyd;{plain}\x1b\\\x07")
