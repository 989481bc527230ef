"""The text that is being written, kept in a file until it is sent: a crash does not take it.

Each working directory has its file in ``drafts`` in Sloyd's home; a second process in the same
directory takes a second one. Who lives holds a lock on his file, so what can be locked and is not
empty was left behind.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from sloyd.sessions.store import make_private_directory

__all__ = ["Draft"]

_MOST_AT_ONCE: Final = 32
_END: Final = b"\0"
"""Ends the text: a process may be killed between writing a shorter one and cutting off the rest."""


class Draft:
    """The draft of one process. Failures of the disk cost the draft and nothing else."""

    def __init__(self, home: Path, cwd: str) -> None:
        name = hashlib.sha256(cwd.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self._paths = [home / "drafts" / f"{name}.{number}" for number in range(_MOST_AT_ONCE)]
        self._path: Path | None = None
        self._descriptor: int | None = None
        self._kept = ""

    def take(self) -> str:
        """Take a file; the text that a process left behind here, or an empty one."""
        free: int | None = None
        for path in self._paths:
            descriptor = _lock(path, create=free is None)
            if descriptor is None:
                continue
            text = _read(descriptor)
            if text:
                if free is not None:
                    self._give_up()
                self._path, self._descriptor, self._kept = path, descriptor, text
                return text
            if free is None:
                self._path, self._descriptor, free = path, descriptor, descriptor
            else:
                os.close(descriptor)
        return ""

    def save(self, text: str) -> None:
        """Keep this text instead of the last one."""
        if self._descriptor is None or text == self._kept:
            return
        data = text.encode("utf-8", "replace").replace(_END, b"")
        with suppress(OSError):
            os.pwrite(self._descriptor, data + _END if data else b"", 0)
            os.ftruncate(self._descriptor, len(data))
            self._kept = text

    def close(self) -> None:
        """Give up the file; it stays when there is a text in it."""
        self._give_up()

    def _give_up(self) -> None:
        if self._descriptor is None:
            return
        with suppress(OSError):
            if os.fstat(self._descriptor).st_size == 0 and self._path is not None:
                self._path.unlink()
        os.close(self._descriptor)
        self._descriptor = None
        self._kept = ""


def _lock(path: Path, *, create: bool) -> int | None:
    """The file, open and locked; None when it is another's, or cannot be had."""
    import fcntl

    try:
        make_private_directory(path.parent)
        descriptor = os.open(path, os.O_RDWR | (os.O_CREAT if create else 0), 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _read(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    data = os.pread(descriptor, size, 0)
    return data.partition(_END)[0].decode("utf-8", "replace")
