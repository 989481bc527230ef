"""A model on loopback that speaks OpenAI's chat completions and says what a file tells it to.

usage: python -m bench.model_server TURNS.json ARRIVALS.txt

TURNS is a list of ``{"text"?, "read"?}``: words to say, and a path to read with the `read` tool.
Which turn is due is told by the number of answers that a request already holds, so that clients may
come and go. The port is printed; the moment at which each request's head arrived (seconds since the
epoch) is appended to ARRIVALS.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

__all__ = ["ModelServer", "main"]

_MOST_HEADER_BYTES = 1 << 20


class ModelServer:
    """The turns, and where arrivals are written."""

    def __init__(self, turns: list[dict[str, str]], arrivals: TextIO) -> None:
        self._turns = turns
        self._arrivals = arrivals

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until the client closes it."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self._arrivals.write(f"{time.time()}\n")
                self._arrivals.flush()
                body = json.loads(await reader.readexactly(_content_length(head)))
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                    b"Transfer-Encoding: chunked\r\n\r\n"
                )
                for event in self._answer(body):
                    data = f"data: {event}\n\n".encode()
                    writer.write(b"%x\r\n%b\r\n" % (len(data), data))
                writer.write(b"0\r\n\r\n")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return  # the client has gone, as clients do
        finally:
            writer.close()

    def _answer(self, body: dict[str, Any]) -> Iterator[str]:
        number = sum(message["role"] == "assistant" for message in body["messages"])
        turn = self._turns[number] if number < len(self._turns) else {"text": "Done."}
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": word + " "} for word in turn.get("text", "").split()]
        if "read" in turn:
            call = {"name": "read", "arguments": json.dumps({"path": turn["read"]})}
            identity = {"index": 0, "id": f"call_{number}", "type": "function"}
            deltas.append({"tool_calls": [{**identity, "function": call}]})
        for delta in deltas:
            yield _chunk([{"index": 0, "delta": delta, "finish_reason": None}])
        reason = "tool_calls" if "read" in turn else "stop"
        yield _chunk([{"index": 0, "delta": {}, "finish_reason": reason}])
        yield _chunk([], {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110})
        yield "[DONE]"


def _chunk(choices: list[dict[str, Any]], usage: dict[str, int] | None = None) -> str:
    chunk = {"id": "bench", "object": "chat.completion.chunk", "created": 1, "model": "bench"}
    return json.dumps({**chunk, "choices": choices, **({"usage": usage} if usage else {})})


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0


async def _run(server: ModelServer) -> None:
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=_MOST_HEADER_BYTES)
    print(listener.sockets[0].getsockname()[1], flush=True)
    async with listener:
        await listener.serve_forever()


def main() -> None:
    """Serve until the process is ended."""
    turns = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with Path(sys.argv[2]).open("a", encoding="ascii") as arrivals:
        asyncio.run(_run(ModelServer(turns, arrivals)))


if __name__ == "__main__":
    main()
