"""Lines from standard input, read without blocking the event loop or the way out.

A worker thread of anyio would keep the interpreter alive until a line came; a daemon thread does
not.
"""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Self

import anyio
import anyio.from_thread
import anyio.lowlevel

__all__ = ["LineReader"]


class LineReader:
    """Reads one line after the other, each when it is asked for.

    A line that was asked for stays asked for: when the wait is cancelled, the next `read` gets it.
    """

    def __init__(self) -> None:
        self._wanted = threading.Semaphore(0)
        self._pending = False
        self._send, self._receive = anyio.create_memory_object_stream[str | None](8)

    async def __aenter__(self) -> Self:
        self._token = anyio.lowlevel.current_token()
        threading.Thread(target=self._work, name="standard input", daemon=True).start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._send.close()
        self._receive.close()

    async def read(self) -> str | None:
        """The next line without its end, or None at the end of input."""
        if not self._pending:
            self._pending = True
            self._wanted.release()
        line = await self._receive.receive()
        self._pending = False
        return line

    def _work(self) -> None:
        while True:
            self._wanted.acquire()
            raw = sys.stdin.buffer.readline() if sys.stdin is not None else b""
            line = raw.decode("utf-8", "replace").rstrip("\r\n") if raw else None
            try:
                anyio.from_thread.run_sync(self._send.send_nowait, line, token=self._token)
            except (RuntimeError, anyio.ClosedResourceError, anyio.BrokenResourceError):
                # The event loop has ended: nobody waits for lines any more.
                return
            if line is None:
                return
