"""A provider on loopback: a real HTTP server in a thread that plays replies and logs requests.

    with ProviderServer(chat(text="hi"), chat(calls=[("read", {"path": "a"})])) as server:
        ...  # server.url, server.base_url("openai-chat"), server.requests

Each request gets the next reply; a reply may be a function of the request. When there is none
left, the last one is repeated if the server was made with ``repeat=True``; else the answer is 500.
Connections are kept open, so that a client can be watched reusing them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

from tests.provider_streams import (
    Call,
    anthropic_events,
    chat_events,
    google_events,
    responses_events,
    sse,
)

__all__ = [
    "Call",
    "ProviderServer",
    "Reply",
    "ReplySource",
    "Request",
    "anthropic",
    "chat",
    "error",
    "google",
    "page",
    "raw",
    "responses",
    "stream",
]

Ending: TypeAlias = Literal["close", "reset", "hang"]


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int
    """Number of the TCP connection, from 1."""
    at: float = field(default_factory=time.monotonic)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """What the server answers.

    Attributes:
        chunks: the body, each piece written and flushed on its own.
        delay: seconds before the head; ``pause`` seconds before each chunk.
        ending: after the chunks: ``close`` ends the body well, ``reset`` kills the connection,
            ``hang`` keeps it open without a word.
        before: kill or keep silent before even the head is sent.
    """

    chunks: Sequence[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    pause: float = 0.0
    ending: Ending = "close"
    before: Literal["reset", "hang"] | None = None


ReplySource: TypeAlias = Reply | Callable[[Request], Reply]


class ProviderServer:
    """Serves the replies, one a request, on a free port of 127.0.0.1."""

    def __init__(self, *replies: ReplySource, repeat: bool = False) -> None:
        self.requests: list[Request] = []
        self.port = 0
        self.connections = 0
        self._replies = list(replies)
        self._repeat = repeat
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def base_url(self, api: str) -> str:
        """The base URL as ``--base-url`` takes it for that API or provider."""
        roots = {"anthropic-messages": "", "anthropic": "", "google-generate": "/v1beta"}
        return self.url + {**roots, "google": "/v1beta"}.get(api, "/v1")

    def add(self, *replies: ReplySource) -> None:
        """Replies for the requests to come."""
        self._replies += replies

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the test server did not start")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**26)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        # A connection that was accepted a moment ago becomes known, and can be ended, only now.
        self._loop.run_until_complete(_settled())
        for writer in self._writers:
            writer.transport.abort()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.run_until_complete(_settled())
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        self._writers.add(writer)
        try:
            while request := await _read_request(reader, number):
                self.requests.append(request)
                if not await _answer(writer, self._next(request)):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._writers.discard(writer)
            with contextlib.suppress(ConnectionError):
                writer.close()

    def _next(self, request: Request) -> Reply:
        if not self._replies:
            return error(500, {"error": {"message": "the test server has no reply left"}})
        last = self._repeat and len(self._replies) == 1
        source = self._replies[0] if last else self._replies.pop(0)
        return source if isinstance(source, Reply) else source(request)


async def _settled() -> None:
    """Let the loop do what it has been asked to do: sockets are closed a few steps later."""
    for _ in range(5):
        await asyncio.sleep(0)


async def _read_request(reader: asyncio.StreamReader, connection: int) -> Request | None:
    try:
        first = await reader.readexactly(1)
        if first == b"\x16":
            # A TLS greeting: hang up, as servers of plain HTTP do.
            return None
        head = first + await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    line, *lines = head.decode("latin-1").split("\r\n")
    pairs = (entry.split(":", 1) for entry in lines if ":" in entry)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    method, path, _ = line.split(" ", 2)
    return Request(method, path, headers, body, connection)


async def _answer(writer: asyncio.StreamWriter, reply: Reply) -> bool:
    """Send a reply; whether the connection may be used again."""
    await asyncio.sleep(reply.delay)
    if reply.before == "reset":
        _reset(writer)
        return False
    if reply.before == "hang":
        await asyncio.sleep(3600)
    headers = {"content-type": "text/event-stream", **reply.headers}
    head = f"HTTP/1.1 {reply.status} Status\r\ntransfer-encoding: chunked\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"{head}\r\n".encode("latin-1"))
    for chunk in reply.chunks:
        await asyncio.sleep(reply.pause)
        writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        await writer.drain()
    if reply.ending == "hang":
        await asyncio.sleep(3600)
    if reply.ending == "reset":
        await asyncio.sleep(0.02)
        _reset(writer)
        return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


def _reset(writer: asyncio.StreamWriter) -> None:
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def raw(source: bytes | Path, *, piece: int | None = None) -> Reply:
    """A body as it is, from bytes or a file, whole or in pieces of that many bytes."""
    data = source.read_bytes() if isinstance(source, Path) else source
    if piece is None:
        return Reply([data])
    return Reply([data[start : start + piece] for start in range(0, len(data), piece)])


def error(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Reply:
    """An HTTP error with a JSON body."""
    kind = {"content-type": "application/json", **(headers or {})}
    return Reply([json.dumps(body).encode()], status=status, headers=kind)


def page(title: str = "Sign in", status: int = 200) -> Reply:
    """A web page, as a proxy or a login wall would answer."""
    text = f"<!DOCTYPE html><html><head><title>{title}</title></head><body>...</body></html>"
    return Reply([text.encode()], status=status, headers={"content-type": "text/html"})


def chat(text: str = "", thinking: str = "", calls: Sequence[Call] = ()) -> Reply:
    """One turn as chat completions stream it."""
    return Reply(sse(chat_events(text, thinking, calls)))


def anthropic(text: str = "", thinking: str = "", calls: Sequence[Call] = ()) -> Reply:
    """One turn as Anthropic's messages stream it."""
    return Reply(sse(anthropic_events(text, thinking, calls), named=True))


def responses(text: str = "", thinking: str = "", calls: Sequence[Call] = ()) -> Reply:
    """One turn as OpenAI's responses API streams it."""
    return Reply(sse(responses_events(text, thinking, calls), named=True))


def google(text: str = "", thinking: str = "", calls: Sequence[Call] = ()) -> Reply:
    """One turn as Google's generateContent streams it."""
    return Reply(sse(google_events(text, thinking, calls)))


def stream(api: str, text: str = "", thinking: str = "", calls: Sequence[Call] = ()) -> Reply:
    """One turn in the stream of an API, by the API's name or its provider's."""
    makers = {
        "openai-chat": chat,
        "openai": chat,
        "openai-responses": responses,
        "anthropic-messages": anthropic,
        "anthropic": anthropic,
        "google-generate": google,
        "google": google,
    }
    return makers[api](text, thinking, calls)
