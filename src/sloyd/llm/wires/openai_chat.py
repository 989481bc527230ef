"""OpenAI chat completions, as OpenAI and the many servers that imitate it speak it.

Quirks that a model's info may carry:

- ``max_tokens_field``: ``max_tokens`` or ``max_completion_tokens`` (default: by host).
- ``send_max_tokens``: always ask for the model's limit, where a server's own default is small.
- ``stream_usage``: false where ``stream_options`` is refused.
- ``thinking_format``: ``openai`` (``reasoning_effort``), ``openrouter``, ``thinking-type``
  (DeepSeek, Z.ai), ``reasoning-enabled`` (Together), ``enable-thinking`` (Qwen),
  ``chat-template`` or ``none``.
- ``efforts``: our levels to the provider's words; ``off`` is sent only when it has a word.
- ``replay_reasoning``: false where reasoning that is sent back is refused.
- ``cache_key``: send ``prompt_cache_key`` (default: only to OpenAI itself).
- ``cache_markers``: mark the stable part as Anthropic's models want it (OpenRouter, LiteLLM).
- ``id_rule``: ``mistral`` for ids of exactly nine letters and digits.
- ``assistant_after_tool``: a user message may not follow a tool message.
- ``extra_body``: fields that are added to each request.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from sloyd.llm.context import ANY_ID, IdRule, Turn, mend
from sloyd.llm.messages import (
    AssistantMessage,
    Image,
    Text,
    Thinking,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from sloyd.llm.models import Context, ModelInfo, StreamOptions
from sloyd.llm.thinking import fitted_level
from sloyd.llm.window import output_limit
from sloyd.llm.wires.base import Reader, WireRequest, host_of
from sloyd.llm.wires.decoding import json_text
from sloyd.llm.wires.openai_chat_reader import REASONING_FIELDS, OpenAIChatReader

__all__ = ["ERROR_MARK", "WIRE", "OpenAIChat"]

ERROR_MARK = "[The tool call failed.]"
"""The first line of an error result: this API has no flag for it."""
_CACHE = {"type": "ephemeral"}
_ONLY_IMAGE = "(see the attached image)"
_ID_RULES = {
    "openai": IdRule(longest=40),
    "mistral": IdRule(allowed="[A-Za-z0-9]", longest=9, exact=True),
}


class OpenAIChat:
    """The wire of ``POST /chat/completions``."""

    api = "openai-chat"

    def payload(self, info: ModelInfo, context: Context, options: StreamOptions) -> WireRequest:
        """The request. What changes from turn to turn stands last, for the provider's cache."""
        quirks = info.quirks
        official = host_of(info.base_url) == "api.openai.com"
        body: dict[str, Any] = {"model": info.id, "stream": True}
        if quirks.get("stream_usage", True):
            body["stream_options"] = {"include_usage": True}
        if options.session_id and quirks.get("cache_key", official):
            body["prompt_cache_key"] = options.session_id[:64]
        if options.max_output is not None or quirks.get("send_max_tokens"):
            default = "max_completion_tokens" if official else "max_tokens"
            limit = output_limit(info, context, options)
            body[quirks.get("max_tokens_field", default)] = limit
        if options.temperature is not None:
            body["temperature"] = options.temperature
        body.update(_thinking(info, options))
        if context.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.parameters,
                    },
                }
                for tool in context.tools
            ]
        body.update(quirks.get("extra_body", {}))
        body["messages"] = _messages(info, context)
        if quirks.get("cache_markers"):
            _mark(body)
        return WireRequest("/chat/completions", body)

    def authorization(self, info: ModelInfo, key: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {key}"}

    def reader(self, info: ModelInfo, taken_ids: Collection[str] = ()) -> Reader:
        return OpenAIChatReader(info, taken_ids)


WIRE = OpenAIChat()


def _mark(body: dict[str, Any]) -> None:
    """Mark the ends of the tools, the system prompt and the conversation for the cache.

    All texts become parts, so that a message keeps its form when the mark moves on.
    """
    if body.get("tools"):
        body["tools"][-1]["cache_control"] = _CACHE
    messages = body["messages"]
    for message in messages:
        if message["role"] != "assistant":
            message["content"] = _as_parts(message["content"])
    for message in (messages[0], messages[-1]):
        if message["role"] != "assistant":
            message["content"][-1] = {**message["content"][-1], "cache_control": _CACHE}


def _thinking(info: ModelInfo, options: StreamOptions) -> dict[str, Any]:
    level = fitted_level(info, options.thinking)
    style = info.quirks.get("thinking_format", "openai")
    effort = info.quirks.get("efforts", {}).get(level, level)
    thinks = len(info.thinking_levels) > 1
    match style:
        case "openai" if level != "off" or effort != "off":
            return {"reasoning_effort": effort}
        case "openrouter" if level != "off":
            return {"reasoning": {"effort": effort}}
        case "openrouter" | "reasoning-enabled" if thinks:
            return {"reasoning": {"enabled": level != "off"}}
        case "thinking-type" if thinks:
            return {"thinking": {"type": "disabled" if level == "off" else "enabled"}}
        case "enable-thinking" if thinks:
            return {"enable_thinking": level != "off"}
        case "chat-template" if thinks:
            return {"chat_template_kwargs": {"enable_thinking": level != "off"}}
        case _:
            return {}


def _messages(info: ModelInfo, context: Context) -> list[dict[str, Any]]:
    rule = info.quirks.get("id_rule")
    official = host_of(info.base_url) == "api.openai.com"
    ids = _ID_RULES[rule] if rule else _ID_RULES["openai"] if official else ANY_ID
    messages: list[dict[str, Any]] = []
    if context.system_prompt.strip():
        messages.append({"role": "system", "content": context.system_prompt})
    for item in mend(context.messages, info, ids):
        if isinstance(item, UserMessage):
            _add_user(messages, _parts(item.content), info)
        else:
            _add_turn(messages, item, info)
    return messages


def _add_user(
    messages: list[dict[str, Any]], parts: str | list[dict[str, Any]], info: ModelInfo
) -> None:
    last = messages[-1] if messages else None
    if last is not None and last["role"] == "user":
        # Many chat templates refuse two user messages in a row.
        last["content"] = [*_as_parts(last["content"]), *_as_parts(parts)]
        return
    if last is not None and last["role"] == "tool" and info.quirks.get("assistant_after_tool"):
        messages.append({"role": "assistant", "content": "I have read the tool results."})
    messages.append({"role": "user", "content": parts})


def _add_turn(messages: list[dict[str, Any]], turn: Turn, info: ModelInfo) -> None:
    messages.append(_answer(turn.answer, info))
    pictures: list[dict[str, Any]] = []
    for result in turn.results:
        messages.append(_result(result))
        images = [block for block in result.content if isinstance(block, Image)]
        if images:
            caption = f"Image from the result of the tool call {result.tool_call_id}"
            pictures.append({"type": "text", "text": f"{caption} ({result.tool_name}):"})
            pictures += [_image(image) for image in images]
    if pictures:
        # Tool messages hold text only and must stay together, so the images come after them.
        _add_user(messages, pictures, info)


def _answer(answer: AssistantMessage, info: ModelInfo) -> dict[str, Any]:
    texts = [block.text for block in answer.content if isinstance(block, Text)]
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "\n".join(texts) if texts else None,
    }
    if info.quirks.get("replay_reasoning", True):
        message.update(_reasoning(answer))
    calls = answer.tool_calls
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": json_text(call.arguments),
                },
            }
            for call in calls
        ]
    elif not texts:
        message["content"] = ""
    return message


def _reasoning(answer: AssistantMessage) -> dict[str, Any]:
    """Reasoning in the field in which it came; no other field would be understood."""
    fields: dict[str, Any] = {}
    for block in answer.content:
        if not isinstance(block, Thinking) or not block.thinking_signature:
            continue
        if block.thinking_signature in REASONING_FIELDS:
            earlier = fields.get(block.thinking_signature)
            text = block.thinking
            fields[block.thinking_signature] = f"{earlier}\n{text}" if earlier else text
        elif block.thinking_signature.startswith("[{"):
            with contextlib.suppress(msgspec.MsgspecError):
                details = msgspec.json.decode(block.thinking_signature, type=list[Any])
                fields["reasoning_details"] = [*fields.get("reasoning_details", ()), *details]
    return fields


def _result(result: ToolResultMessage) -> dict[str, Any]:
    texts = [block.text for block in result.content if isinstance(block, Text)]
    text = "\n".join(texts) or _ONLY_IMAGE
    return {
        "role": "tool",
        "tool_call_id": result.tool_call_id,
        "content": f"{ERROR_MARK}\n{text}" if result.is_error else text,
    }


def _parts(content: str | tuple[UserContent, ...]) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return content
    if len(content) == 1 and isinstance(content[0], Text):
        return content[0].text
    return [
        _image(block) if isinstance(block, Image) else {"type": "text", "text": block.text}
        for block in content
    ]


def _as_parts(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _image(image: Image) -> dict[str, Any]:
    return {
        "type": "image_url",
        "image_url": {"url": f"data:{image.mime_type};base64,{image.data}"},
    }
