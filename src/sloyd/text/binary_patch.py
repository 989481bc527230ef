"""git's binary patch format: deltas, deflated, in base 85.

Written from the format's description in git's documentation (``gitformat-pack``, "Deltified
representation") and checked against ``git apply``.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterator, Sequence
from typing import Final

from sloyd.text.splice import Replacement, splice

__all__ = ["forth_and_back"]

_MAX_INSERT: Final = 127
_MAX_COPY: Final = 0xFFFF
_LINE: Final = 52


def forth_and_back(
    data: bytes, replacements: Sequence[Replacement], old_name: str, new_name: str
) -> str:
    """The whole patch; the names are quoted already."""
    new = b"".join(splice(data, replacements))
    shift = 0
    reverse: list[Replacement] = []
    for replacement in replacements:
        start = replacement.start + shift
        end = start + len(replacement.new)
        reverse.append(Replacement(start, end, data[replacement.start : replacement.end]))
        shift += len(replacement.new) - (replacement.end - replacement.start)
    old_name, new_name = old_name.rstrip("\t"), new_name.rstrip("\t")
    head = (
        f"diff --git {old_name} {new_name}\n"
        f"index {_blob_id(data)}..{_blob_id(new)} 100644\n"
        "GIT binary patch\n"
    )
    return head + _part(data, replacements, new) + _part(new, reverse, data)


def _blob_id(data: bytes) -> str:
    digest = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


def _part(data: bytes, replacements: Sequence[Replacement], new: bytes) -> str:
    """One direction of the patch. git takes no delta of less than four bytes."""
    delta = _delta(data, replacements, len(new))
    kind, content = ("delta", delta) if len(delta) >= 4 else ("literal", new)
    packed = zlib.compress(content)
    lines = [f"{kind} {len(content)}\n"]
    for start in range(0, len(packed), _LINE):
        piece = packed[start : start + _LINE]
        length = chr(len(piece) + (64 if len(piece) <= 26 else 70))
        lines.append(f"{length}{base64.b85encode(piece, pad=True).decode()}\n")
    return "".join(lines) + "\n"


def _delta(data: bytes, replacements: Sequence[Replacement], new_size: int) -> bytes:
    delta = bytearray(_size(len(data)) + _size(new_size))
    position = 0
    for replacement in replacements:
        delta += b"".join(_copies(position, replacement.start))
        for start in range(0, len(replacement.new), _MAX_INSERT):
            piece = replacement.new[start : start + _MAX_INSERT]
            delta.append(len(piece))
            delta += piece
        position = replacement.end
    delta += b"".join(_copies(position, len(data)))
    return bytes(delta)


def _size(number: int) -> bytes:
    """Seven bits a byte, lowest first, the high bit set on all but the last."""
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _copies(start: int, end: int) -> Iterator[bytes]:
    """Copy instructions for a range of the old content."""
    while start < end:
        length = min(end - start, _MAX_COPY)
        code, operands = 0x80, bytearray()
        for bit, value in enumerate((*start.to_bytes(4, "little"), *length.to_bytes(2, "little"))):
            if value:
                code |= 1 << bit
                operands.append(value)
        yield bytes((code,)) + operands
        start += length
