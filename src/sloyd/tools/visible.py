"""What cannot be seen in a text, made visible for a model."""

from __future__ import annotations

import re
from typing import Final

from sloyd.text.encoding import show_undecodable

__all__ = ["show_controls"]

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def show_controls(text: str) -> str:
    """Text with control characters and undecodable bytes as visible markers.

    ESC becomes ``⟨1B⟩``, and a byte that is no character ``⟨E9⟩``. TAB, LF and CR stay.
    """
    if _CONTROL.search(text) is not None:
        text = _CONTROL.sub(lambda found: f"⟨{ord(found[0]):02X}⟩", text)
    return show_undecodable(text)
