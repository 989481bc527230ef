"""Writing to file descriptors, and the flags to open them with, on every system."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

__all__ = ["PRIVATE", "write_all"]

PRIVATE: Final = (
    getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)
"""Flags of every file that we open for writing: not for children, not through a link, no text."""


def write_all(descriptor: int, pieces: Sequence[bytes]) -> int:
    """Write every byte of every piece; returns how many there were. Raises `OSError`."""
    total = 0
    for piece in pieces:
        written = os.write(descriptor, piece)
        if written < len(piece):
            rest = memoryview(piece)[written:]
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        total += len(piece)
    return total
