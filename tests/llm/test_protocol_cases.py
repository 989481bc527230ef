"""Streams as providers really send them, each whole and one byte at a time: the same message."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from sloyd.llm.building import MessageBuilder
from sloyd.llm.events import Done, Failed, Start, StreamEvent, TextDelta, ThinkingDelta
from sloyd.llm.messages import AssistantMessage, Thinking, ToolCall, ToolResultMessage, UserMessage
from sloyd.llm.models import Context, ModelInfo, StreamOptions
from sloyd.llm.sse import SseParser
from sloyd.llm.wires import wire_for
from sloyd.llm.wires.base import encode_body
from tests.llm.support import CASES, Outcome, ask, conversation, info_at
from tests.servers import ProviderServer, raw

_APIS = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic-messages",
    "google": "google-generate",
}
_LOADED: list[dict[str, Any]] = json.loads((CASES / "protocol_cases.json").read_text())
_EVERY = [
    pytest.param(case, id=case["file"].removeprefix("sse/").removesuffix(".sse"))
    for case in _LOADED
]


@pytest.mark.parametrize("case", _EVERY)
async def test_a_stream_gives_the_demanded_message(case: dict[str, Any]) -> None:
    path = CASES / case["file"]
    api = _APIS[case["api"]]
    with ProviderServer(raw(path), raw(path, piece=1)) as server:
        whole = await ask(info_at(server, api))
        bytewise = await ask(info_at(server, api))
    assert _comparable(whole) == _comparable(bytewise)
    for outcome in (whole, bytewise):
        _check(outcome, case["expect"])
        _check_events(outcome)
        _check_replay(outcome.message)


def _comparable(outcome: Outcome) -> object:
    """The message without times and without ids that were made up."""
    message = msgspec.to_builtins(outcome.message)
    for name in ("timestamp", "durationMs"):
        message.pop(name, None)
    for block in message.get("content", ()):
        if block["type"] == "toolCall":
            block["id"] = None
    return message, str(outcome.error)


def _check(outcome: Outcome, expect: dict[str, Any]) -> None:
    message, error = outcome.message, outcome.error
    refused = [call for call in message.tool_calls if call.arguments_error]
    for key in expect:
        match key:
            case "calls":
                found = [{"name": c.name, "args": c.arguments} for c in message.tool_calls]
                assert found == expect["calls"]
                assert not refused
            case "distinct_ids":
                ids = [call.id for call in message.tool_calls]
                assert all(ids)
                assert len(set(ids)) == len(ids)
            case "text":
                assert message.text == expect["text"]
                assert error is None
            case "thinking":
                thoughts = [b.thinking for b in message.content if isinstance(b, Thinking)]
                assert thoughts == [expect["thinking"]]
            case "usage":
                assert message.usage.input == expect["usage"]["input"]
                assert message.usage.output == expect["usage"]["output"]
            case "runs_tools":
                assert message.stop_reason == "toolUse"
            case "tool_must_not_run":
                runs = error is None and message.stop_reason == "toolUse" and not refused
                assert not runs
            case "error":
                assert error is not None
                assert message.stop_reason == "error"
                assert message.error_message
            case "retryable":
                assert error is not None
                assert error.retryable
            case "message_has":
                assert expect["message_has"] in str(error)
            case "error_or_retry":
                assert error is not None
                assert error.retryable
            case "error_result":
                # Unknown and blank names are the registry's to refuse; see the loop's tests.
                known = [call for call in message.tool_calls if call.name in {"read", "ls"}]
                assert all(call.arguments_error and call.arguments == {} for call in known)
            case _:
                continue


def _check_events(outcome: Outcome) -> None:
    """The order that `sloyd.llm.events` promises, and deltas that add up to the message."""
    events = outcome.events
    kinds = [type(event) for event in events]
    assert kinds.count(Done) + kinds.count(Failed) == 1
    assert isinstance(events[-1], (Done, Failed))
    if len(events) > 1:
        assert isinstance(events[0], Start)
    for index, block in enumerate(outcome.message.content):
        if isinstance(block, ToolCall):
            continue
        text = block.thinking if isinstance(block, Thinking) else block.text
        assert _joined(events, index) == text


def _joined(events: list[StreamEvent], index: int) -> str:
    return "".join(
        event.text
        for event in events
        if isinstance(event, (TextDelta, ThinkingDelta)) and event.index == index
    )


def _check_replay(message: AssistantMessage) -> None:
    """Every API gets a next request that is strict JSON, with objects as arguments."""
    results = tuple(
        ToolResultMessage(tool_call_id=call.id, tool_name=call.name, content=(), timestamp=1)
        for call in message.tool_calls
    )
    user = UserMessage(content="go on", timestamp=1)
    context = conversation(user, message, *results, user)
    for api in _APIS.values():
        info = ModelInfo(id="m", provider="other", api=api, base_url="http://127.0.0.1:1")
        body = json.loads(encode_body(wire_for(api).payload(info, context, StreamOptions()).body))
        for entry in body.get("messages", []):
            for call in entry.get("tool_calls", []):
                assert isinstance(json.loads(call["function"]["arguments"]), dict)


def test_the_parts_of_a_signed_batch_keep_their_signatures() -> None:
    """Google signs only the first call; a signature on the wrong part is refused."""
    data = (CASES / "sse/goog_signature_first_only.sse").read_bytes()
    info = ModelInfo(id="gemini-3-pro", provider="google", api="google-generate")
    wire = wire_for(info.api)
    reader = wire.reader(info)
    parser = SseParser()
    for event in [*parser.feed(data), *parser.finish()]:
        reader.feed(event)
    reader.finish()
    user = UserMessage(content="go", timestamp=1)
    body = wire.payload(info, Context(messages=(user, reader.message)), StreamOptions()).body
    first, second = body["contents"][1]["parts"]
    assert first["thoughtSignature"] == "c2ln"
    assert "thoughtSignature" not in second


def test_ids_are_unique_across_turns() -> None:
    """Some servers begin with call_0 in every turn."""
    info = ModelInfo(id="m", provider="p", api="openai-chat")
    builder = MessageBuilder(info, taken_ids=["call_0"])
    builder.open_call("call_0", "read")
    builder.done("toolUse")
    (call,) = builder.message.tool_calls
    assert call.id not in {"", "call_0"}
