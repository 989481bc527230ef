"""Requests: of the types that the official SDKs demand, stable in front, complete in meaning."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from pydantic import TypeAdapter

from sloyd.llm.messages import (
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from sloyd.llm.models import Context, ModelInfo, StreamOptions, ThinkingLevel
from sloyd.llm.wires import wire_for
from sloyd.llm.wires.base import encode_body
from tests.llm.support import APIS, CASES, PROVIDERS, READ

_IMAGE = Image("iVBORw0KGgo=", "image/png")
_HOSTS = {
    "openai-chat": "https://api.openai.com/v1",
    "openai-responses": "https://api.openai.com/v1",
    "anthropic-messages": "https://api.anthropic.com",
    "google-generate": "https://generativelanguage.googleapis.com/v1beta",
}
_MODELS = {
    "openai-chat": "gpt-5.1",
    "openai-responses": "gpt-5.1",
    "anthropic-messages": "claude-sonnet-4-6",
    "google-generate": "gemini-3-pro",
}


def _info(api: str, **changes: Any) -> ModelInfo:
    fields = {"id": _MODELS[api], "provider": PROVIDERS[api], "base_url": _HOSTS[api]}
    return ModelInfo(api=api, **{**fields, **changes})


def _user(text: str, *images: Image) -> UserMessage:
    return UserMessage(content=(Text(text), *images) if images else text, timestamp=1)


def _answer(api: str, *content: Text | Thinking | ToolCall) -> AssistantMessage:
    return AssistantMessage(
        content=content, api=api, provider=PROVIDERS[api], model=_MODELS[api], timestamp=1
    )


def _result(call_id: str, *content: Text | Image, is_error: bool = False) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=call_id, tool_name="read", content=content, is_error=is_error, timestamp=1
    )


_SIGNATURES = {
    "openai-chat": "reasoning_content",
    "openai-responses": json.dumps(
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j"}
    ),
    "anthropic-messages": "c2lnbmF0dXJl",
    "google-generate": "c2lnbmF0dXJl",
}


def _rich(api: str) -> tuple[Message, ...]:
    """A conversation with everything in it."""
    calls = [ToolCall(f"functions.read:{n}", "read", {"path": f"{n}.txt"}) for n in range(3)]
    return (
        _user("look", _IMAGE),
        _answer(api, Thinking("hm", _SIGNATURES[api]), Text("Reading."), *calls),
        _result(calls[0].id, Text("text"), _IMAGE),
        _result(calls[1].id, Text("broken"), _IMAGE, is_error=True),
        _result(calls[2].id),
        _answer(api, Text("  \n"), ToolCall("x", "read", {})),
        _user("stop and think"),
        _answer(api, Text("Done.")),
        _user("thanks"),
    )


def _body(api: str, context: Context, options: StreamOptions, **changes: Any) -> dict[str, Any]:
    request = wire_for(api).payload(_info(api, **changes), context, options)
    body = json.loads(encode_body(request.body))
    assert isinstance(body, dict)
    return body


def _walk(value: Any) -> None:
    """Pydantic checks the members of an iterable only when somebody walks through it."""
    if isinstance(value, dict):
        for item in value.values():
            _walk(item)
    elif isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        for item in value:
            _walk(item)


def _check_chat(body: dict[str, Any]) -> None:
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    adapter = TypeAdapter[Any](CompletionCreateParamsStreaming)
    _walk(adapter.validate_python(body))


def _check_responses(body: dict[str, Any]) -> None:
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

    adapter = TypeAdapter[Any](ResponseCreateParamsStreaming)
    _walk(adapter.validate_python(body))


def _check_anthropic(body: dict[str, Any]) -> None:
    from anthropic.types.message_create_params import MessageCreateParamsStreaming

    adapter = TypeAdapter[Any](MessageCreateParamsStreaming)
    _walk(adapter.validate_python(body))


def _check_google(body: dict[str, Any]) -> None:
    from google.genai import types

    known = {"contents", "systemInstruction", "tools", "generationConfig"}
    assert set(body) <= known
    TypeAdapter(list[types.Content]).validate_python(body["contents"])
    TypeAdapter(types.Content).validate_python(body["systemInstruction"])
    TypeAdapter(list[types.Tool]).validate_python(body["tools"])
    types.GenerateContentConfig.model_validate(body.get("generationConfig", {}))


_CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "openai-chat": _check_chat,
    "openai-responses": _check_responses,
    "anthropic-messages": _check_anthropic,
    "google-generate": _check_google,
}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("level", ["off", "low", "max"])
def test_requests_are_of_the_types_of_the_vendors_own_libraries(
    api: str, level: ThinkingLevel
) -> None:
    options = StreamOptions(thinking=level, max_output=2000, session_id="s", temperature=0.5)
    if level != "off":
        options = StreamOptions(thinking=level)
    body = _body(api, Context("Be kind.", _rich(api), (READ,)), options)
    _CHECKS[api](body)


def test_the_type_check_would_see_a_mistake() -> None:
    body = _body("openai-chat", Context("", (_user("hi"),), (READ,)), StreamOptions())
    body["messages"][0]["role"] = "nobody"
    with pytest.raises(ValueError, match="role"):
        _check_chat(json.loads(json.dumps(body)))


@pytest.mark.parametrize("api", APIS)
def test_two_requests_in_a_row_share_their_beginning_byte_for_byte(api: str) -> None:
    """Caches of providers work on prefixes; markers move, so they are taken out first."""
    first = _rich(api)
    call = ToolCall("new", "read", {"path": "z"})
    second = (*first, _answer(api, Text("Again."), call), _result("new", Text("z")))
    options = StreamOptions(session_id="s", thinking="low")
    bodies = [
        json.dumps(_unmarked(_body(api, Context("Be kind.", messages, (READ,)), options)))
        for messages in (first, second)
    ]
    assert bodies[1].startswith(bodies[0].removesuffix("]}"))


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _unmarked(v) for k, v in value.items() if k != "cache_control"}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("case", json.loads((CASES / "surrogate_cases.json").read_text()))
def test_no_half_character_reaches_a_request(api: str, case: dict[str, str]) -> None:
    bad = case["value"]
    call = ToolCall("a", "read", {bad: [bad, {"x": bad}]})
    messages = (_user(bad), _answer(api, Text(bad), call), _result("a", Text(bad)))
    request = wire_for(api).payload(_info(api), Context(bad, messages), StreamOptions())
    text = encode_body(request.body).decode()
    assert "\\ud" not in text.lower()
    assert "\ufffd" in text


@pytest.mark.parametrize("api", APIS)
def test_an_error_result_is_told_from_a_good_one(api: str) -> None:
    def request(*, is_error: bool) -> str:
        answer = _answer(api, ToolCall("a", "read", {}))
        result = _result("a", Text("same words"), is_error=is_error)
        return json.dumps(_body(api, Context("", (_user("go"), answer, result)), StreamOptions()))

    good, bad = request(is_error=False), request(is_error=True)
    assert good != bad
    assert any(word in bad for word in ("failed", "is_error", '"error"'))


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("sees", [True, False])
def test_the_image_of_a_result_arrives_or_is_noted(api: str, sees: bool) -> None:
    answer = _answer(api, ToolCall("a", "read", {}), ToolCall("b", "read", {}))
    messages = (_user("go"), answer, _result("a", _IMAGE), _result("b", Text("x"), _IMAGE))
    inputs = ("text", "image") if sees else ("text",)
    body = json.dumps(_body(api, Context("", messages), StreamOptions(), inputs=inputs))
    assert body.count(_IMAGE.data) == (2 if sees else 0)
    assert body.count("image omitted") == (0 if sees else 2)


def test_chat_keeps_tool_messages_together_and_names_the_call_of_an_image() -> None:
    body = _body("openai-chat", Context("", _rich("openai-chat")), StreamOptions())
    roles = [message["role"] for message in body["messages"]]
    assert roles[:6] == ["user", "assistant", "tool", "tool", "tool", "user"]
    captions = [part["text"] for part in body["messages"][5]["content"] if part["type"] == "text"]
    assert len(captions) == 2
    for caption, call in zip(captions, body["messages"][1]["tool_calls"], strict=False):
        assert call["id"] in caption
    assert body["messages"][4]["content"] == "(no tool output)"


def test_anthropic_marks_the_end_of_the_stable_part() -> None:
    body = _body(
        "anthropic-messages", Context("Be.", _rich("anthropic-messages"), (READ,)), StreamOptions()
    )
    assert body["tools"][-1]["cache_control"]
    assert body["system"][-1]["cache_control"]
    assert body["messages"][-1]["content"][-1]["cache_control"]
    assert json.dumps(body).count("cache_control") == 3


def test_anthropic_images_of_failed_calls_come_after_all_results() -> None:
    api = "anthropic-messages"
    body = _body(api, Context("", _rich(api)), StreamOptions())
    blocks = body["messages"][2]["content"]
    assert [block["type"] for block in blocks] == ["tool_result"] * 3 + ["text", "image"]
    assert blocks[1]["is_error"]
    assert blocks[1]["content"] == "broken"
    assert blocks[0]["content"][1]["type"] == "image"


@pytest.mark.parametrize(
    ("model", "style"),
    [
        ("claude-sonnet-4-6", "adaptive"),
        ("claude-opus-5-5", "adaptive"),
        ("claude-sonnet-4-5-20250929", "enabled"),
        ("claude-sonnet-4-20250514", "enabled"),
        ("claude-3-7-sonnet-latest", "enabled"),
        ("claude-3-5-haiku-latest", None),
        ("some-other-model", "enabled"),
    ],
)
def test_anthropic_thinks_in_the_way_of_the_model(model: str, style: str | None) -> None:
    options = StreamOptions(thinking="high", temperature=0.3)
    body = _body("anthropic-messages", Context("", (_user("hi"),)), options, id=model)
    assert body.get("thinking", {}).get("type") == style
    assert ("temperature" in body) is (style is None)
    if style == "enabled":
        assert 1024 <= body["thinking"]["budget_tokens"] < body["max_tokens"]


def test_an_unknown_server_gets_nothing_that_only_openai_knows() -> None:
    options = StreamOptions(session_id="s")
    context = Context("Be.", (_user("hi"),), (READ,))
    body = _body("openai-chat", context, options, base_url="http://127.0.0.1:8000/v1")
    assert set(body) == {"model", "stream", "stream_options", "tools", "messages"}
    official = _body("openai-chat", context, options)
    assert official["prompt_cache_key"] == "s"
    limited = StreamOptions(max_output=100)
    there = _body("openai-chat", context, limited, base_url="http://127.0.0.1:8000/v1")
    assert there["max_tokens"] == 100
    assert _body("openai-chat", context, limited)["max_completion_tokens"] == 100


def test_the_answer_is_fitted_into_what_the_window_has_left() -> None:
    context = Context("", (_user("x" * 35_000),))
    body = _body(
        "anthropic-messages", context, StreamOptions(), context_window=16_000, max_output=8_000
    )
    assert 1024 <= body["max_tokens"] < 6_000
    small = _body(
        "anthropic-messages",
        Context("", (_user("hi"),)),
        StreamOptions(),
        context_window=16_000,
        max_output=8_000,
    )
    assert small["max_tokens"] == 8_000


def test_levels_are_fitted_to_the_model() -> None:
    levels = ("off", "low", "high")
    for asked, effort in (("minimal", "low"), ("medium", "high"), ("max", "high"), ("off", None)):
        options = StreamOptions(thinking=asked)  # type: ignore[arg-type]
        body = _body("openai-chat", Context("", (_user("hi"),)), options, thinking_levels=levels)
        assert body.get("reasoning_effort") == effort


def test_reasoning_goes_back_in_the_field_it_came_in() -> None:
    api = "openai-chat"
    answer = _answer(api, Thinking("deep", "reasoning_content"), Text("hi"))
    context = Context("", (_user("a"), answer, _user("b")))
    assert _body(api, context, StreamOptions())["messages"][1]["reasoning_content"] == "deep"
    refused = _body(api, context, StreamOptions(), quirks={"replay_reasoning": False})
    assert "reasoning_content" not in refused["messages"][1]
    foreign = _body(api, context, StreamOptions(), id="another")
    assert foreign["messages"][1] == {"role": "assistant", "content": "hi"}


def test_reasoning_items_are_replayed_only_sealed() -> None:
    api = "openai-responses"
    sealed = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j"}
    bare = {"type": "reasoning", "id": "rs_2", "summary": []}
    answer = _answer(
        api, Thinking("", json.dumps(sealed)), Thinking("x", json.dumps(bare)), Text("hi")
    )
    body = _body(api, Context("", (_user("a"), answer)), StreamOptions())
    assert body["input"][1] == sealed
    assert body["input"][2] == {"role": "assistant", "content": "hi"}


def test_mistral_ids_have_nine_characters_and_stay_paired() -> None:
    api = "openai-chat"
    body = _body(api, Context("", _rich(api)), StreamOptions(), quirks={"id_rule": "mistral"})
    calls = [call["id"] for m in body["messages"] for call in m.get("tool_calls", ())]
    results = [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"]
    assert calls == results
    assert all(len(call_id) == 9 and call_id.isalnum() for call_id in calls)


def test_google_needs_no_signature_for_what_another_model_called() -> None:
    """Gemini 3 refuses an unsigned first call, unless it is told to let it pass."""
    api = "google-generate"
    calls = (ToolCall("a", "read", {}), ToolCall("b", "read", {}))
    foreign = _answer("openai-chat", *calls)
    body = _body(api, Context("", (_user("go"), foreign)), StreamOptions())
    first, second = body["contents"][1]["parts"]
    assert first["thoughtSignature"] == "skip_thought_signature_validator"
    assert "thoughtSignature" not in second
    old = _body(api, Context("", (_user("go"), foreign)), StreamOptions(), id="gemini-2.5-pro")
    assert "thoughtSignature" not in old["contents"][1]["parts"][0]


def test_details_never_reach_a_request() -> None:
    secret = {"diff": "SECRET"}
    for api in APIS:
        answer = _answer(api, ToolCall("a", "read", {}))
        result = ToolResultMessage(
            tool_call_id="a", tool_name="read", content=(Text("ok"),), details=secret, timestamp=1
        )
        body = _body(api, Context("", (_user("go"), answer, result)), StreamOptions())
        assert "SECRET" not in json.dumps(body)


def test_anthropic_does_not_think_on_from_a_call_that_another_model_made() -> None:
    api = "anthropic-messages"
    foreign = _answer("openai-chat", ToolCall("a", "read", {}))
    context = Context("", (_user("go"), foreign, _result("a", Text("x"))))
    options = StreamOptions(thinking="high")
    assert "thinking" not in _body(api, context, options, id="claude-sonnet-4-5")
    own = AssistantMessage(
        content=(Thinking("hm", "c2ln"), ToolCall("a", "read", {})),
        api=api,
        provider="anthropic",
        model="claude-sonnet-4-5",
        timestamp=1,
    )
    context = Context("", (_user("go"), own, _result("a", Text("x"))))
    assert "thinking" in _body(api, context, options, id="claude-sonnet-4-5")


def test_anthropic_keeps_thinking_when_the_model_itself_called_without() -> None:
    """Each switch between thinking and not thinking would lose the provider's cache."""
    api = "anthropic-messages"
    options = StreamOptions(thinking="high")
    calls = [_answer(api, ToolCall(name, "read", {})) for name in "ab"]
    asked = (_user("go"), calls[0], _result("a", Text("x")))
    info = {"id": calls[0].model, "provider": calls[0].provider}
    quirks = {"thinking_format": "budget"}
    assert "thinking" in _body(api, Context("", asked), options, quirks=quirks, **info)
    foreign = (_user("go"), _answer("openai-chat", ToolCall("z", "read", {})), _result("z"))
    longer = (*foreign, calls[0], _result("a", Text("x")))
    # Off for as long as the calls go on that began without it.
    assert "thinking" not in _body(api, Context("", longer), options, quirks=quirks, **info)
    fresh = Context("", (*longer, calls[1], _result("b"), _user("and now?")))
    assert "thinking" in _body(api, fresh, options, quirks=quirks, **info)


@pytest.mark.parametrize("api", APIS)
def test_reasoning_never_ends_an_answer(api: str) -> None:
    """Every API refuses it: there, or because what it led to is missing."""
    thinking = Thinking("hm", _SIGNATURES[api])
    messages = (
        _user("go"),
        _answer(api, Text("Hi"), thinking),
        _user("and?"),
        _answer(api, thinking),
        _user("so?"),
    )
    text = json.dumps(_body(api, Context("", messages), StreamOptions()))
    if api in {"anthropic-messages", "openai-responses"}:
        assert "hm" not in text
        assert "rs_1" not in text
    # What stands around an answer that was only reasoning becomes one message.
    assert text.count('"user"') == 2
