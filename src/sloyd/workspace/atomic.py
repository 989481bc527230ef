"""Replacing a file in one step: whoever looks, or kills, sees the old or the new content.

The new content is written to a temporary file in the same directory (``.sloyd-PID-RANDOM.tmp``,
0600 until it has the old file's attributes) and renamed over the old one. Symlinks are followed and
stay. Owner, group, mode, access list and extended attributes are kept. Everything happens under the
lock of `sloyd.workspace.guard`, which also removes what killed processes leave behind. A file that
this user may not write is refused, although a rename would get around its mode.

Where a new file cannot take the old one's place (hard links, a foreign owner, a directory closed to
us, a mount point), `sloyd.workspace.in_place` writes into the old one.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

from sloyd.errors import FileProblem
from sloyd.workspace.attributes import keep_attributes
from sloyd.workspace.base import ABSENT, Absent, FileVersion, ReplaceResult
from sloyd.workspace.descriptors import PRIVATE, write_all
from sloyd.workspace.facts import may_write, version_of
from sloyd.workspace.guard import (
    NeedsTime,
    Note,
    clear_up_after_kills,
    guarded,
)
from sloyd.workspace.in_place import write_in_place
from sloyd.workspace.interrupted import is_note, put_back
from sloyd.workspace.problems import file_changed, file_problem, reported

__all__ = ["SMALL_FILE", "finish_interrupted", "remove_file", "replace_file", "replace_promptly"]

SMALL_FILE = 64 * 1024
"""Bytes of a file that are read or written in less time than it takes to wake a thread."""

_TEMPORARY = re.compile(r"\.sloyd-\d+-[0-9a-f]{8}\.tmp")
_NEW = os.O_CREAT | os.O_EXCL | os.O_WRONLY | PRIVATE
_NO_NEW_FILE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG}
_NO_RENAME = {errno.EACCES, errno.EPERM, errno.EBUSY, errno.EXDEV}
_NO_LINK = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV, errno.EACCES}


class _CannotSwap(Exception):
    """A new file cannot take the old one's place; write into the old one."""


class _Again(Exception):
    """The file came or went meanwhile, and the caller does not mind: look again."""


def replace_file(
    path: str, pieces: Sequence[bytes], expect: FileVersion | Absent | None, durable: bool
) -> ReplaceResult:
    """What `Workspace.replace` promises, for this machine; blocks.

    ``durable`` waits until the content and the name have reached the disk.
    """
    finish_interrupted()
    return _replace_guarded(path, pieces, expect, durable, wait=True)


def replace_promptly(
    path: str, pieces: Sequence[bytes], expect: FileVersion | Absent
) -> ReplaceResult | None:
    """`replace_file` where that takes no longer than a hop to a thread would; else None.

    That is so for small files while nobody else holds the lock. Nothing was done when it is None.
    """
    size = max(sum(map(len, pieces)), expect.size if isinstance(expect, FileVersion) else 0)
    if size > SMALL_FILE:
        return None
    finish_interrupted()
    try:
        return _replace_guarded(path, pieces, expect, durable=False, wait=False)
    except NeedsTime:
        return None


def _replace_guarded(
    path: str,
    pieces: Sequence[bytes],
    expect: FileVersion | Absent | None,
    durable: bool,
    *,
    wait: bool,
) -> ReplaceResult:
    with reported(path):
        real = _target(path)
        with guarded(os.path.dirname(real), _clear_up, wait=wait) as note:
            while True:
                with suppress(_Again):
                    return _replace(path, real, pieces, expect, note, durable)


def remove_file(path: str, expect: FileVersion | None) -> None:
    """What `Workspace.remove` promises, for this machine; blocks."""
    with reported(path), guarded(os.path.dirname(path.rstrip(os.sep)), _clear_up):
        found = os.lstat(path)
        if stat.S_ISDIR(found.st_mode):
            raise file_problem("is-directory", path)
        _compare(path, found, expect)
        os.unlink(path)


def finish_interrupted() -> None:
    """Clear up after processes that were killed while they replaced files; works once a process."""
    clear_up_after_kills(_clear_up)


def _target(path: str) -> str:
    """The path with the links at its end followed; a dangling link leads to what it names."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        if path.endswith(os.sep):
            raise file_problem("is-directory", path) from None
        return path
    if not stat.S_ISLNK(found.st_mode):
        return path
    real = os.path.realpath(path)
    if os.path.islink(real):
        os.stat(real)  # only a cycle leaves a link at the end: let the system say so
    return real


def _replace(
    path: str,
    real: str,
    pieces: Sequence[bytes],
    expect: FileVersion | Absent | None,
    note: Note,
    durable: bool,
) -> ReplaceResult:
    try:
        old = os.lstat(real)
    except FileNotFoundError:
        _compare(path, None, expect)
        return ReplaceResult(_create(path, real, pieces, expect, note, durable), created=True)
    if not stat.S_ISREG(old.st_mode):
        is_directory = stat.S_ISDIR(old.st_mode)
        raise file_problem("is-directory" if is_directory else "not-regular", path)
    _compare(path, old, expect)
    if not may_write(real):
        raise file_problem(_why_not(real, old), path)
    if old.st_nlink == 1:
        with suppress(_CannotSwap):
            version = _swap(path, real, old, pieces, expect, note, durable)
            return ReplaceResult(version, created=False)
    return ReplaceResult(write_in_place(real, pieces, expect, note, durable), created=False)


def _create(
    path: str,
    real: str,
    pieces: Sequence[bytes],
    expect: FileVersion | Absent | None,
    note: Note,
    durable: bool,
) -> FileVersion:
    """Make a new file. Its mode comes from the umask and the directory's default access list."""
    temporary = _temporary_name(real)
    descriptor = _open_new(temporary, 0o666, note)
    try:
        write_all(descriptor, pieces)
        if durable:
            os.fsync(descriptor)
        try:
            os.link(temporary, real)  # unlike a rename, it never takes the place of another file
        except FileExistsError:
            if expect is None:
                raise _Again from None
            raise file_changed(path) from None
        except OSError as error:
            if error.errno not in _NO_LINK:
                raise
            os.replace(temporary, real)
        _remove_temporary(temporary, note)
        if durable:
            _sync_directory(real)
        return version_of(os.fstat(descriptor))
    except BaseException:
        _remove_temporary(temporary, note)
        raise
    finally:
        os.close(descriptor)


def _swap(
    path: str,
    real: str,
    old: os.stat_result,
    pieces: Sequence[bytes],
    expect: FileVersion | Absent | None,
    note: Note,
    durable: bool,
) -> FileVersion:
    """Put a new file in the place of the old one."""
    temporary = _temporary_name(real)
    try:
        descriptor = _open_new(temporary, 0o600, note)
    except OSError as error:
        if error.errno in _NO_NEW_FILE:
            raise _CannotSwap from error
        raise
    try:
        write_all(descriptor, pieces)
        if not keep_attributes(descriptor, real, old):
            raise _CannotSwap
        _stamp(descriptor)
        if durable:
            os.fsync(descriptor)
        if expect is not None:
            # Others, who know nothing of our lock, may have written while we did.
            _compare(path, _look(real), expect)
        try:
            os.replace(temporary, real)
        except OSError as error:
            if error.errno in _NO_RENAME:
                raise _CannotSwap from error
            raise
        note.clear()
        if durable:
            _sync_directory(real)
        return version_of(os.fstat(descriptor))
    except BaseException:
        _remove_temporary(temporary, note)
        raise
    finally:
        os.close(descriptor)


def _open_new(temporary: str, mode: int, note: Note) -> int:
    note.write(os.fsencode(temporary))
    try:
        return os.open(temporary, _NEW, mode)
    except OSError:
        note.clear()
        raise


def _temporary_name(real: str) -> str:
    name = f".sloyd-{os.getpid()}-{os.urandom(4).hex()}.tmp"
    return os.path.join(os.path.dirname(real), name)


def _remove_temporary(temporary: str, note: Note) -> None:
    with suppress(FileNotFoundError):
        os.unlink(temporary)
    note.clear()


def _clear_up(note: bytes) -> None:
    """Clear up what a killed process's note tells of: a write in place, or a temporary file."""
    if is_note(note):
        put_back(note)
        return
    temporary = os.fsdecode(note)
    if _TEMPORARY.fullmatch(os.path.basename(temporary)):
        with suppress(OSError):
            os.unlink(temporary)


def _stamp(descriptor: int) -> None:
    """Give the file a time of its own.

    Older kernels take times from a clock that ticks every few milliseconds, and inode numbers are
    used again at once, so two versions of the same length could look alike.
    """
    if sys.platform != "win32":
        now = time.time_ns()
        os.utime(descriptor, ns=(now, now))


def _look(real: str) -> os.stat_result | None:
    try:
        return os.lstat(real)
    except FileNotFoundError:
        return None


def _compare(path: str, found: os.stat_result | None, expect: FileVersion | Absent | None) -> None:
    if expect is not None and (ABSENT if found is None else version_of(found)) != expect:
        raise file_changed(path)


def _why_not(real: str, old: os.stat_result) -> FileProblem:
    """Why this user may not write the file: because nobody may, or because others may."""
    if sys.platform == "win32":
        return "read-only"
    if os.statvfs(real).f_flag & os.ST_RDONLY:
        return "read-only"
    is_own = old.st_uid == os.geteuid() and not old.st_mode & stat.S_IWUSR
    return "read-only" if is_own else "permission"


def _sync_directory(real: str) -> None:
    if sys.platform != "win32":
        descriptor = os.open(os.path.dirname(real), os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
