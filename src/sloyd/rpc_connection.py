"""A Sloyd process that is driven over its RPC protocol: commands in, responses and events out.

`sloyd.rpc_client.RpcClient` puts a method for every command on top of this.
"""

from __future__ import annotations

import asyncio
import itertools
import weakref
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

import msgspec

from sloyd.errors import RpcError
from sloyd.harness.events import HarnessEvent
from sloyd.modes.rpc_commands import Command
from sloyd.modes.rpc_protocol import BashExecutionUpdate, UiRequest, UiResponse

__all__ = ["Answer", "EventStream", "RpcConnection", "RpcEvent", "UnknownEvent"]

_CHUNK = 1 << 16
_STDERR_KEPT = 16 * 1024
_ROOM = 1000
"""Events that may wait for one who iterates over them before reading stops."""

_LOOK_AGAIN = 1.0
"""Seconds after which streams that nobody holds any more are noticed."""

_QUESTIONS = ("select", "confirm", "input")


class UnknownEvent(msgspec.Struct, frozen=True):
    """An event of a newer Sloyd: its type and all of it."""

    type: str
    data: dict[str, Any]


RpcEvent: TypeAlias = HarnessEvent | BashExecutionUpdate | UiRequest | UnknownEvent
Answer: TypeAlias = Callable[[UiRequest], Awaitable[UiResponse | None]]
"""Answers a question that a command or an extension asks; None dismisses it."""


class _Record(msgspec.Struct):
    """What tells the records apart, and the fields of a response."""

    type: str
    id: int | str | None = None
    success: bool = False
    command: str = ""
    data: msgspec.Raw = msgspec.Raw(b"null")
    error: str | None = None


_record_decoder = msgspec.json.Decoder(_Record)
_event_decoder: msgspec.json.Decoder[RpcEvent] = msgspec.json.Decoder(
    HarnessEvent | BashExecutionUpdate | UiRequest
)


class EventStream:
    """The events from the moment on at which it was made; iterate over it, and close it."""

    def __init__(self, connection: RpcConnection) -> None:
        self._connection = connection
        self._events: deque[RpcEvent] = deque()
        self._ready = asyncio.Event()
        self._closed = False

    @property
    def is_full(self) -> bool:
        """Whether whoever iterates is far behind."""
        return len(self._events) >= _ROOM

    def put(self, event: RpcEvent) -> None:
        """Add an event."""
        if not self._closed:
            self._events.append(event)
            self._ready.set()

    def close(self) -> None:
        """Take no more events; the iteration ends after those that are there."""
        self._closed = True
        self._ready.set()
        self._connection.forget(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> RpcEvent:
        while not self._events:
            if self._closed:
                raise StopAsyncIteration
            self._ready.clear()
            await self._ready.wait()
        event = self._events.popleft()
        self._connection.make_room()
        return event


class RpcConnection:
    """A started process and what it says. Use it with ``async with``.

    Args:
        words: the program and its arguments.
        answer: answers questions; without it they are dismissed.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        cwd: str | Path | None = None,
        environment: Mapping[str, str] | None = None,
        answer: Answer | None = None,
    ) -> None:
        self._words = words
        self._cwd = cwd
        self._environment = environment
        self._answer = answer
        self._numbers = itertools.count(1)
        self._waiting: dict[int | str, asyncio.Future[_Record]] = {}
        self._streams: weakref.WeakSet[EventStream] = weakref.WeakSet()
        self._room = asyncio.Event()
        self._errors = bytearray()
        self._tasks: set[asyncio.Task[None]] = set()
        self._process: asyncio.subprocess.Process | None = None
        self._ended = False

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._words,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                cwd=self._cwd,
                env=self._environment,
            )
        except OSError as error:
            raise RpcError(f"cannot start {self._words[0]}: {error.strerror}") from error
        self._reading = self._spawn(self._read(self._process))
        self._spawn(self._keep_errors(self._process))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process, once it has ended."""
        return None if self._process is None else self._process.returncode

    def events(self) -> EventStream:
        """The events from now on."""
        stream = EventStream(self)
        if self._ended:
            stream.close()
        else:
            self._streams.add(stream)
        return stream

    async def ask(self, command: Command) -> Any:
        """Send a command and wait for its ``data``, in the type that the command names.

        Raises `RpcError` when it is refused, or the process ends before it has answered.
        """
        number = next(self._numbers)
        name = str(type(command).__struct_config__.tag)
        future: asyncio.Future[_Record] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        self.make_room()
        try:
            await self._send(msgspec.structs.replace(command, id=number), name)
            response = await future
        finally:
            self._waiting.pop(number, None)
        if not response.success:
            raise RpcError(response.error or "refused without a reason", command=name)
        if command.result is None:
            return None
        return msgspec.json.decode(response.data, type=command.result)

    async def close(self, patience: float = 10.0) -> None:
        """Ask the process to end, and wait for it; stop it when it takes longer than that."""
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        # What it still says must be taken, or it could not end.
        self._streams.clear()
        self.make_room()
        for stop in (process.terminate, process.kill):
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._reading), patience)
                await asyncio.wait_for(process.wait(), patience)
                break
            with suppress(ProcessLookupError):
                stop()
        await process.wait()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def forget(self, stream: EventStream) -> None:
        """Give a stream no more events."""
        self._streams.discard(stream)
        self.make_room()

    def make_room(self) -> None:
        """Look again whether there is room for events."""
        self._room.set()

    def _spawn(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _send(self, record: Command | UiResponse, name: str) -> None:
        stdin = None if self._process is None else self._process.stdin
        if stdin is None or self._ended:
            raise self._gone(name)
        try:
            stdin.write(msgspec.json.encode(record) + b"\n")
            await stdin.drain()
        except (ConnectionError, RuntimeError) as error:
            raise self._gone(name) from error

    def _gone(self, name: str) -> RpcError:
        said = self._errors.decode("utf-8", "replace").strip()
        code = "" if self.exit_code is None else f" with code {self.exit_code}"
        return RpcError(
            f"the process has ended{code}" + (f": {said}" if said else ""), command=name
        )

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        parts: list[bytes] = []
        try:
            while chunk := await process.stdout.read(_CHUNK):
                *lines, rest = chunk.split(b"\n")
                for line in lines:
                    self._take(b"".join([*parts, line]))
                    parts.clear()
                parts.append(rest)
                # Responses stand behind events: while one is waited for, nothing is held up.
                while not self._waiting and any(stream.is_full for stream in self._streams):
                    self._room.clear()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._room.wait(), _LOOK_AGAIN)
            await process.wait()
            await asyncio.sleep(0)
        finally:
            self._end()

    def _end(self) -> None:
        self._ended = True
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(self._gone(""))
        for stream in list(self._streams):
            stream.close()

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        record = _record_decoder.decode(line)
        if record.type == "response":
            future = self._waiting.get(record.id) if record.id is not None else None
            if future is not None and not future.done():
                future.set_result(record)
            return
        event = _event(line, record.type)
        if isinstance(event, UiRequest) and event.method in _QUESTIONS:
            self._spawn(self._answered(event))
            return
        for stream in list(self._streams):
            stream.put(event)

    async def _answered(self, question: UiRequest) -> None:
        response = None if self._answer is None else await self._answer(question)
        if response is None:
            response = UiResponse(id=question.id, cancelled=True)
        with suppress(RpcError):
            await self._send(msgspec.structs.replace(response, id=question.id), "answer")

    async def _keep_errors(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while chunk := await process.stderr.read(_CHUNK):
            self._errors += chunk
            del self._errors[:-_STDERR_KEPT]


def _event(line: bytes, kind: str) -> RpcEvent:
    try:
        return _event_decoder.decode(line)
    except msgspec.ValidationError:
        return UnknownEvent(kind, msgspec.json.decode(line))
