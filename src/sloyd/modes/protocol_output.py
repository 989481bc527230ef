"""Standard output as a line protocol: whole lines of JSON, in order, and nothing else.

The descriptor is taken away from the rest of the process: what a library, an extension or a child
prints goes to standard error. A reader that is slow makes the writer wait, and so the run that
writes; the event loop stays alive meanwhile, so that signals and tools are served.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Any, Self

import anyio

from sloyd.errors import SloydError
from sloyd.modes.output import OutputFailed, ReaderGone, json_line, standard_stream

__all__ = ["ProtocolOutput"]

_PIECE = 4096
"""Bytes that a pipe which is ready takes without waiting: PIPE_BUF on Linux."""


class ProtocolOutput:
    """Writes one JSON value a line. For one event loop.

    Attributes:
        failure: why nothing can be written any more, once that is so.
        on_failure: called once when that happens.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._lock = anyio.Lock(fast_acquire=True)
        self._deadline = float("inf")
        self._waiting: anyio.CancelScope | None = None
        self._may_wait = descriptor is not None and _may_wait(descriptor)
        self.failure: SloydError | None = None
        self.on_failure: Callable[[], None] | None = None

    @classmethod
    def claim(cls) -> Self:
        """Take standard output for the protocol; from now on ``print`` goes to standard error."""
        stream = standard_stream("stdout")
        if stream is None:
            return cls(None)
        try:
            stream.flush()
            theirs = stream.fileno()
            ours = os.dup(theirs)
        except (OSError, ValueError):
            return cls(None)
        other = _standard_error()
        os.dup2(other, theirs)
        if other != 2:
            os.close(other)
        return cls(ours)

    async def write(self, value: Any) -> None:
        """Write a value; waits while the reader is behind. Says nothing after a failure."""
        line = json_line(value)
        async with self._lock:
            if self._descriptor is None or self.failure is not None:
                return
            try:
                await self._send(self._descriptor, line)
            except BrokenPipeError:
                self._fail(ReaderGone("the reader of our output is gone"))
            except OSError as error:
                self._fail(OutputFailed(f"cannot write to standard output: {error.strerror}"))

    def give_up_soon(self, patience: float = 1.0) -> None:
        """Wait no longer than so many seconds from now for a reader that does not read."""
        self._deadline = anyio.current_time() + patience
        if self._waiting is not None:
            self._waiting.deadline = self._deadline

    def raise_failure(self) -> None:
        """Raise what went wrong, if something did."""
        if self.failure is not None:
            raise self.failure

    def _fail(self, failure: SloydError) -> None:
        self.failure = failure
        if self.on_failure is not None:
            self.on_failure()

    async def _send(self, descriptor: int, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            if self._may_wait and not _is_ready(descriptor):
                with anyio.CancelScope(deadline=self._deadline) as scope:
                    self._waiting = scope
                    await anyio.wait_writable(descriptor)
                self._waiting = None
                if scope.cancelled_caught:
                    self._fail(ReaderGone("the reader of our output does not read"))
                    return
            try:
                written = os.write(descriptor, rest[:_PIECE] if self._may_wait else rest)
            except BlockingIOError:
                # Somebody who shares the pipe has made it non-blocking.
                continue
            rest = rest[written:]


def _may_wait(descriptor: int) -> bool:
    """Whether it is something that a slow reader can fill up, and that can be watched."""
    mode = os.fstat(descriptor).st_mode
    waits = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)
    return os.name == "posix" and waits and not _is_null(descriptor)


def _is_null(descriptor: int) -> bool:
    # Devices such as /dev/null and /dev/full are always ready, and an event loop refuses them.
    return stat.S_ISCHR(os.fstat(descriptor).st_mode) and not os.isatty(descriptor)


def _is_ready(descriptor: int) -> bool:
    import select

    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return bool(poll.poll(0))


def _standard_error() -> int:
    if standard_stream("stderr") is not None:
        return 2
    return os.open(os.devnull, os.O_WRONLY)
