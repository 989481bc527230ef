"""Key sequences that Textual does not know, or knows by another name."""

from __future__ import annotations

from enum import StrEnum
from typing import cast

__all__ = ["teach_keys"]


class _Key(StrEnum):
    """Keys as our table names them."""

    ALT_ENTER = "alt+enter"
    ALT_BACKSPACE = "alt+backspace"
    SHIFT_ENTER = "shift+enter"
    CTRL_ENTER = "ctrl+enter"


_SEQUENCES = {
    "\x1b\r": _Key.ALT_ENTER,
    "\x1b\n": _Key.ALT_ENTER,
    "\x1b\x7f": _Key.ALT_BACKSPACE,
    "\x1b\x08": _Key.ALT_BACKSPACE,
    # xterm's modifyOtherKeys, which tmux passes on.
    "\x1b[27;2;13~": _Key.SHIFT_ENTER,
    "\x1b[27;3;13~": _Key.ALT_ENTER,
    "\x1b[27;5;13~": _Key.CTRL_ENTER,
}


def teach_keys() -> None:
    """Add them to the table that Textual reads keys by."""
    from textual import _ansi_sequences

    table = cast("dict[str, object]", _ansi_sequences.ANSI_SEQUENCES_KEYS)
    table.update({sequence: (key,) for sequence, key in _SEQUENCES.items()})
