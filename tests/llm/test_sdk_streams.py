"""Streams made of the official SDKs' own event types: what they can say, each wire understands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

from sloyd.llm.messages import Thinking
from tests import provider_streams
from tests.llm.support import APIS, ask, info_at
from tests.provider_streams import Call, sse
from tests.servers import ProviderServer, Reply

_CALLS: list[Call] = [("read", {"path": "a.txt"}), ("bash", {"command": "echo \u4f60\u597d"})]


def _typed(kind: Any, events: list[Any]) -> list[Any]:
    """Each event as the SDK writes it, every optional field included."""
    adapter = TypeAdapter[Any](kind)
    return [
        event
        if isinstance(event, str)
        else adapter.dump_python(adapter.validate_python(event), mode="json", by_alias=True)
        for event in events
    ]


def _chat(*turn: Any) -> list[Any]:
    from openai.types.chat import ChatCompletionChunk

    return _typed(ChatCompletionChunk, provider_streams.chat_events(*turn))


def _responses(*turn: Any) -> list[Any]:
    from openai.types.responses import ResponseStreamEvent

    return _typed(ResponseStreamEvent, provider_streams.responses_events(*turn))


def _anthropic(*turn: Any) -> list[Any]:
    from anthropic.types import RawMessageStreamEvent

    return _typed(RawMessageStreamEvent, provider_streams.anthropic_events(*turn))


def _google(*turn: Any) -> list[Any]:
    from google.genai.types import GenerateContentResponse

    return _typed(GenerateContentResponse, provider_streams.google_events(*turn))


_MAKERS: dict[str, Callable[..., list[Any]]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic-messages": _anthropic,
    "google-generate": _google,
}


@pytest.mark.parametrize("api", APIS)
async def test_events_of_the_sdk_give_the_whole_message(api: str) -> None:
    turn = ("Some text, in more than one piece.", "Reasoning, in pieces too.", _CALLS)
    reply = Reply(sse(_MAKERS[api](*turn), named=api != "openai-chat" and api[0] != "g"))
    with ProviderServer(reply) as server:
        outcome = await ask(info_at(server, api))
    message = outcome.message
    assert outcome.error is None
    assert message.text == turn[0]
    assert [b.thinking for b in message.content if isinstance(b, Thinking)] == [turn[1]]
    assert [(call.name, call.arguments) for call in message.tool_calls] == _CALLS
    assert message.stop_reason == "toolUse"
    assert message.usage.total_tokens == 110
