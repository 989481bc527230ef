"""Streams that are odd in their frame or their numbers, and still say what they mean."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

from sloyd.errors import ProviderError
from sloyd.llm.events import Start
from sloyd.llm.messages import Thinking
from sloyd.llm.models import StreamOptions
from tests.llm.support import APIS, HELLO, ask, info_at
from tests.provider_streams import sse
from tests.servers import ProviderServer, Reply, chat, raw, stream


def _chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


_HI = [_chunk({"content": "Hi"}), _chunk({}, "stop")]
_LINES = "".join(json.dumps(chunk) + "\n" for chunk in _HI).encode()
_FRAMES = {
    "blank data": b"data:\n\ndata\n\n" + b"".join(sse(_HI)),
    "null data": b"data: null\n\n" + b"".join(sse(_HI)),
    "a named ping of any text": b"event: ping\ndata: pong\n\n" + b"".join(sse(_HI)),
    "a nameless ping": b'data: {"type": "ping"}\n\n' + b"".join(sse(_HI)),
    "an end mark in quotes": b"".join(sse([*_HI, '"[DONE]"'])),
    "an end mark in small letters": b"".join(sse([*_HI, "[done]"])),
    "a broken line behind the end": b"".join(sse([*_HI, '{"usage": {"prompt'])),
    "events that run together": b"".join(b"data: " + line + b"\n" for line in _LINES.split(b"\n")),
    "a line for each object": _LINES,
    "a list of objects": b"".join(sse([json.dumps(_HI)])),
    "content as parts": b"".join(sse([_chunk({"content": [{"text": "H"}, "i"]}), _HI[1]])),
    "content as one part": b"".join(sse([_chunk({"content": {"text": "Hi"}}), _HI[1]])),
    "text of old completions": b"".join(sse([{"choices": [{"text": "Hi"}]}, _HI[1]])),
    "another choice beside it": b"".join(
        sse([_HI[0], {"choices": [{"index": 1, "delta": {"content": "No"}}]}, _HI[1]])
    ),
}


@pytest.mark.parametrize("body", _FRAMES.values(), ids=_FRAMES)
async def test_odd_frames_hold_the_same_answer(body: bytes) -> None:
    with ProviderServer(raw(body), raw(body, piece=1)) as server:
        for _ in range(2):
            outcome = await ask(info_at(server, "openai-chat"))
            assert (outcome.error, outcome.message.text) == (None, "Hi")


@pytest.mark.parametrize(
    "usage",
    [
        '{"prompt_tokens": "10", "completion_tokens": "5"}',
        '{"prompt_tokens": 10.0, "completion_tokens": 5.0}',
        '{"input_tokens": 10, "output_tokens": 5}',
        '{"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": []}',
        '{"prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": 1e999}',
        '{"prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": -3}',
        '{"prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": "many"}',
    ],
)
async def test_tokens_are_counted_in_any_spelling(usage: str) -> None:
    events = [*_HI, f'{{"choices": [], "usage": {usage}}}']
    with ProviderServer(Reply(sse(events))) as server:
        outcome = await ask(info_at(server, "openai-chat"))
    found = outcome.message.usage
    assert (found.input, found.output, found.cache_read) == (10, 5, 0)


@pytest.mark.parametrize(
    "details",
    [
        {"type": "reasoning.text", "text": "hm"},
        {"type": "reasoning.summary", "summary": "hm"},
    ],
)
async def test_reasoning_that_comes_only_as_details_is_shown(details: dict[str, str]) -> None:
    events = [_chunk({"reasoning_details": [details]}), *_HI]
    with ProviderServer(Reply(sse(events))) as server:
        outcome = await ask(info_at(server, "openai-chat"))
    thinking = outcome.message.content[0]
    assert isinstance(thinking, Thinking)
    assert thinking.thinking == "hm"
    assert json.loads(thinking.thinking_signature or "") == [details]


async def test_sealed_reasoning_items_stay_apart() -> None:
    items = [{"type": "reasoning.encrypted", "id": name, "data": name} for name in "ab"]
    events = [*(_chunk({"reasoning_details": [item]}) for item in items), *_HI]
    with ProviderServer(Reply(sse(events))) as server:
        outcome = await ask(info_at(server, "openai-chat"))
    thinking = outcome.message.content[0]
    assert isinstance(thinking, Thinking)
    assert json.loads(thinking.thinking_signature or "") == items


_NOTHING: dict[str, list[bytes]] = {
    "openai-chat": sse([_chunk({"role": "assistant", "content": ""})]),
    "openai-responses": sse([{"type": "response.created", "response": {"id": "r"}}]),
    "anthropic-messages": sse([{"type": "message_start", "message": {"id": "m"}}]),
    "google-generate": sse([{"candidates": [{"content": {"parts": []}}]}]),
}


@pytest.mark.parametrize("api", APIS)
async def test_an_answer_that_broke_off_before_its_first_word_is_asked_for_again(api: str) -> None:
    with ProviderServer(Reply(_NOTHING[api]), stream(api, "Hi")) as server:
        outcome = await ask(info_at(server, api), HELLO, StreamOptions(max_retries=2))
    assert outcome.message.text == "Hi"
    assert len(outcome.retries) == 1
    # Nobody hears of the start that led to nothing.
    assert [type(event) for event in outcome.events].count(Start) == 1
    assert isinstance(outcome.retries[0].error, ProviderError)


async def test_an_end_mark_alone_is_no_answer() -> None:
    with ProviderServer(Reply(sse(["[DONE]"])), chat("Hi")) as server:
        outcome = await ask(info_at(server, "openai-chat"), HELLO, StreamOptions(max_retries=1))
    assert outcome.message.text == "Hi"


@pytest.mark.parametrize("finish", ["error", "network_error", "abort", "MALFORMED_FUNCTION_CALL"])
async def test_a_finish_reason_can_be_a_failure(finish: str) -> None:
    events = [_chunk({"content": "Hi"}), _chunk({}, finish)]
    with ProviderServer(Reply(sse(events))) as server:
        outcome = await ask(info_at(server, "openai-chat"))
    assert outcome.error is not None
    assert outcome.error.retryable
    assert finish in str(outcome.error)


async def test_an_error_inside_a_choice_is_an_error() -> None:
    choice = {"index": 0, "delta": {}, "error": {"code": 502, "message": "Upstream is gone"}}
    with ProviderServer(Reply(sse([{"choices": [choice]}]))) as server:
        outcome = await ask(info_at(server, "openai-chat"))
    assert outcome.error is not None
    assert (outcome.error.status, outcome.error.retryable) == (502, True)
    assert "Upstream is gone" in str(outcome.error)


async def test_signs_of_life_do_not_keep_an_answered_request_open() -> None:
    """The stop reason is known and the end mark never comes."""
    pings = [b": ping\n\n"] * 100
    with ProviderServer(Reply([*sse(_HI), *pings], pause=0.1)) as server:
        outcome = await ask(info_at(server, "openai-chat"))
    assert (outcome.error, outcome.message.text) == (None, "Hi")
    assert outcome.message.duration_ms is not None
    assert outcome.message.duration_ms < 5000


@pytest.mark.parametrize("ending", ["hang", "reset"])
@pytest.mark.parametrize("api", ["openai-chat", "google-generate"])
async def test_what_happens_behind_the_stop_reason_does_not_matter(
    api: str, ending: Literal["hang", "reset"]
) -> None:
    whole = [chunk for chunk in stream(api, "Hi").chunks if b"[DONE]" not in chunk]
    options = StreamOptions(max_retries=0, idle_timeout=0.5)
    with ProviderServer(Reply(whole, ending=ending)) as server:
        outcome = await ask(info_at(server, api), HELLO, options)
    assert (outcome.error, outcome.message.text) == (None, "Hi")
