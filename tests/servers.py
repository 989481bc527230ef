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
    "sse",
    "stream",
]

Call: TypeAlias = tuple[str, dict[str, Any]]
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
        for writer in self._writers:
            writer.transport.abort()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
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
        except (ConnectionError, asyncio.IncompleteReadError):
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


async def _read_request(reader: asyncio.StreamReader, connection: int) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
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


def sse(events: Sequence[Any], *, named: bool = False) -> list[bytes]:
    """Events as chunks of an event stream; ``named`` adds the ``event`` lines."""
    chunks = []
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event)
        name = f"event: {event['type']}\n" if named else ""
        chunks.append(f"{name}data: {data}\n\n".encode())
    return chunks


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


def stream(api: str, text: str = "", thinking: str = "", calls: Sequence[Call] = ()) -> Reply:
    """One turn in the API's own stream."""
    makers = {
        "openai-chat": chat,
        "openai-responses": responses,
        "anthropic-messages": anthropic,
        "google-generate": google,
    }
    return makers[api](text, thinking, calls)


def _pieces(text: str, size: int = 24) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def chat(text: str = "", thinking: str = "", calls: Sequence[Call] = ()) -> Reply:
    """One turn as chat completions stream it."""

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [choice],
        }

    events: list[Any] = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"reasoning_content": piece}) for piece in _pieces(thinking)]
    events += [chunk({"content": piece}) for piece in _pieces(text)]
    for index, (name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": ""}
        call = {"index": index, "id": f"call_{index}", "type": "function", "function": function}
        events.append(chunk({"tool_calls": [call]}))
        for piece in _pieces(json.dumps(arguments)):
            more = {"index": index, "function": {"arguments": piece}}
            events.append(chunk({"tool_calls": [more]}))
    events.append(chunk({}, "tool_calls" if calls else "stop"))
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "total_tokens": 110,
        "prompt_tokens_details": {"cached_tokens": 40},
    }
    events.append({**chunk({}), "choices": [], "usage": usage})
    return Reply(sse([*events, "[DONE]"]))


def anthropic(text: str = "", thinking: str = "", calls: Sequence[Call] = ()) -> Reply:
    """One turn as Anthropic's messages stream it."""
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(thinking)]
        deltas.append({"type": "signature_delta", "signature": "c2lnbmF0dXJl"})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if text:
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(text)]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for number, (name, arguments) in enumerate(calls):
        pieces = _pieces(json.dumps(arguments))
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
        blocks.append((block, deltas))
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 60, "output_tokens": 1, "cache_read_input_tokens": 40},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        ]
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 10}})
    return Reply(sse([*events, {"type": "message_stop"}], named=True))


def responses(text: str = "", thinking: str = "", calls: Sequence[Call] = ()) -> Reply:
    """One turn as OpenAI's responses API streams it."""
    items: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    if thinking:
        item = {"type": "reasoning", "id": "rs_1", "summary": []}
        place = {"item_id": "rs_1", "output_index": 0, "summary_index": 0}
        events.append({"type": "response.output_item.added", "output_index": 0, "item": item})
        events += [
            {"type": "response.reasoning_summary_text.delta", **place, "delta": piece}
            for piece in _pieces(thinking)
        ]
        summary = [{"type": "summary_text", "text": thinking}]
        items.append({**item, "summary": summary, "encrypted_content": "ZW5j"})
        events.append({"type": "response.output_item.done", "output_index": 0, "item": items[-1]})
    if text:
        index = len(items)
        item = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
        added = {**item, "status": "in_progress"}
        events.append({"type": "response.output_item.added", "output_index": index, "item": added})
        place = {"item_id": "msg_1", "output_index": index, "content_index": 0, "logprobs": []}
        events += [
            {"type": "response.output_text.delta", **place, "delta": piece}
            for piece in _pieces(text)
        ]
        part = {"type": "output_text", "text": text, "annotations": []}
        items.append({**item, "status": "completed", "content": [part]})
        events.append(
            {"type": "response.output_item.done", "output_index": index, "item": items[-1]}
        )
    for number, (name, arguments) in enumerate(calls):
        index, item_id = len(items), f"fc_{number}"
        call = {"type": "function_call", "id": item_id, "call_id": f"call_{number}", "name": name}
        added = {**call, "arguments": "", "status": "in_progress"}
        events.append({"type": "response.output_item.added", "output_index": index, "item": added})
        place = {"item_id": item_id, "output_index": index}
        encoded = json.dumps(arguments)
        events += [
            {"type": "response.function_call_arguments.delta", **place, "delta": piece}
            for piece in _pieces(encoded)
        ]
        items.append({**call, "arguments": encoded, "status": "completed"})
        events.append(
            {"type": "response.output_item.done", "output_index": index, "item": items[-1]}
        )
    return Reply(sse(_response_frame(events, items), named=True))


def _response_frame(
    events: list[dict[str, Any]], items: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    response: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "status": "in_progress",
    }
    usage = {
        "input_tokens": 100,
        "output_tokens": 10,
        "total_tokens": 110,
        "input_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    completed = {**response, "status": "completed", "output": items, "usage": usage}
    framed = [
        {"type": "response.created", "response": response},
        *events,
        {"type": "response.completed", "response": completed},
    ]
    return [{**event, "sequence_number": number} for number, event in enumerate(framed)]


def google(text: str = "", thinking: str = "", calls: Sequence[Call] = ()) -> Reply:
    """One turn as Google's generateContent streams it."""
    parts: list[dict[str, Any]] = [{"text": piece, "thought": True} for piece in _pieces(thinking)]
    parts += [{"text": piece} for piece in _pieces(text)]
    for number, (name, arguments) in enumerate(calls):
        part: dict[str, Any] = {"functionCall": {"name": name, "args": arguments}}
        if number == 0:
            part["thoughtSignature"] = "c2lnbmF0dXJl"
        parts.append(part)
    usage = {
        "promptTokenCount": 100,
        "candidatesTokenCount": 10,
        "cachedContentTokenCount": 40,
        "totalTokenCount": 110,
    }
    events: list[dict[str, Any]] = [
        {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}]}
        for part in parts
    ]
    last = {"index": 0, "content": {"role": "model", "parts": []}, "finishReason": "STOP"}
    events.append({"candidates": [last], "usageMetadata": usage, "responseId": "r1"})
    return Reply(sse(events))
