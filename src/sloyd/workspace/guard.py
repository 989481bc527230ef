"""Keeping processes out of each other's way while a file is replaced, and tidying up after kills.

One lock guards the files of one directory against every other process of this user that replaces
files through Sloyd. Locks are files in a private directory of the user (never beside the user's own
files), a fixed number of them, so that they do not pile up. Two directories that share a lock only
wait for each other a little.

A lock file also says, while it is held, what is half done: a temporary file that must go, or a file
that is being written in place. When its holder is killed, the system frees the lock, and the next
one to take it finds the note and clears up. No process id can be mistaken and nothing has to be old
enough: who holds the lock knows that the writer of the note is gone.
"""

from __future__ import annotations

import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from sloyd.workspace.descriptors import PRIVATE
from sloyd.workspace.problems import file_problem

__all__ = [
    "ClearUp",
    "NeedsTime",
    "Note",
    "clear_up_after_kills",
    "guarded",
    "private_directory",
]

_LOCKS = 16
_INNER = "guard"
_END = b"\0"  # no path has one
_LONGEST_NOTE = 16_384  # two paths of the longest kind, and some words
_LONGEST_WAIT = 10.0  # seconds; a holder needs 0.0002 of them for a small file
_FLAGS = os.O_RDWR | os.O_CREAT | PRIVATE

_here = [threading.Lock() for _ in range(_LOCKS)]
_once = threading.Lock()
_places: dict[str, str | None] = {}
_cleared: list[bool] = []


class Note:
    """What is half done under a lock, kept where the next holder finds it after a kill."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def read(self) -> bytes:
        """What a killed holder left, or nothing."""
        if self._descriptor is None:
            return b""
        return os.pread(self._descriptor, _LONGEST_NOTE, 0).partition(_END)[0]

    def write(self, words: bytes, *, needed: bool = False) -> None:
        """Say what is about to be half done; ``words`` hold no NUL.

        A disk that is too full for the note only matters, and raises `OSError`, when it is needed.
        """
        if self._descriptor is None:
            return
        try:
            os.pwrite(self._descriptor, words + _END, 0)
        except OSError:
            if needed:
                raise

    def clear(self) -> None:
        """It is done, or undone."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.pwrite(self._descriptor, _END, 0)  # a quarter of what cutting the file costs


ClearUp = Callable[[bytes], None]


class NeedsTime(Exception):
    """The lock is taken, or something must be cleared up first; only raised without ``wait``."""


@contextmanager
def guarded(directory: str, clear_up: ClearUp, *, wait: bool = True) -> Iterator[Note]:
    """Hold the lock of a directory. ``clear_up`` gets the note of a killed holder, if there is one.

    Waits for other processes for at most ten seconds, then raises `WorkspaceError` (``busy``).
    Without ``wait``, raises `NeedsTime` instead of doing anything that takes time.
    Where no private directory can be made, only the threads of this process are kept apart.
    """
    found = os.stat(directory)
    number = (found.st_dev * 31 + found.st_ino) % _LOCKS
    if not _here[number].acquire(blocking=wait):
        raise NeedsTime
    descriptor = None
    try:
        descriptor = _open_locked(number, directory, wait)
        note = Note(descriptor)
        left = note.read()
        if left:
            if not wait:
                raise NeedsTime
            clear_up(left)
            note.clear()
        yield note
    finally:
        if descriptor is not None:
            os.close(descriptor)
        _here[number].release()


def clear_up_after_kills(clear_up: ClearUp) -> None:
    """Clear up after every killed process, once in the life of this one. Never waits or raises."""
    if _cleared:
        return
    with _once:
        if _cleared:
            return
        _cleared.append(True)
    if not any(os.path.isdir(os.path.join(place, _INNER)) for place in _candidates()):
        return  # nobody has replaced a file yet, so there is no need for a directory
    parent = private_directory()
    if parent is None:
        return
    for number in range(_LOCKS):
        try:
            if os.path.exists(os.path.join(parent, f"lock-{number:02d}")):
                with _here[number]:
                    _clear_one(number, clear_up)
        except OSError:
            continue


def _clear_one(number: int, clear_up: ClearUp) -> None:
    descriptor = _open_lock(number)
    if descriptor is None:
        return
    try:
        if _try_lock(descriptor):
            note = Note(descriptor)
            left = note.read()
            if left:
                clear_up(left)
                note.clear()
    finally:
        os.close(descriptor)


def _open_locked(number: int, directory: str, wait: bool) -> int | None:
    deadline = 0.0
    pause = 0.0002
    while True:
        descriptor = _open_lock(number)
        if descriptor is None:
            return None
        # A lock file that someone has deleted keeps nobody out: take the one that is there now.
        if _try_lock(descriptor) and os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)
        if not wait:
            raise NeedsTime
        now = time.monotonic()
        deadline = deadline or now + _LONGEST_WAIT
        if now > deadline:
            raise file_problem("busy", directory)
        time.sleep(pause)
        pause = min(pause * 1.5, 0.005)


def _open_lock(number: int) -> int | None:
    parent = private_directory()
    if parent is None:
        return None
    try:
        return os.open(os.path.join(parent, f"lock-{number:02d}"), _FLAGS, 0o600)
    except FileNotFoundError:
        _places.clear()  # someone has tidied the private directory away
        parent = private_directory()
    except OSError:
        return None
    if parent is None:
        return None
    try:
        return os.open(os.path.join(parent, f"lock-{number:02d}"), _FLAGS, 0o600)
    except OSError:
        return None


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True  # a file system without locks: better unguarded than unusable
        return True


def private_directory() -> str | None:
    """This user's directory for locks and backups, 0700, or None where there can be none.

    Its place depends on the user only, not on ``HOME`` or ``TMPDIR``, so that processes with
    different environments meet. Someone else's directory of that name is never used.
    """
    try:
        return _places["private"]
    except KeyError:
        place = _places["private"] = _make_private_directory()
        return place


def _make_private_directory() -> str | None:
    for place in _candidates():
        try:
            if _is_private(place):
                inner = os.path.join(place, _INNER)
                os.makedirs(inner, mode=0o700, exist_ok=True)
                return inner
        except OSError:
            continue
    return None


def _candidates() -> tuple[str, str]:
    shared = "/tmp"
    if os.sep != "/" or not os.path.isdir(shared):
        import tempfile  # costs 2 ms

        shared = tempfile.gettempdir()
    name = f"sloyd-{_user()}"
    return os.path.join(shared, name), os.path.join(os.path.expanduser("~"), ".cache", name)


def _user() -> int:
    return os.geteuid() if sys.platform != "win32" else 0


def _is_private(place: str) -> bool:
    os.makedirs(os.path.dirname(place), exist_ok=True)
    try:
        os.mkdir(place, 0o700)
    except FileExistsError:
        found = os.lstat(place)
        if sys.platform != "win32":
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != _user():
                return False
            if found.st_mode & 0o077:
                os.chmod(place, 0o700)
    return True
