"""The full output of a command on disk: private, bounded, and cleaned up by age.

The file lives on the machine that Sloyd runs on, wherever the command ran. It holds the raw bytes:
all of them, or, past a limit, the first three quarters of the limit and the last quarter with a
line in between that says how much is missing.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from typing import Final

from sloyd.workspace.base import OutputFile

__all__ = ["KEPT_DAYS", "OutputLog", "output_directory"]

KEPT_DAYS: Final = 7
"""Days after its last change for which a log is kept."""

_SUFFIX: Final = ".log"
_COPY_SIZE: Final = 1024 * 1024
_LEFT_BEHIND_SHARE: Final = 16
"""A job left behind may always write at least this part of the limit."""

_NOTE_SIZE: Final = 80
"""Bytes kept free for the line between head and tail."""

_cleaned: set[str] = set()
"""The directories whose old logs this process has removed already."""


def output_directory(setting: str | None = None) -> str:
    """The private directory for outputs, made if need be: ``setting``, or our own temporary one.

    Raises `OSError` when it cannot be made. A directory of our name that belongs to somebody else,
    or is a link, is not used; a fresh one is made instead.
    """
    if setting is not None:
        path = os.path.expanduser(setting)
        os.makedirs(path, mode=0o700, exist_ok=True)
        return path
    import tempfile

    owner = os.getuid() if hasattr(os, "getuid") else 0
    path = os.path.join(tempfile.gettempdir(), f"sloyd-{owner}")
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != owner):
        return tempfile.mkdtemp(prefix="sloyd-")
    if os.name == "posix" and found.st_mode & 0o077:
        os.chmod(path, 0o700)
    return path


class OutputLog:
    """One log, open for writing. Created exclusively with mode 0600.

    A failing disk never fails the command: writing stops and ``failure`` says why.
    """

    def __init__(self, directory: str, *, prefix: str, limit: int) -> None:
        """Create the file. Raises `OSError` when that is impossible."""
        _remove_old(directory)
        self.path = os.path.join(directory, f"{prefix}-{os.urandom(8).hex()}{_SUFFIX}")
        self.failure: str | None = None
        self._limit = limit
        self._ring_size = limit // 4
        self._head_size = max(limit - self._ring_size - _NOTE_SIZE, 0)
        self._written = 0
        self._ring = -1
        self._ring_written = 0
        self._descriptor = os.open(self.path, _CREATE | os.O_APPEND, 0o600)

    @property
    def is_open(self) -> bool:
        return self._descriptor >= 0

    @property
    def omitted(self) -> int:
        """Bytes that are in neither the head nor the tail."""
        return max(self._ring_written - self._ring_size, 0)

    def write(self, data: bytes) -> None:
        """Append raw output. Does nothing after a failure."""
        if self.failure is not None or self._descriptor < 0:
            return
        try:
            room = self._head_size - self._written
            if room >= len(data):
                _write_all(self._descriptor, data)
                self._written += len(data)
                return
            view = memoryview(data)
            if room > 0:
                _write_all(self._descriptor, view[:room])
                self._written += room
                view = view[room:]
            self._write_ring(view)
        except OSError as error:
            self.failure = error.strerror or str(error)

    def close(self) -> None:
        """Put the tail behind the head and close the file. May be called again."""
        if self._descriptor < 0:
            return
        try:
            if self._ring_written and self.failure is None:
                self._append_ring()
        except OSError as error:
            self.failure = error.strerror or str(error)
        finally:
            os.close(self._descriptor)
            self._descriptor = -1
            if self._ring >= 0:
                os.close(self._ring)
                self._ring = -1

    def remove(self) -> None:
        """Close and delete the file: nothing in it is needed."""
        self._ring_written = 0
        self.close()
        with suppress(OSError):
            os.unlink(self.path)

    def hand_over(self) -> OutputFile:
        """Close the file and offer it to a process that appends to it."""
        self.close()
        return OutputFile(
            self.path, max(self._limit - self._written, self._limit // _LEFT_BEHIND_SHARE)
        )

    def _write_ring(self, data: memoryview) -> None:
        """Keep the last bytes in a file without a name, overwriting the oldest."""
        if self._ring < 0:
            path = f"{self.path}.tail"
            self._ring = os.open(path, _CREATE, 0o600)
            os.unlink(path)
        self._ring_written += len(data)
        if len(data) > self._ring_size:
            data = data[len(data) - self._ring_size :]
        start = self._ring_written - len(data)
        while data:
            position = start % self._ring_size
            count = os.pwrite(self._ring, data[: self._ring_size - position], position)
            data = data[count:]
            start += count

    def _append_ring(self) -> None:
        kept = min(self._ring_written, self._ring_size)
        if self.omitted:
            note = f"\n[... {self.omitted} bytes omitted: the log is limited ...]\n"
            _write_all(self._descriptor, note.encode())
        position = self._ring_written - kept
        while position < self._ring_written:
            offset = position % self._ring_size
            count = min(self._ring_size - offset, self._ring_written - position, _COPY_SIZE)
            piece = os.pread(self._ring, count, offset)
            _write_all(self._descriptor, piece)
            position += len(piece)
        self._written += kept


_CREATE: Final = (
    os.O_RDWR
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def _write_all(descriptor: int, data: bytes | memoryview) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _remove_old(directory: str) -> None:
    """Delete logs that are too old, once per process and directory."""
    if directory in _cleaned:
        return
    _cleaned.add(directory)
    oldest = time.time() - KEPT_DAYS * 24 * 3600
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if not entry.name.startswith("sloyd-") or not entry.name.endswith(_SUFFIX):
                continue
            with suppress(OSError):
                if entry.stat(follow_symlinks=False).st_mtime < oldest:
                    os.unlink(entry.path)
