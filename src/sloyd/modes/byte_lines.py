"""Standard input as lines of bytes, split at LF and nowhere else, while the event loop goes on.

A daemon thread reads, so that a way out never waits for input. It stops reading while the lines it
has read are not taken: whoever writes to us waits then.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import deque
from collections.abc import Iterator
from itertools import chain
from types import TracebackType
from typing import Self

__all__ = ["LONGEST_LINE", "ByteLines", "LineTooLong"]

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of one line; some images as base64 fit in it."""

_CHUNK = 1 << 16
_ROOM = 16


class LineTooLong:
    """Stands in the place of a line that was longer than `LONGEST_LINE` and is gone."""


class ByteLines:
    """Iterates over the lines of a descriptor, without LF or CRLF. An unfinished last line counts.

    ``longest`` bounds a line; of a longer one nothing is kept, and `LineTooLong` comes instead.
    """

    def __init__(self, descriptor: int | None, longest: int = LONGEST_LINE) -> None:
        self._descriptor = descriptor
        self._longest = longest
        self._room = threading.Semaphore(_ROOM)
        self._waiting: deque[bytes | LineTooLong | None] = deque()
        self._ready = asyncio.Event()
        self._closed = False

    @classmethod
    def claim_standard_input(cls) -> Self:
        """Take standard input; whoever else reads it from now on, a child too, finds it empty."""
        stream = sys.stdin
        if stream is None or stream.closed:
            return cls(None)
        theirs = stream.fileno()
        ours = os.dup(theirs)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, theirs)
        os.close(nothing)
        return cls(ours)

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._work, name="standard input", daemon=True).start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed = True
        self._room.release()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes | LineTooLong:
        # Lines may come faster than they are worked on; signals and tools must be served meanwhile.
        await asyncio.sleep(0)
        while not self._waiting:
            self._ready.clear()
            await self._ready.wait()
        line = self._waiting[0]
        if line is None:
            raise StopAsyncIteration
        self._waiting.popleft()
        self._room.release()
        return line

    def _work(self) -> None:
        for line in chain(self._lines(), [None]):
            self._room.acquire()
            if self._closed:
                return
            try:
                # Not to be waited for: the loop may be about to end.
                self._loop.call_soon_threadsafe(self._take, line)
            except RuntimeError:
                # It has ended, and nobody waits for lines any more.
                return

    def _take(self, line: bytes | LineTooLong | None) -> None:
        self._waiting.append(line)
        self._ready.set()

    def _lines(self) -> Iterator[bytes | LineTooLong]:
        parts: list[bytes] = []
        size = 0
        for chunk in self._chunks():
            start = 0
            while (end := chunk.find(b"\n", start)) >= 0:
                yield self._line(parts, size, chunk[start:end])
                parts.clear()
                size = 0
                start = end + 1
            rest = chunk[start:]
            size += len(rest)
            if size <= self._longest:
                parts.append(rest)
            else:
                parts.clear()
        if size:
            yield self._line(parts, size, b"")

    def _line(self, parts: list[bytes], size: int, last: bytes) -> bytes | LineTooLong:
        if size + len(last) > self._longest:
            return LineTooLong()
        return b"".join([*parts, last]).removesuffix(b"\r")

    def _chunks(self) -> Iterator[bytes]:
        while self._descriptor is not None:
            try:
                chunk = os.read(self._descriptor, _CHUNK)
            except BlockingIOError:
                import select

                select.select([self._descriptor], [], [])
                continue
            except OSError:
                # A directory, or a terminal that has hung up: there are no more lines.
                return
            if not chunk:
                return
            yield chunk
