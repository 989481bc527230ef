"""Named spans of a text replaced, everything else byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Replacement", "splice"]


@dataclass(frozen=True, slots=True)
class Replacement:
    """The bytes from ``start`` to ``end`` become ``new``."""

    start: int
    end: int
    new: bytes


def splice(data: bytes, replacements: Sequence[Replacement]) -> list[bytes]:
    """The new content in pieces, as `sloyd.workspace.base.Workspace.replace` takes them.

    ``replacements`` are in order and do not overlap; anything else is a fault of the caller and
    raises `ValueError`. The pieces between them are slices of ``data``.
    """
    pieces: list[bytes] = []
    position = 0
    for replacement in replacements:
        if not position <= replacement.start <= replacement.end <= len(data):
            raise ValueError("replacements must be in order, apart and inside the text")
        pieces.append(data[position : replacement.start])
        pieces.append(replacement.new)
        position = replacement.end
    pieces.append(data[position:])
    return [piece for piece in pieces if piece]
