"""What servers refuse in their own words, and what is left out because of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sloyd.llm.fixes import Fixes
from sloyd.llm.http_model import HttpModel
from sloyd.llm.messages import AssistantMessage, Text, Thinking, ToolCall, UserMessage
from sloyd.llm.models import Context, ModelInfo, StreamOptions
from sloyd.llm.wires import wire_for
from tests.llm.support import HELLO, QUICK, READ, Outcome, ask, info_at
from tests.servers import ProviderServer, Reply, Request, error, stream

_THINK = StreamOptions(thinking="high", max_retries=0)


def _refusing(api: str, name: str, body: Any) -> Any:
    def reply(request: Request) -> Reply:
        return error(400, body) if name in request.body.decode() else stream(api, "Hi")

    return reply


@pytest.mark.parametrize(
    ("api", "name", "body"),
    [
        ("openai-chat", "reasoning_effort", {"error": '"m" does not support thinking'}),
        ("openai-chat", "reasoning_effort", {"error": "Reasoning is not enabled here"}),
        (
            "openai-chat",
            "reasoning_effort",
            {"detail": [{"loc": ["body", "reasoning_effort"], "msg": "Extra inputs"}]},
        ),
        (
            "anthropic-messages",
            "budget_tokens",
            {"error": {"message": "Expected `thinking` or `redacted_thinking`, but found ..."}},
        ),
        (
            "anthropic-messages",
            "cache_control",
            {"error": {"message": "system.0.cache_control: Extra inputs are not permitted"}},
        ),
        (
            "google-generate",
            "thinkingConfig",
            {"error": {"message": "Thinking is not enabled for this model: invalid argument"}},
        ),
    ],
)
async def test_what_is_refused_is_left_out(api: str, name: str, body: Any) -> None:
    context = Context("Be good.", HELLO.messages, (READ,))
    with ProviderServer(_refusing(api, name, body), repeat=True) as server:
        async with HttpModel(info_at(server, api), api_key="k", retries=QUICK) as model:
            for _ in range(2):
                async with model.stream(context, _THINK) as answer:
                    outcome = Outcome([event async for event in answer])
                assert (outcome.error, outcome.message.text) == (None, "Hi")
    assert [name in request.body.decode() for request in server.requests] == [True, False, False]


def test_other_refusals_teach_nothing() -> None:
    assert not Fixes().learn({"reasoning_effort": "high"}, "Unknown parameter: 'tools'")


def _body(api: str, options: StreamOptions, **info: Any) -> dict[str, Any]:
    facts = {"id": "m", "provider": "p", **info}
    return wire_for(api).payload(ModelInfo(api=api, **facts), HELLO, options).body


@pytest.mark.parametrize(
    ("api", "info", "part"),
    [
        ("openai-chat", {"quirks": {"thinking_format": "openrouter"}}, {"enabled": False}),
        ("openai-chat", {"quirks": {"thinking_format": "reasoning-enabled"}}, {"enabled": False}),
        ("openai-responses", {"quirks": {"efforts": {"off": "none"}}}, {"effort": "none"}),
        ("openai-chat", {}, None),
        ("openai-responses", {}, None),
    ],
)
def test_models_that_think_unasked_are_told_not_to(api: str, info: Any, part: Any) -> None:
    assert _body(api, StreamOptions(), **info).get("reasoning") == part


@pytest.mark.parametrize(
    ("model", "levels", "config"),
    [
        ("gemini-2.5-flash", ("off", "low", "high"), {"thinkingBudget": 0}),
        ("gemini-3-pro", ("off", "low", "high"), {"thinkingLevel": "LOW"}),
        ("gemini-2.0-flash", ("off", "low"), None),
        ("gemini-2.5-flash", ("off",), None),
        ("gemma-3", ("off", "low"), None),
    ],
)
def test_google_is_told_not_to_think(model: str, levels: Any, config: Any) -> None:
    body = _body("google-generate", StreamOptions(), id=model, thinking_levels=levels)
    assert body.get("generationConfig", {}).get("thinkingConfig") == config


def test_chat_can_carry_the_marks_of_anthropics_cache() -> None:
    info = ModelInfo(id="m", provider="p", api="openai-chat", quirks={"cache_markers": True})
    first = Context("Be good.", HELLO.messages, (READ,))
    answer = AssistantMessage(content=(Text("Hi"),), timestamp=1)
    longer = Context("Be good.", (*HELLO.messages, answer, UserMessage(content="and?")), (READ,))
    bodies = [wire_for(info.api).payload(info, each, _THINK).body for each in (first, longer)]
    texts = [json.dumps(body) for body in bodies]
    assert [text.count("cache_control") for text in texts] == [3, 3]
    unmarked = [text.replace(', "cache_control": {"type": "ephemeral"}', "") for text in texts]
    assert unmarked[1].startswith(unmarked[0].removesuffix("]}"))


async def test_a_prompt_that_leaves_no_room_is_an_overflow() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 0}
    chunk = {"choices": [{"delta": {}, "finish_reason": "length"}], "usage": usage}
    reply = Reply([f"data: {json.dumps(chunk)}\n\n".encode()])
    for window, problem in ((1000, "overflow"), (5000, None)):
        with ProviderServer(reply) as server:
            outcome = await ask(info_at(server, "openai-chat", context_window=window))
        assert (outcome.error and outcome.error.problem) == problem


@pytest.mark.parametrize(
    ("api", "theirs", "provider"),
    [
        ("openai-chat", "openai-completions", "openai"),
        ("google-generate", "google-generative-ai", "google"),
        ("openai-responses", "openai-responses", "openai"),
    ],
)
def test_answers_in_sessions_of_pi_are_the_models_own(api: str, theirs: str, provider: str) -> None:
    ours = {"openai-responses": "openai-responses"}.get(api, provider)
    signature = {
        "openai-chat": "reasoning_content",
        "google-generate": "c2ln",
        "openai-responses": '{"type":"reasoning","id":"r","summary":[],"encrypted_content":"c2ln"}',
    }[api]
    answer = AssistantMessage(
        content=(Thinking("deep thought", signature), ToolCall("c", "read", {})),
        api=theirs,
        provider=provider,
        model="m",
        timestamp=1,
    )
    context = Context("", (*HELLO.messages, answer))
    for model, kept in (("m", True), ("other", False)):
        info = ModelInfo(id=model, provider=ours, api=api)
        text = json.dumps(wire_for(api).payload(info, context, _THINK).body)
        assert ("deep thought" in text or "c2ln" in text) is kept
