"""Key sequences that Textual does not know, or knows by another name."""

from __future__ import annotations

from enum import Enum
from typing import Final, cast

from sloyd.modes.tui.keys import key_name

__all__ = ["teach_keys"]

_SEQUENCES: Final = {
    "\x1b\r": "alt+enter",
    "\x1b\n": "alt+enter",
    "\x1b\x7f": "alt+backspace",
    "\x1b\x08": "alt+backspace",
    "\x1b\x1d": "ctrl+alt+]",
}
# Escape and a letter is known; of other characters those that begin no longer sequence.
_WITH_ALT: Final = "/-.,=;'\\#$%&*+:<>?@`~!\"|"


def teach_keys() -> None:
    """Add them to the table that Textual reads keys by."""
    from textual import _ansi_sequences

    known = _SEQUENCES | {f"\x1b{symbol}": f"alt+{symbol}" for symbol in _WITH_ALT}
    # The table holds members of an enumeration and takes the values of those.
    keys = Enum("keys", {sequence: key_name(key) for sequence, key in known.items()})  # type: ignore[misc]
    table = cast("dict[str, object]", _ansi_sequences.ANSI_SEQUENCES_KEYS)
    table.update({sequence: (keys[sequence],) for sequence in known})
