"""A model over HTTP: retries, refusals, broken and silent streams, aborts, kept connections."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import anyio
import pytest

from sloyd.errors import ContextOverflow
from sloyd.llm.events import Done, Retrying, TextDelta
from sloyd.llm.http_model import HttpModel
from sloyd.llm.messages import Thinking
from sloyd.llm.models import Model, ModelInfo, StreamOptions
from sloyd.llm.retry import RetryPolicy
from sloyd.llm.wires.scripted import ScriptedModel
from tests.llm.support import APIS, CASES, HELLO, ONCE, QUICK, ask, info_at
from tests.provider_streams import sse
from tests.servers import ProviderServer, Reply, Request, chat, error, page, raw, stream

_THRICE = StreamOptions(max_retries=3)
_CHAT = "openai-chat"


@pytest.mark.parametrize("api", APIS)
async def test_each_api_streams_thinking_text_and_parallel_calls(api: str) -> None:
    calls = [("read", {"path": "a.txt"}), ("read", {"path": "b \u00e9.txt"})]
    with ProviderServer(stream(api, "Some text.", "Deep thought.", calls)) as server:
        outcome = await ask(info_at(server, api))
        (request,) = server.requests
    message = outcome.message
    assert outcome.error is None
    assert message.text == "Some text."
    assert [b.thinking for b in message.content if isinstance(b, Thinking)] == ["Deep thought."]
    assert [(call.name, call.arguments) for call in message.tool_calls] == calls
    assert message.stop_reason == "toolUse"
    assert (message.usage.input, message.usage.cache_read, message.usage.output) == (60, 40, 10)
    assert (message.api, message.model) == (api, "m")
    assert "key" in json.dumps(dict(request.headers))
    assert request.method == "POST"


async def test_connections_are_used_again() -> None:
    with ProviderServer(chat("hi"), repeat=True) as server:
        async with HttpModel(info_at(server, _CHAT), api_key="k") as model:
            for _ in range(5):
                async with model.stream(HELLO) as answer:
                    events = [event async for event in answer]
                assert isinstance(events[-1], Done)
        assert server.connections == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 520, 529])
async def test_passing_troubles_are_retried(status: int) -> None:
    body = {"error": {"message": "not now"}}
    with ProviderServer(error(status, body), chat("hi")) as server:
        outcome = await ask(info_at(server, _CHAT), options=_THRICE)
    assert outcome.message.text == "hi"
    (retry,) = outcome.retries
    assert (retry.attempt, retry.max_attempts) == (1, 3)
    assert "not now" in str(retry.error)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 422])
async def test_lasting_troubles_are_not(status: int) -> None:
    body = {"error": {"message": "no, request 500 of 503"}}
    with ProviderServer(error(status, body), repeat=True) as server:
        outcome = await ask(info_at(server, _CHAT), options=_THRICE)
        posts = [request for request in server.requests if request.method == "POST"]
    assert len(posts) == 1
    assert outcome.error is not None
    assert outcome.error.status == status


async def test_retries_are_counted_and_end() -> None:
    with ProviderServer(error(500, {"error": {"message": "down"}}), repeat=True) as server:
        outcome = await ask(info_at(server, _CHAT), options=_THRICE)
        assert len(server.requests) == 4
    assert [retry.attempt for retry in outcome.retries] == [1, 2, 3]
    assert outcome.error is not None
    assert outcome.error.problem == "server"


async def test_a_reset_before_any_byte_is_retried() -> None:
    with ProviderServer(Reply(before="reset"), chat("hi")) as server:
        outcome = await ask(info_at(server, _CHAT), options=_THRICE)
    assert outcome.message.text == "hi"
    assert outcome.retries[0].error.problem in {"connection", "broken-stream"}


async def test_an_error_as_the_first_event_is_retried() -> None:
    path = CASES / "sse/oai_error_first.sse"
    with ProviderServer(raw(path), chat("hi")) as server:
        outcome = await ask(info_at(server, _CHAT), options=_THRICE)
    assert outcome.message.text == "hi"


async def test_an_error_after_text_is_not_retried_and_keeps_the_text() -> None:
    path = CASES / "sse/oai_error_in_stream.sse"
    with ProviderServer(raw(path), chat("hi")) as server:
        outcome = await ask(info_at(server, _CHAT), options=_THRICE)
    assert outcome.message.text == "Hel"
    assert outcome.error is not None
    assert outcome.error.retryable


_IN_FOUR_SECONDS = "<now + 4 s as HTTP-date>"


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case["id"])
        for case in json.loads((CASES / "http_cases.json").read_text())
    ],
)
async def test_handed_http_cases(case: dict[str, Any]) -> None:
    headers = dict(case.get("headers", {}))
    dated = headers.get("retry-after") == _IN_FOUR_SECONDS
    if dated:
        headers["retry-after"] = formatdate(time.time() + 4, usegmt=True)
    body = case.get("body") or {"error": {"message": "busy"}}
    reset = case["status"] is None
    reply = Reply(before="reset") if reset else error(case["status"], body, headers)
    # A short cap turns waits into answers: the wanted delay is in the event, or in the text.
    policy = RetryPolicy(base=0.01, cap=2.0)
    with ProviderServer(reply, chat("hi")) as server:
        outcome = await ask(info_at(server, _CHAT), options=_THRICE, retries=policy)
    if dated or case["id"] == "retry-after-hours":
        assert outcome.retries == []
        assert outcome.error is not None
        assert outcome.error.retry_after is not None
        assert outcome.error.retry_after >= 2.9
        assert not outcome.error.retryable
        assert ("24.0 h" if not dated else " s, more than") in str(outcome.error)
    else:
        assert outcome.message.text == "hi"
        assert 0 <= outcome.retries[0].delay < 1


async def test_a_named_wait_is_waited() -> None:
    busy = error(429, {"error": {"message": "busy"}}, {"retry-after-ms": "150"})
    with ProviderServer(busy, chat("hi")) as server:
        outcome = await ask(info_at(server, _CHAT), options=_THRICE)
        first, second = server.requests
    assert outcome.message.text == "hi"
    assert second.at - first.at >= 0.15


@pytest.mark.parametrize(
    ("status", "body", "problem", "says"),
    [
        (401, {"error": {"message": "Incorrect API key"}}, "wrong-key", "OPENAI_API_KEY"),
        (400, {"error": {"message": "API key not valid."}}, "wrong-key", "rejected"),
        (402, {"error": {"message": "Insufficient balance"}}, "no-credit", "no credit"),
        (429, {"error": {"code": "insufficient_quota", "message": "x"}}, "no-credit", "quota"),
        (429, {"error": {"code": "1308", "message": "Usage limit"}}, "no-credit", "quota"),
        (403, {"error": {"code": "unsupported_country_region_territory", "message": "no"}},
         "forbidden", "does not allow"),
        (404, {"error": {"code": "model_not_found", "message": "no model"}}, "unknown-model",
         "`m`"),
        (400, {"error": {"message": "prompt is too long: 2 > 1"}}, "overflow", "does not fit"),
        (413, {"error": {"message": "too big"}}, "overflow", "context window"),
        (400, {"detail": [{"msg": "field required"}]}, "bad-request", "field required"),
        (404, "404 page not found", "bad-request", "Check the base URL"),
        (302, {}, "bad-request", "redirects"),
    ],
)  # fmt: skip
async def test_refusals_are_told_apart(status: int, body: Any, problem: str, says: str) -> None:
    reply = error(status, body, {"location": "https://x"} if status == 302 else None)
    with ProviderServer(reply, error(404, {})) as server:
        outcome = await ask(info_at(server, _CHAT), options=_THRICE)
    assert outcome.error is not None
    assert outcome.error.problem == problem
    assert outcome.error.retryable is False
    assert says in str(outcome.error)
    assert isinstance(outcome.error, ContextOverflow) is (problem == "overflow")


async def test_an_unknown_model_is_answered_with_the_nearest_names() -> None:
    def models(request: Request) -> Reply:
        assert request.path == "/v1/models"
        return error(200, {"data": [{"id": f"name-{n}"} for n in range(9)] + [{"id": "m2"}]})

    refused = error(404, {"error": {"message": "model m does not exist"}})
    with ProviderServer(refused, models) as server:
        outcome = await ask(info_at(server, _CHAT))
    assert "`m2`" in str(outcome.error)


async def test_a_web_page_instead_of_a_stream_is_named() -> None:
    with ProviderServer(page("Corporate login"), page("Bad gateway", 502)) as server:
        first = await ask(info_at(server, _CHAT))
        second = await ask(info_at(server, _CHAT))
    assert first.error is not None
    assert first.error.problem == "not-a-stream"
    assert "Corporate login" in str(first.error)
    assert second.error is not None
    assert second.error.retryable
    assert "Bad gateway" in str(second.error)


_WHOLE: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "id": "c",
        "object": "chat.completion",
        "choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
    },
    "openai-responses": {
        "id": "r",
        "object": "response",
        "status": "completed",
        "output": [
            {"type": "message", "id": "i", "content": [{"type": "output_text", "text": "hi"}]}
        ],
    },
    "anthropic-messages": {
        "type": "message",
        "id": "m",
        "content": [{"type": "text", "text": "hi"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "google-generate": {
        "candidates": [{"content": {"parts": [{"text": "hi"}]}, "finishReason": "STOP"}]
    },
}


@pytest.mark.parametrize("api", APIS)
async def test_an_answer_in_one_piece_is_understood(api: str) -> None:
    body = json.dumps(_WHOLE[api], indent=2).encode()
    with ProviderServer(Reply([body], headers={"content-type": "application/json"})) as server:
        outcome = await ask(info_at(server, api))
    assert outcome.error is None
    assert outcome.message.text == "hi"


async def test_a_stream_that_breaks_off_keeps_what_came() -> None:
    chunks = chat("Half an answer and more").chunks[:2]
    with ProviderServer(Reply(chunks, ending="reset")) as server:
        outcome = await ask(info_at(server, _CHAT))
    assert outcome.message.text == "Half an answer and more"
    assert outcome.message.stop_reason == "error"
    assert outcome.error is not None
    assert outcome.error.problem == "broken-stream"


async def test_a_silent_stream_is_ended() -> None:
    chunks = chat("Half").chunks[:2]
    with ProviderServer(Reply(chunks, ending="hang")) as server:
        options = StreamOptions(max_retries=0, idle_timeout=0.3)
        outcome = await ask(info_at(server, _CHAT), options=options)
    assert outcome.message.text == "Half"
    assert outcome.error is not None
    assert outcome.error.problem == "timeout"


@pytest.mark.parametrize("noise", [b": ping\n\n", b"event: ping\ndata: {}\n\n", b"\n"])
async def test_a_stream_of_bytes_without_events_is_ended(noise: bytes) -> None:
    with ProviderServer(Reply([noise] * 200, pause=0.02, ending="hang")) as server:
        options = StreamOptions(max_retries=0, idle_timeout=0.3)
        started = time.monotonic()
        outcome = await ask(info_at(server, _CHAT), options=options)
    assert time.monotonic() - started < 2
    assert outcome.error is not None
    assert outcome.error.problem == "timeout"
    assert outcome.error.retryable


async def test_a_server_that_never_answers_is_given_up() -> None:
    with ProviderServer(Reply(before="hang")) as server:
        options = StreamOptions(max_retries=0, idle_timeout=0.3)
        outcome = await ask(info_at(server, _CHAT), options=options)
    assert outcome.error is not None
    assert outcome.error.problem == "timeout"


@pytest.mark.parametrize("api", APIS)
async def test_an_abort_is_instant_and_keeps_what_came(api: str) -> None:
    chunks = stream(api, "x" * 200).chunks
    with ProviderServer(Reply(chunks[:4], ending="hang")) as server:
        async with HttpModel(info_at(server, api), api_key="k") as model:
            answer = model.stream(HELLO)
            with anyio.move_on_after(0.3) as scope:
                async with answer as events:
                    async for _ in events:
                        pass
            assert scope.cancelled_caught
            assert anyio.current_time() - scope.deadline < 0.3
            assert answer.message.stop_reason == "aborted"
            assert answer.message.text.startswith("xxxx")


async def test_leaving_the_block_early_closes_the_connection() -> None:
    many = Reply(chat("x" * 5000).chunks, pause=0.005)
    with ProviderServer(many, chat("hi")) as server:
        async with HttpModel(info_at(server, _CHAT), api_key="k") as model:
            async with model.stream(HELLO) as answer:
                async for event in answer:
                    if isinstance(event, TextDelta):
                        break
            async with model.stream(HELLO) as answer:
                events = [event async for event in answer]
        assert isinstance(events[-1], Done)
        assert server.connections == 2


async def test_the_wait_before_a_retry_can_be_aborted() -> None:
    busy = error(503, {"error": {"message": "busy"}}, {"retry-after": "30"})
    with ProviderServer(busy) as server:
        async with HttpModel(info_at(server, _CHAT), api_key="k") as model:
            with anyio.move_on_after(0.3) as scope:
                async with model.stream(HELLO, _THRICE) as answer:
                    async for event in answer:
                        assert isinstance(event, Retrying)
                        assert event.delay >= 30
            assert scope.cancelled_caught


async def test_nobody_listens() -> None:
    with ProviderServer() as server:
        info = info_at(server, _CHAT)
    outcome = await ask(info, options=_THRICE)
    assert outcome.error is not None
    assert outcome.error.problem == "connection"
    assert "refused" in str(outcome.error)
    assert outcome.retries == []


@pytest.mark.parametrize("url", ["127.0.0.1:1/v1", "ftp://127.0.0.1/v1", "http://[bad/v1", ""])
async def test_a_base_url_that_is_none_is_named(url: str) -> None:
    outcome = await ask(ModelInfo(id="m", provider="openai", api=_CHAT, base_url=url))
    assert outcome.error is not None
    assert outcome.error.problem == "bad-request"


async def test_https_to_a_plain_server_is_explained() -> None:
    with ProviderServer(repeat=True) as server:
        url = server.base_url(_CHAT).replace("http:", "https:")
        outcome = await ask(ModelInfo(id="m", provider="openai", api=_CHAT, base_url=url))
    assert outcome.error is not None
    assert outcome.error.problem == "connection"
    assert "http://" in str(outcome.error)


async def test_no_key_for_a_known_provider() -> None:
    for name, api, url, variable in (
        ("openai", _CHAT, "https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("anthropic", "anthropic-messages", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    ):
        info = ModelInfo(id="m", provider=name, api=api, base_url=url)
        outcome = await ask(info, api_key=None)
        assert outcome.error is not None
        assert outcome.error.problem == "no-key"
        assert variable in str(outcome.error)


async def test_a_server_of_ones_own_needs_no_key() -> None:
    with ProviderServer(chat("hi")) as server:
        outcome = await ask(info_at(server, _CHAT), api_key=None)
        assert "authorization" not in server.requests[0].headers
    assert outcome.message.text == "hi"


async def test_a_key_that_http_cannot_carry_is_named() -> None:
    with ProviderServer(chat("hi")) as server:
        outcome = await ask(info_at(server, _CHAT), api_key="sk-\u201cquoted\u201d")
    assert outcome.error is not None
    assert outcome.error.problem == "wrong-key"


async def test_a_server_that_never_ends_its_stream_is_not_waited_for() -> None:
    finished = [chunk for chunk in chat("hi").chunks if b"[DONE]" not in chunk]
    with ProviderServer(Reply(finished, ending="hang")) as server:
        options = StreamOptions(max_retries=0, idle_timeout=30)
        started = time.monotonic()
        outcome = await ask(info_at(server, _CHAT), options=options)
    assert outcome.message.text == "hi"
    assert time.monotonic() - started < 5


def _refuses(name: str, words: str) -> Callable[[Request], Reply]:
    def reply(request: Request) -> Reply:
        if name in request.json:
            return error(400, {"error": {"message": words}})
        return chat("hi")

    return reply


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("stream_options", "Unknown parameter: 'stream_options'"),
        ("reasoning_effort", "reasoning_effort is not supported with this model"),
        ("temperature", "Unsupported value: 'temperature' does not support 0.5"),
        ("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'."),
    ],
)
async def test_what_a_server_refuses_is_left_out_from_then_on(name: str, words: str) -> None:
    reply = _refuses(name, words)
    with ProviderServer(reply, repeat=True) as server:
        options = StreamOptions(thinking="high", temperature=0.5, max_output=100, max_retries=0)
        async with HttpModel(info_at(server, _CHAT), api_key="k", retries=QUICK) as model:
            for _ in range(2):
                async with model.stream(HELLO, options) as answer:
                    events = [event async for event in answer]
                assert isinstance(events[-1], Done)
        assert len(server.requests) == 3
        if name == "max_tokens":
            assert server.requests[-1].json["max_completion_tokens"] == 100


async def test_an_output_limit_that_is_too_high_is_lowered() -> None:
    def reply(request: Request) -> Reply:
        if request.json["max_tokens"] > 4096:
            words = f"max_tokens: {request.json['max_tokens']} > 4096, which is the maximum"
            return error(400, {"type": "error", "error": {"message": words}})
        return stream("anthropic-messages", "hi")

    with ProviderServer(reply, repeat=True) as server:
        outcome = await ask(info_at(server, "anthropic-messages"))
    assert outcome.message.text == "hi"


async def test_a_hundred_thousand_deltas_are_cheap() -> None:
    delta = {"id": "c", "choices": [{"index": 0, "delta": {"content": "word "}}]}
    one = sse([delta])[0]
    end = sse([{"id": "c", "choices": [{"delta": {}, "finish_reason": "stop"}]}, "[DONE]"])
    chunks = [one * 100] * 1000 + end
    with ProviderServer(Reply(chunks)) as server:
        async with HttpModel(info_at(server, _CHAT), api_key="k") as model:
            started = time.thread_time()
            count = 0
            async with model.stream(HELLO, ONCE) as answer:
                async for event in answer:
                    count += isinstance(event, TextDelta)
            spent = time.thread_time() - started
    assert count == 100_000
    assert spent < 1.5


def test_one_model_can_be_used_from_two_loops() -> None:
    with ProviderServer(chat("hi"), repeat=True) as server:
        model = HttpModel(info_at(server, _CHAT), api_key="k")

        async def once() -> object:
            try:
                async with model.stream(HELLO) as answer:
                    return [event async for event in answer][-1]
            finally:
                await model.aclose()

        for _ in range(2):
            last = anyio.run(once)
            assert isinstance(last, Done)


async def test_a_server_that_wants_a_key_says_so() -> None:
    refused = error(401, {"error": {"message": "Missing API key"}})
    with ProviderServer(refused) as server:
        outcome = await ask(info_at(server, _CHAT), api_key=None)
    assert outcome.error is not None
    assert outcome.error.problem == "no-key"
    assert "OPENAI_API_KEY" in str(outcome.error)


async def test_a_key_is_never_repeated() -> None:
    key = "sk-very-secret-key"
    refused = error(401, {"error": {"message": f"Incorrect API key provided: {key}"}})
    with ProviderServer(refused) as server:
        outcome = await ask(info_at(server, _CHAT), api_key=key)
    assert key not in str(outcome.error)
    assert key not in str(outcome.message)


async def test_a_proxy_of_the_environment_is_used_but_not_for_loopback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ProviderServer(chat("through"), chat("direct")) as server:
        monkeypatch.setenv("HTTP_PROXY", server.url)
        away = ModelInfo(id="m", provider="openai", api=_CHAT, base_url="http://model.invalid/v1")
        through = await ask(away)
        assert server.requests[0].path == "http://model.invalid/v1/chat/completions"
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        direct = await ask(info_at(server, _CHAT))
    assert through.message.text == "through"
    assert direct.message.text == "direct"


async def test_a_socks_proxy_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    away = ModelInfo(id="m", provider="openai", api=_CHAT, base_url="http://model.invalid/v1")
    outcome = await ask(away)
    assert outcome.error is not None
    assert "socksio" in str(outcome.error)


async def test_models_of_this_floor_are_models() -> None:
    """The protocol is structural; this is where the type checker compares."""
    with ProviderServer(chat("hi")) as server:
        models: list[Model] = [
            HttpModel(info_at(server, _CHAT), api_key="k"),
            ScriptedModel([{"text": "hi"}]),
        ]
        for model in models:
            async with model.stream(HELLO) as answer:
                events = [event async for event in answer]
            assert isinstance(events[-1], Done)
            assert answer.message.text == "hi"
        await models[0].aclose()  # type: ignore[attr-defined]
