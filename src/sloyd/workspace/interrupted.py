"""Writes in place that a kill interrupted: the note about one, and how it is put back.

A backup holds the old bytes and behind them the new ones. What an interrupted write leaves is a
beginning of the new bytes and then the old ones; only a file that looks so is touched. A file that
is whole, or that someone else has written since, stays as it is.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from sloyd.workspace.descriptors import PRIVATE, write_all

__all__ = ["Interrupted", "is_note", "note_of", "put_back", "restore"]

_PIECE = 1 << 20
_MARK = b"in-place "


@dataclass(frozen=True, slots=True)
class Interrupted:
    """What must be known to put a file back. Sizes are in bytes."""

    path: str
    backup: str
    device: int
    inode: int
    old_size: int
    new_size: int


def note_of(write: Interrupted) -> bytes:
    """The note to leave while a write in place is under way."""
    import json  # rare, so nobody else waits for it

    return _MARK + json.dumps(asdict(write)).encode("ascii")


def is_note(note: bytes) -> bool:
    """Whether a note under a lock speaks of a write in place."""
    return note.startswith(_MARK)


def put_back(note: bytes) -> None:
    """Put back what an interrupted write in place has torn, and remove its backup."""
    import json

    try:
        write = Interrupted(**json.loads(note[len(_MARK) :]))
    except (ValueError, TypeError):
        return  # killed while it wrote the note, so before the first byte of the file
    try:
        descriptor = os.open(write.path, os.O_RDWR | PRIVATE | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return
    try:
        if _is_torn(descriptor, write):
            restore(descriptor, write.backup, write.old_size)
    except FileNotFoundError:
        return  # no backup: the write was over, or had not begun
    finally:
        os.close(descriptor)
    with suppress(FileNotFoundError):
        os.unlink(write.backup)


def restore(descriptor: int, backup: str, old_size: int) -> None:
    """Write the first ``old_size`` bytes of the backup over the file, and end it there."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    with Path(backup).open("rb") as kept:
        left = old_size
        while left and (chunk := kept.read(min(_PIECE, left))):
            left -= write_all(descriptor, (chunk,))
    os.ftruncate(descriptor, old_size)


def _is_torn(descriptor: int, write: Interrupted) -> bool:
    """Whether the file holds a beginning of the new bytes and then the old ones.

    A file that has grown by what was reserved for it reads as zeros there.
    """
    found = os.fstat(descriptor)
    size, old_size, new_size = found.st_size, write.old_size, write.new_size
    is_same = (found.st_dev, found.st_ino) == (write.device, write.inode)
    if not is_same or not stat.S_ISREG(found.st_mode):
        return False
    if size != new_size and not old_size <= size <= max(old_size, new_size):
        return False
    is_old_already = size == old_size
    matching_new = True
    with Path(write.backup).open("rb") as old, Path(write.backup).open("rb") as new:
        new.seek(old_size)
        for offset, chunk in _chunks(descriptor):
            old_chunk = old.read(max(0, min(len(chunk), old_size - offset))).ljust(
                len(chunk), b"\0"
            )
            new_chunk = new.read(len(chunk))
            if matching_new and chunk == new_chunk:
                is_old_already = is_old_already and chunk == old_chunk
                continue
            same = _common(chunk, new_chunk) if matching_new else 0
            matching_new = False
            is_old_already = is_old_already and chunk == old_chunk
            if chunk[same:] != old_chunk[same:]:
                return False
    is_new_already = matching_new and size == new_size
    return not is_new_already and not is_old_already


def _chunks(descriptor: int) -> Iterator[tuple[int, bytes]]:
    offset = 0
    while chunk := os.pread(descriptor, _PIECE, offset):
        yield offset, chunk
        offset += len(chunk)


def _common(left: bytes, right: bytes) -> int:
    """How many bytes the two have in common at their beginning."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
