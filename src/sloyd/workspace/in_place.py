"""Writing a file in place, where a new file cannot take its place.

That is so for a file with several names (hard links), for one whose owner or access list this user
cannot give to a new file, and for one in a directory where this user may not create files, or that
is a mount point of its own. Those keep their inode, and with it links, owner and mode.

A write in place is not one step. So before it begins the old and the new content are in a private
backup, and a note under the lock says so. An error puts the old content back at once. After a kill
the next process of this user that touches a file through Sloyd (any at its start, or any that takes
the same lock) finds the note and puts the old content back, provided that the file is what the
interrupted write made of it: new bytes, then old ones. Someone who looks without Sloyd in between
may see that state; this is the price of keeping the links.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress

from sloyd.workspace.base import Absent, FileVersion
from sloyd.workspace.descriptors import PRIVATE, write_all
from sloyd.workspace.facts import version_of
from sloyd.workspace.guard import Note, private_directory
from sloyd.workspace.interrupted import Interrupted, note_of, restore
from sloyd.workspace.problems import file_changed

__all__ = ["write_in_place"]

_PIECE = 1 << 20


def write_in_place(
    path: str,
    pieces: Sequence[bytes],
    expect: FileVersion | Absent | None,
    note: Note,
    durable: bool,
) -> FileVersion:
    """Write the file in place under the lock that ``note`` belongs to; returns its new version.

    Raises `OSError` with the old content restored.
    """
    descriptor = os.open(path, os.O_RDWR | PRIVATE)
    try:
        old = os.fstat(descriptor)
        if expect is not None and version_of(old) != expect:
            raise file_changed(path)
        backup = _backup_name()
        size = sum(map(len, pieces))
        try:
            note.write(
                note_of(Interrupted(path, backup, old.st_dev, old.st_ino, old.st_size, size)),
                needed=True,
            )
            _make_backup(path, descriptor, old.st_size, pieces, backup)
            _overwrite(descriptor, old.st_size, pieces, backup)
            if durable:
                os.fsync(descriptor)
        finally:
            _remove(backup)
            note.clear()  # after the backup: a note without one tells of a write that is over
        return version_of(os.fstat(descriptor))
    finally:
        os.close(descriptor)


def _backup_name() -> str:
    parent = private_directory()
    if parent is None:
        raise PermissionError(errno.EACCES, "there is no private directory for a backup")
    return os.path.join(parent, f"backup-{os.urandom(8).hex()}")


def _make_backup(
    path: str, descriptor: int, old_size: int, pieces: Sequence[bytes], backup: str
) -> None:
    """Make a private file that holds the old bytes and behind them the new ones."""
    copy = os.open(backup, os.O_CREAT | os.O_EXCL | os.O_WRONLY | PRIVATE, 0o600)
    try:
        copied = 0
        while chunk := os.pread(descriptor, _PIECE, copied):
            copied += write_all(copy, (chunk,))
        if copied != old_size:
            raise file_changed(path)
        write_all(copy, pieces)
    finally:
        os.close(copy)


def _remove(backup: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(backup)


def _overwrite(descriptor: int, old_size: int, pieces: Sequence[bytes], backup: str) -> None:
    new_size = sum(map(len, pieces))
    try:
        _reserve(descriptor, old_size, new_size)
        os.lseek(descriptor, 0, os.SEEK_SET)
        write_all(descriptor, pieces)
        os.ftruncate(descriptor, new_size)
    except BaseException:
        restore(descriptor, backup, old_size)
        raise


def _reserve(descriptor: int, old_size: int, new_size: int) -> None:
    """Let a full disk or a size limit show before a byte has been overwritten."""
    if new_size <= old_size or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(descriptor, old_size, new_size - old_size)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
