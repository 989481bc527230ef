"""Addresses, certificates, kept connections, and what servers say when they refuse."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Self

import pytest

from sloyd.llm.http_model import HttpModel
from sloyd.llm.models import ModelInfo, StreamOptions
from sloyd.llm.sending import endpoint
from tests.llm.support import HELLO, ONCE, QUICK, Outcome, ask, info_at
from tests.servers import ProviderServer, Reply, chat, error

_CHAT = "/chat/completions"


@pytest.mark.parametrize(
    ("base", "path", "whole"),
    [
        ("http://h/v1", _CHAT, "http://h/v1/chat/completions"),
        (" http://h/v1// ", _CHAT, "http://h/v1/chat/completions"),
        ("http://h/v1/chat/completions", _CHAT, "http://h/v1/chat/completions"),
        ("http://h/v1/chat/completions/", _CHAT, "http://h/v1/chat/completions"),
        ("http://h/d?api-version=1", _CHAT, "http://h/d/chat/completions?api-version=1"),
        ("http://h/v1beta", "/models/m:s?alt=sse", "http://h/v1beta/models/m:s?alt=sse"),
        ("http://h/b?key=k", "/models/m:s?alt=sse", "http://h/b/models/m:s?key=k&alt=sse"),
    ],
)
def test_a_base_url_may_be_copied_in_any_form(base: str, path: str, whole: str) -> None:
    assert endpoint(base, path) == whole


async def _asked_at(url: str, key: str = "key") -> Outcome:
    info = ModelInfo(id="m", provider="openai", api="openai-chat", base_url=url)
    return await ask(info, api_key=key)


async def test_a_port_that_there_cannot_be_is_named() -> None:
    outcome = await _asked_at("http://127.0.0.1:99999/v1")
    assert outcome.error is not None
    assert "is not a URL that can be called" in str(outcome.error)


async def test_a_key_with_a_line_break_is_not_repeated() -> None:
    with ProviderServer() as server:
        outcome = await _asked_at(server.base_url("openai"), key="secret-a\nsecret-b")
    assert outcome.error is not None
    assert (outcome.error.problem, outcome.error.retryable) == ("wrong-key", False)
    assert "secret" not in str(outcome.error)


async def test_certificates_that_cannot_be_read_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    outcome = await _asked_at("https://127.0.0.1:9/v1")
    assert "Check SSL_CERT_FILE" in str(outcome.error)


async def test_a_proxy_that_is_no_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "::::")
    outcome = await _asked_at("http://nowhere.invalid/v1")
    assert "A proxy that the environment names" in str(outcome.error)


async def test_a_connection_that_was_given_up_meanwhile_costs_no_retry() -> None:
    """The server takes the second request of a kept connection and hangs up on it."""
    with _GivesUp() as server:
        info = ModelInfo(
            id="m", provider="openai", api="openai-chat", base_url=f"http://127.0.0.1:{server.port}"
        )
        async with HttpModel(info, api_key="key", retries=QUICK) as model:
            for _ in range(2):
                async with model.stream(HELLO, ONCE) as stream:
                    outcome = Outcome([event async for event in stream])
                assert (outcome.error, outcome.message.text) == (None, "Hi")
    assert server.connections == 2


class _GivesUp:
    """Answers the first request of each connection and closes at the second."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self._thread.join(5)

    def _serve(self) -> None:
        body = b"".join(chat("Hi").chunks)
        head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n".encode()
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            with connection:
                connection.settimeout(5)
                if self.connections <= 2:
                    _read_request(connection)
                    connection.sendall(head + body)
                    _read_request(connection)


def _read_request(connection: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return
        data += piece
    head, _, rest = data.partition(b"\r\n\r\n")
    (length,) = (
        int(line.split(b":")[1])
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length")
    )
    while len(rest) < length:
        rest += connection.recv(65536)


@pytest.mark.parametrize(("status", "word", "retries"), [(500, "false", 0), (418, "True", 1)])
async def test_a_server_may_say_whether_to_ask_again(status: int, word: str, retries: int) -> None:
    refused = error(status, {"error": {"message": "no"}}, {"x-should-retry": word})
    with ProviderServer(refused, chat("Hi")) as server:
        outcome = await ask(info_at(server, "openai-chat"), HELLO, StreamOptions(max_retries=1))
    assert len(outcome.retries) == retries


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'{"error": {"message": "\\u001b[31mred\\u001b[0m\\u0007 light"}}', "red light"),
        (b'{"error": {"message": "half \\ud800 sign"}}', "half \ufffd sign"),
        (b'{"error": {"message": "two\nlines"}}', "two\nlines"),
    ],
)
async def test_the_words_of_a_refusal_are_plain_text(body: bytes, shown: str) -> None:
    with ProviderServer(Reply([body], status=400)) as server:
        outcome = await ask(info_at(server, "openai-chat"))
    assert str(outcome.error).endswith(f": {shown}")
    assert outcome.message.error_message == str(outcome.error)
