"""Anthropic's, Google's and the responses API's streams with parts that are missing or misnamed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sloyd.llm.messages import AssistantMessage, Thinking
from sloyd.llm.models import ModelInfo
from sloyd.llm.sse import SseEvent
from sloyd.llm.wires import wire_for
from tests.llm.support import Outcome

_A, _B = '{"path":"a"}', '{"path":"b"}'
_CALLS = [("read", {"path": "a"}), ("read", {"path": "b"})]


def _read(api: str, *events: Any) -> Outcome:
    reader = wire_for(api).reader(ModelInfo(id="m", provider="p", api=api))
    made = [each for event in events for each in reader.feed(SseEvent("", json.dumps(event)))]
    return Outcome([*made, *reader.finish()])


def _found(message: AssistantMessage) -> list[tuple[str, dict[str, Any]]]:
    assert len({call.id for call in message.tool_calls}) == len(message.tool_calls)
    return [(call.name, call.arguments) for call in message.tool_calls]


def _without(events: list[dict[str, Any]], *keys: str) -> list[dict[str, Any]]:
    return [{key: event[key] for key in event if key not in keys} for event in events]


# -- responses ------------------------------------------------------------------------------------


def _call(place: int, arguments: str, **item: Any) -> list[dict[str, Any]]:
    head = {"type": "function_call", "id": f"fc_{place}", "call_id": f"c_{place}", "name": "read"}
    head.update(item)
    where = {"output_index": place, "item_id": head["id"]}
    added = {"type": "response.output_item.added", "item": {**head, "arguments": ""}}
    delta = {"type": "response.function_call_arguments.delta", "delta": arguments}
    done = {"type": "response.output_item.done", "item": {**head, "arguments": arguments}}
    return [{**event, **where} for event in (added, delta, done)]


def _completed(*output: Any, status: str = "completed", **more: Any) -> dict[str, Any]:
    response = {"status": status, "output": list(output), **more}
    return {"type": "response.completed", "response": response}


_TWO = [*_call(0, _A), *_call(1, _B)]
_RESPONSES = {
    "no place": _without(_TWO, "output_index"),
    "no id": _without(_TWO, "item_id"),
    "one place for all": [{**event, "output_index": 0} for event in _TWO],
    "neither place nor id": [
        {**event, "item": {**event["item"], "id": None}} if "item" in event else event
        for event in _without(_TWO, "output_index", "item_id")
    ],
    "no ids of calls": [*_call(0, _A, call_id=None), *_call(1, _B, call_id="")],
    "only the ends": [_TWO[2], _TWO[5]],
}


@pytest.mark.parametrize("events", _RESPONSES.values(), ids=_RESPONSES)
def test_responses_calls_are_found_by_whatever_names_them(events: list[dict[str, Any]]) -> None:
    items = [_TWO[2]["item"], _TWO[5]["item"]]
    for end in (_completed(), _completed(*items)):
        assert _found(_read("openai-responses", *events, end).message) == _CALLS


def test_responses_items_that_only_the_end_holds_are_taken() -> None:
    text = {"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"}
    said = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}
    message = _read("openai-responses", text, _completed(said, _TWO[5]["item"])).message
    assert (message.text, _found(message)) == ("Hi", [_CALLS[1]])


def test_responses_reasoning_is_sealed_by_what_the_end_holds() -> None:
    place = {"output_index": 0, "item_id": "rs_1"}
    delta = {"type": "response.reasoning_summary_text.delta", **place, "delta": "hm"}
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j"}
    thinking = _read("openai-responses", delta, _completed(item)).message.content[0]
    assert isinstance(thinking, Thinking)
    assert json.loads(thinking.thinking_signature or "") == item


def test_responses_texts_may_come_whole() -> None:
    done = {"type": "response.output_text.done", "output_index": 0, "text": "Hi"}
    assert _read("openai-responses", done, _completed()).message.text == "Hi"


def test_a_completed_response_can_be_incomplete() -> None:
    end = _completed(status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    assert _read("openai-responses", *_TWO, end).message.stop_reason == "length"


def test_a_half_character_in_a_reasoning_item_does_no_harm() -> None:
    reader = wire_for("openai-responses").reader(
        ModelInfo(id="m", provider="p", api="openai-responses")
    )
    item = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "h\ud83d"}]}
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    reader.feed(SseEvent("", json.dumps(done)))
    reader.feed(SseEvent("", json.dumps(_completed())))
    (thinking,) = reader.message.content
    assert isinstance(thinking, Thinking)
    assert thinking.thinking == "h\ufffd"
    assert json.loads(thinking.thinking_signature or "")["summary"][0]["text"] == "h\ufffd"


# -- Anthropic ------------------------------------------------------------------------------------


def _use(index: Any, given: Any, *pieces: Any) -> list[dict[str, Any]]:
    block = {"type": "tool_use", "id": f"t_{index}", "name": "read", "input": given}
    delta = {"type": "content_block_delta", "index": index}
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *({**delta, "delta": {"type": "input_json_delta", "partial_json": p}} for p in pieces),
    ]


_STOP = [
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    {"type": "message_stop"},
]
_ANTHROPIC = {
    "the places are texts": [
        *_use("0", {}),
        *_use("1", {}),
        _use("0", {}, _A)[1],
        _use("1", {}, _B)[1],
    ],
    "no place": _without([*_use(0, {}, _A), *_use(1, {}, _B)], "index"),
    "the input is a text": [*_use(0, _A), *_use(1, _B)],
    "the input is in the head": [*_use(0, {"path": "a"}), *_use(1, {"path": "b"}, "", None)],
    "the pieces have another place": [
        *_use(4, {}),
        _use(0, {}, _A)[1],
        *_use(5, {}),
        _use(1, {}, _B)[1],
    ],
}


@pytest.mark.parametrize("events", _ANTHROPIC.values(), ids=_ANTHROPIC)
def test_anthropic_calls_are_found_by_whatever_names_them(events: list[dict[str, Any]]) -> None:
    assert _found(_read("anthropic-messages", *events, *_STOP).message) == _CALLS


def test_anthropic_counts_are_read_in_any_spelling() -> None:
    start = {"type": "message_start", "message": {"usage": {"input_tokens": "10"}}}
    end = {"type": "message_delta", "delta": {"stop_reason": "MAX_TOKENS"}}
    usage = {"usage": {"output_tokens": 5.0, "cache_read_input_tokens": None}}
    message = _read("anthropic-messages", start, {**end, **usage}, _STOP[1]).message
    assert (message.usage.input, message.usage.output) == (10, 5)
    assert message.stop_reason == "length"


# -- Google ---------------------------------------------------------------------------------------


def _parts(*parts: Any, finish: str | None = None, index: int = 0) -> dict[str, Any]:
    candidate = {"index": index, "content": {"parts": list(parts)}, "finishReason": finish}
    return {"candidates": [candidate]}


def test_google_arguments_may_be_text() -> None:
    calls = [{"functionCall": {"name": "read", "args": text}} for text in (_A, _B)]
    assert _found(_read("google-generate", _parts(*calls, finish="STOP")).message) == _CALLS
    cut = {"functionCall": {"name": "read", "args": _A[:-3]}}
    (call,) = _read("google-generate", _parts(cut, finish="STOP")).message.tool_calls
    assert call.arguments_error


@pytest.mark.parametrize("finish", ["max_tokens", "MAX_TOKENS"])
def test_googles_finish_reasons_count_in_any_case(finish: str) -> None:
    message = _read("google-generate", _parts({"text": "Hi"}, finish=finish)).message
    assert message.stop_reason == "length"


def test_google_may_answer_with_several_candidates_and_empty_feedback() -> None:
    events = [
        {"promptFeedback": {"blockReason": "BLOCK_REASON_UNSPECIFIED"}},
        _parts({"text": "Hi"}),
        _parts({"text": "No"}, index=1),
        _parts(finish="STOP"),
    ]
    outcome = _read("google-generate", *events)
    assert (outcome.error, outcome.message.text) == (None, "Hi")


def test_an_empty_text_is_no_answer_of_google() -> None:
    error = _read("google-generate", _parts({"text": ""}, finish="STOP")).error
    assert error is not None
    assert error.retryable


# -- all ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deep", [150, 700, 5000])
def test_arguments_may_not_be_a_bottomless_pit(deep: int) -> None:
    pit = '{"path":' + "[" * deep + "]" * deep + "}"
    for arguments in (pit, json.dumps(pit)):
        entry = f'{{"index":0,"id":"c","function":{{"name":"read","arguments":{arguments}}}}}'
        chunk = f'{{"choices":[{{"delta":{{"tool_calls":[{entry}]}},"finish_reason":"stop"}}]}}'
        reader = wire_for("openai-chat").reader(ModelInfo(id="m", provider="p", api="openai-chat"))
        reader.feed(SseEvent("", chunk))
        reader.finish()
        assert all(call.arguments_error for call in reader.message.tool_calls)
        assert reader.message.tool_calls or reader.message.stop_reason == "error"
