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
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from sloyd.errors import FileChanged
from sloyd.workspace.base import Absent, FileVersion
from sloyd.workspace.facts import version_of
from sloyd.workspace.guard import Note, private_directory
from sloyd.workspace.problems import explain

__all__ = ["is_note", "put_back", "write_all", "write_in_place"]

_PIECE = 1 << 20
_MARK = b"in-place "


def write_all(descriptor: int, pieces: Sequence[bytes]) -> int:
    """Write every byte of every piece; returns how many there were."""
    total = 0
    for piece in pieces:
        written = os.write(descriptor, piece)
        if written < len(piece):
            rest = memoryview(piece)[written:]
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        total += len(piece)
    return total


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
    descriptor = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | _NO_FOLLOW)
    try:
        old = os.fstat(descriptor)
        if expect is not None and version_of(old) != expect:
            raise FileChanged(f"{explain('changed')}: {path!r}", path=path)
        backup = _backup_name()
        try:
            note.write(_note(path, old, backup, sum(map(len, pieces))))
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


_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)


def _backup_name() -> str:
    parent = private_directory()
    if parent is None:
        raise PermissionError(errno.EACCES, "there is no private directory for a backup")
    return os.path.join(parent, f"backup-{os.urandom(8).hex()}")


def _make_backup(
    path: str, descriptor: int, old_size: int, pieces: Sequence[bytes], backup: str
) -> None:
    """Make a private file that holds the old bytes and behind them the new ones."""
    copy = os.open(backup, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _NO_FOLLOW, 0o600)
    try:
        copied = 0
        while chunk := os.pread(descriptor, _PIECE, copied):
            copied += write_all(copy, (chunk,))
        if copied != old_size:
            raise FileChanged(f"{explain('changed')}: {path!r}", path=path)
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
        _restore(descriptor, backup, old_size)
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


def _restore(descriptor: int, backup: str, old_size: int) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    with Path(backup).open("rb") as kept:
        left = old_size
        while left and (chunk := kept.read(min(_PIECE, left))):
            left -= write_all(descriptor, (chunk,))
    os.ftruncate(descriptor, old_size)


def _note(path: str, old: os.stat_result, backup: str, new_size: int) -> bytes:
    import json  # rare, so nobody else waits for it

    record = {
        "path": path,
        "backup": backup,
        "device": old.st_dev,
        "inode": old.st_ino,
        "old": old.st_size,
        "new": new_size,
    }
    return _MARK + json.dumps(record).encode("ascii")


def is_note(note: bytes) -> bool:
    """Whether a note under a lock speaks of a write in place."""
    return note.startswith(_MARK)


def put_back(note: bytes) -> None:
    """Undo an interrupted write in place that a note speaks of; leave alone what is not torn."""
    import json

    try:
        record = json.loads(note[len(_MARK) :])
    except ValueError:
        return  # killed while it wrote the note, so before the first byte of the file
    backup: str = record["backup"]
    old_size: int = record["old"]
    try:
        descriptor = os.open(record["path"], os.O_RDWR | _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return
    try:
        found = os.fstat(descriptor)
        is_same = (found.st_dev, found.st_ino) == (record["device"], record["inode"])
        if (
            is_same
            and stat.S_ISREG(found.st_mode)
            and _is_torn(descriptor, found.st_size, backup, old_size, record["new"])
        ):
            _restore(descriptor, backup, old_size)
        _remove(backup)
    except FileNotFoundError:
        return  # no backup: the write was over, or had not begun
    finally:
        os.close(descriptor)


def _is_torn(descriptor: int, size: int, backup: str, old_size: int, new_size: int) -> bool:
    """Whether the file holds a beginning of the new bytes and then the old ones.

    A file that has grown by what was reserved for it reads as zeros there.
    """
    if size != new_size and not old_size <= size <= max(old_size, new_size):
        return False
    is_old_already = size == old_size
    matching_new = True
    with Path(backup).open("rb") as old, Path(backup).open("rb") as new:
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
