"""Where the lines of a session are kept: an append-only file, or memory.

Both stores have one interface: lines are read by their place and appended one at a time. For a
file, each append is one ``write`` in append mode, on disk before the call returns; a failed one
leaves no trace. Only the holder of the lease appends. A file that grew or was replaced under its
holder was written by a program that takes no lease, such as pi; that is an error here, and the
session decides whether to go on in a file of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from sloyd.errors import SessionError
from sloyd.sessions.lease import Held, Lease, acquire

__all__ = ["FileStore", "MemoryStore", "Store", "make_private_directory", "read_lines"]

_HEADER_LIMIT = 1 << 20
"""Bytes in which a header must end; keeps a huge file that is no session from being read."""


class Store(Protocol):
    """Lines of a session, by their place in bytes."""

    @property
    def path(self) -> Path | None:
        """The file, or the one that will be made; None in memory."""

    def read(self, offset: int, length: int) -> bytes:
        """The bytes at a place. Raises `SessionError`."""

    def append(self, line: bytes, *, save: bool = True) -> int:
        """Add a line (without line end) and return its place.

        ``save`` false lets a file that does not exist yet wait for an entry that is worth it.
        Raises `SessionError` when it could not be added; nothing is changed then.
        """

    def check(self) -> None:
        """Raise `SessionError` when another program wrote to the session, or took it away."""

    def close(self) -> None:
        """Give up the file and the lease. Nothing can be appended afterwards."""


class MemoryStore:
    """A store without a file."""

    path: Path | None = None

    def __init__(self) -> None:
        self._data = bytearray()

    def read(self, offset: int, length: int) -> bytes:
        return bytes(self._data[offset : offset + length])

    def append(self, line: bytes, *, save: bool = True) -> int:
        offset = len(self._data)
        self._data += line + b"\n"
        return offset

    def check(self) -> None:
        """Does nothing: nobody else writes here."""

    def close(self) -> None:
        """Does nothing: memory needs no closing."""


class FileStore:
    """A store in a file.

    Lines wait in memory while the file does not exist, or has still to be migrated; then the first
    append that is to be saved writes them all. Without ``durable`` it is left to the operating
    system, or to `sync`, when a line reaches the disk.
    """

    def __init__(self, path: Path, *, durable: bool = False) -> None:
        self._path = path
        self.durable = durable
        self._descriptor: int | None = None
        self._lease: Lease | None = None
        self._waiting: bytearray | None = None
        self._replaces = False
        self._end = 0
        self._whole = True
        self._closed = False

    @property
    def path(self) -> Path:
        return self._path

    @property
    def saved(self) -> bool:
        """Whether the file exists and holds every line."""
        return self._waiting is None

    @classmethod
    def new(cls, path: Path, *, durable: bool = False) -> FileStore:
        """A store whose file is made by the first append that is to be saved."""
        store = cls(path, durable=durable)
        store._waiting = bytearray()
        return store

    def take(self) -> Held | None:
        """Take the lease and open the file for appending; says who holds it if somebody does.

        Raises `SessionError` when the file cannot be opened.
        """
        try:
            lease = acquire(self._path)
            if isinstance(lease, Held):
                return lease
            self._lease = lease
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | _BINARY)
        except OSError as error:
            self.close()
            raise _failure("open", self._path, error) from error
        return None

    def look(self) -> None:
        """Open the file for reading only. Raises `SessionError`."""
        try:
            self._descriptor = os.open(self._path, os.O_RDONLY | _BINARY)
        except OSError as error:
            raise _failure("open", self._path, error) from error

    def settle(self, end: int, *, whole: bool) -> None:
        """Say where the file ends, as it was read, and whether its last line has a line end."""
        self._end = end
        self._whole = whole

    def wait_with(self, lines: bytes) -> None:
        """Put ``lines`` in the place of the file's own when something is appended."""
        self._waiting = bytearray(lines)
        self._replaces = True

    def read(self, offset: int, length: int) -> bytes:
        if self._waiting is not None:
            return bytes(self._waiting[offset : offset + length])
        if self._descriptor is None:
            raise SessionError(f"the session {self._path} is closed")
        try:
            data = _read_at(self._descriptor, offset, length)
        except OSError as error:
            raise _failure("read", self._path, error) from error
        if len(data) != length:
            raise SessionError(f"{self._path} was cut short by another program")
        return data

    def append(self, line: bytes, *, save: bool = True) -> int:
        if self._closed:
            raise SessionError(f"the session {self._path} is closed")
        if self._waiting is not None:
            return self._append_waiting(line, save=save)
        self._check_unchanged()
        # A torn last line keeps its place; the new entry starts on a line of its own.
        data = (b"" if self._whole else b"\n") + line + b"\n"
        offset = self._end + (0 if self._whole else 1)
        self._write(data, self._end)
        self._end += len(data)
        self._whole = True
        return offset

    def check(self) -> None:
        """Raise `SessionError` when another program wrote to the file, or took it away."""
        if self._waiting is None:
            self._check_unchanged()

    def sync(self) -> None:
        """Wait until everything that was appended is on disk. Raises `SessionError`."""
        if self._descriptor is None or self._waiting is not None:
            return
        try:
            _sync(self._descriptor)
        except OSError as error:
            raise _failure("write to", self._path, error) from error

    def close(self) -> None:
        self._closed = True
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        if self._lease is not None:
            self._lease.release()
            self._lease = None

    def _append_waiting(self, line: bytes, *, save: bool) -> int:
        waiting = self._waiting
        assert waiting is not None
        offset = len(waiting)
        if not save and not self._replaces:
            waiting += line + b"\n"
            return offset
        data = bytes(waiting) + line + b"\n"
        if self._replaces:
            self._check_unchanged()
            self._replace(data)
        else:
            self._create(data)
        self._waiting = None
        self._replaces = False
        self._end = len(data)
        self._whole = True
        return offset

    def _create(self, data: bytes) -> None:
        try:
            make_private_directory(self._path.parent)
            lease = acquire(self._path)
            if isinstance(lease, Held):
                raise SessionError(f"{self._path} is being written by {lease}")
            self._lease = lease
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | _BINARY
            self._descriptor = os.open(self._path, flags, 0o600)
        except OSError as error:
            self._drop()
            raise _failure("make", self._path, error) from error
        try:
            self._write(data, 0)
        except SessionError:
            self._path.unlink(missing_ok=True)
            self._drop()
            raise
        self._sync_directory()

    def _replace(self, data: bytes) -> None:
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.new")
        previous = self._descriptor
        try:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC | _BINARY
            self._descriptor = os.open(temporary, flags, 0o600)
            self._write(data, 0)
            temporary.replace(self._path)
        except (OSError, SessionError) as error:
            if self._descriptor is not None and self._descriptor != previous:
                os.close(self._descriptor)
            self._descriptor = previous
            temporary.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise _failure("rewrite", self._path, error) from error
            raise
        if previous is not None:
            os.close(previous)
        self._sync_directory()

    def _write(self, data: bytes, end: int) -> None:
        """Write at the end of the file, which is ``end``, or leave the file as it was."""
        if self._descriptor is None or self._lease is None:
            raise SessionError(f"the session {self._path} was opened for reading only")
        try:
            written = os.write(self._descriptor, data)
            while written < len(data):
                # Only a full disk, a signal or more than 2 GiB gets here.
                written += os.write(self._descriptor, data[written:])
            if self.durable:
                _sync(self._descriptor)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._descriptor, end)
            raise _failure("write to", self._path, error) from error

    def _check_unchanged(self) -> None:
        if self._descriptor is None:
            raise SessionError(f"the session {self._path} was opened for reading only")
        try:
            here = self._path.stat()
        except OSError as error:
            raise _failure("write to", self._path, error) from error
        ours = os.fstat(self._descriptor)
        if not os.path.samestat(here, ours):
            raise SessionError(f"{self._path} was replaced by another program")
        if ours.st_size != self._end:
            raise SessionError(f"{self._path} was written by another program meanwhile")

    def _drop(self) -> None:
        self.close()
        self._closed = False

    def _sync_directory(self) -> None:
        if not self.durable:
            return
        with suppress(OSError):
            descriptor = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file with their line ends; split at ``\\n`` only.

    Raises `SessionError` when it cannot be read, and when it has no line end in its first MiB,
    which no session file is without.
    """
    try:
        with path.open("rb", buffering=1 << 18) as file:
            first = file.readline(_HEADER_LIMIT)
            if len(first) == _HEADER_LIMIT and not first.endswith(b"\n"):
                raise SessionError(f"{path} is not a session file: its first line has no end")
            if first:
                yield first
            yield from file
    except OSError as error:
        raise _failure("read", path, error) from error


def make_private_directory(path: Path) -> None:
    """Make a directory and its parents with mode 0700. Those that exist are left as they are."""
    missing = []
    directory = path
    while not directory.is_dir():
        missing.append(directory)
        if directory.parent == directory:
            break
        directory = directory.parent
    for directory in reversed(missing):
        directory.mkdir(mode=0o700, exist_ok=True)


_BINARY: int = getattr(os, "O_BINARY", 0)


def _sync(descriptor: int) -> None:
    # fdatasync does not exist everywhere; it also writes the size, which is all that we need.
    getattr(os, "fdatasync", os.fsync)(descriptor)


def _read_at(descriptor: int, offset: int, length: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(descriptor, length, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, length)


def _failure(action: str, path: Path, error: OSError) -> SessionError:
    return SessionError(f"cannot {action} the session {path}: {error.strerror or error}")
