"""The right to append to one session file, held by one process at a time.

A lease is an advisory lock on ``<file>.lock``. The operating system gives it up when its holder
dies, so there are no stale leases. The lock file holds the holder's process id, for messages only.
pi takes no lease; its writing is noticed by the file's growth (see `sloyd.sessions.store`).
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Held", "Lease", "acquire"]

_BUSY = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}
_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}


@dataclass(frozen=True, slots=True)
class Held:
    """Somebody else holds the lease. ``process_id`` is None when the lock file does not tell."""

    process_id: int | None

    def __str__(self) -> str:
        if self.process_id is None:
            return "another process"
        if self.process_id == os.getpid():
            return "this process"
        return f"process {self.process_id}"


class Lease:
    """A lease that this process holds until `release`. Made by `acquire`."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Give the lease up and remove the lock file. Does nothing the second time."""
        if self._descriptor is None:
            return
        # Removed while it is still locked: who opened it meanwhile sees that it is gone and starts
        # over, so two processes never hold locks on two files of one name.
        with suppress(OSError):
            self._path.unlink()
        os.close(self._descriptor)
        self._descriptor = None


def acquire(session_path: Path) -> Lease | Held:
    """Take the lease of a session file, or say who holds it. Never waits.

    On file systems without locks the lease is given to everybody. Raises OSError when the lock
    file cannot be made.
    """
    path = session_path.with_name(session_path.name + ".lock")
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(descriptor)
        except OSError as error:
            holder = _holder(descriptor)
            os.close(descriptor)
            if error.errno in _BUSY:
                return Held(holder)
            raise
        if _is_current(path, descriptor):
            break
        os.close(descriptor)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    return Lease(path, descriptor)


def _is_current(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


def _holder(descriptor: int) -> int | None:
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        return int(os.read(descriptor, 32))
    except (OSError, ValueError):
        return None


def _lock(descriptor: int) -> None:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
