"""Reading a pipe on the event loop, as fast as its reader keeps up and no faster.

One read a turn of the loop: other work goes on in between, and a writer that is faster than the
reader waits in the pipe. Nothing is queued here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Final

__all__ = ["PipePump"]

_SMALL_READ: Final = 64 * 1024
"""A pipe's usual capacity; also the first reads' size, so that short outputs cost no megabyte."""

_LARGE_READ: Final = 1024 * 1024
"""The largest capacity that Linux gives a pipe without privilege."""


class PipePump:
    """Gives each chunk of a pipe to ``deliver`` until the last writer has gone.

    ``deliver`` runs on the event loop. An exception from it ends the reading and is kept in
    ``failure``. ``on_end`` is called once, at the end of the pipe or at such a failure.
    """

    def __init__(
        self, descriptor: int, deliver: Callable[[bytes], None], on_end: Callable[[], None]
    ) -> None:
        self.descriptor = descriptor
        self.ended = False
        self.chunks = 0
        self.failure: Exception | None = None
        self._deliver = deliver
        self._on_end = on_end
        self._size = _SMALL_READ
        self._loop = asyncio.get_running_loop()
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self.read_once)

    def read_once(self) -> int:
        """Deliver what one read gives; returns its size in bytes, 0 when there is nothing now."""
        if self.ended:
            return 0
        try:
            data = os.read(self.descriptor, self._size)
        except BlockingIOError:
            return 0
        if not data:
            self._end()
            return 0
        if len(data) == self._size == _SMALL_READ:
            self._enlarge()
        self.chunks += 1
        try:
            self._deliver(data)
        except Exception as error:  # noqa: BLE001  # kept, and raised by whoever runs the process
            self.failure = error
            self._end()
            return 0
        return len(data)

    def detach(self) -> None:
        """Stop reading, but leave the descriptor open for another reader."""
        self._loop.remove_reader(self.descriptor)

    def close(self) -> None:
        """Stop reading and close the descriptor. Writers that are left get SIGPIPE."""
        if self.descriptor >= 0:
            self.detach()
            os.close(self.descriptor)
            self.descriptor = -1

    def _end(self) -> None:
        self.ended = True
        self.detach()
        self._on_end()

    def _enlarge(self) -> None:
        """There is a lot to read: fewer, larger portions cost the writer and us fewer switches."""
        self._size = _LARGE_READ
        with suppress(ImportError, AttributeError, OSError):
            import fcntl

            fcntl.fcntl(self.descriptor, fcntl.F_SETPIPE_SZ, _LARGE_READ)
