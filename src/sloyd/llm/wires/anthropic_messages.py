"""Anthropic's messages API, and the servers that imitate it.

Quirks that a model's info may carry:

- ``thinking_format``: ``adaptive``, ``budget`` or ``none`` (default: by the model's version).
- ``efforts``: our levels to the provider's words (adaptive only).
- ``budgets``: our levels to tokens (budget only).
- ``unsigned_thinking``: send reasoning without a signature back, with an empty one (default: to
  servers other than Anthropic's own, which refuses it).
- ``cache_markers``: false where ``cache_control`` is refused.
- ``bearer``: send the key as a bearer token.
- ``extra_body``: fields that are added to each request.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from sloyd.llm.api_names import is_own
from sloyd.llm.context import IdRule, Turn, mend
from sloyd.llm.messages import (
    AssistantMessage,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from sloyd.llm.models import Context, ModelInfo, StreamOptions, ThinkingLevel
from sloyd.llm.thinking import fitted_level
from sloyd.llm.window import output_limit
from sloyd.llm.wires.anthropic_reader import AnthropicReader
from sloyd.llm.wires.base import Reader, WireRequest, host_of

__all__ = ["WIRE", "AnthropicMessages"]

_IDS = IdRule(allowed="[a-zA-Z0-9_-]", longest=64)
_CACHE = {"type": "ephemeral"}
_VERSION = re.compile(r"claude-(?:[a-z]+-)*(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_BUDGETS: dict[ThinkingLevel, int] = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16384,
    "xhigh": 32768,
    "max": 65536,
}
_LEAST_BUDGET = 1024
_EFFORTS: dict[ThinkingLevel, str] = {"minimal": "low"}
_OAUTH_PREFIX = "sk-ant-oat"


class AnthropicMessages:
    """The wire of ``POST /v1/messages``."""

    api = "anthropic-messages"

    def payload(self, info: ModelInfo, context: Context, options: StreamOptions) -> WireRequest:
        """The request: what stays the same first, and cache markers where the stable part ends."""
        limit = output_limit(info, context, options)
        body: dict[str, Any] = {"model": info.id, "stream": True, "max_tokens": limit}
        thinking = _thinking(info, options, limit)
        body.update(thinking)
        if options.temperature is not None and "thinking" not in thinking:
            # With reasoning on, the API accepts no temperature but its own.
            body["temperature"] = options.temperature
        marks = bool(info.quirks.get("cache_markers", True))
        if context.tools:
            body["tools"] = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.parameters,
                }
                for tool in context.tools
            ]
            if marks:
                body["tools"][-1]["cache_control"] = _CACHE
        if context.system_prompt.strip():
            system: dict[str, Any] = {"type": "text", "text": context.system_prompt}
            if marks:
                system["cache_control"] = _CACHE
            body["system"] = [system]
        body.update(info.quirks.get("extra_body", {}))
        items = mend(context.messages, info, _IDS)
        body["messages"] = _messages(info, items)
        if marks:
            _mark_last_user(body["messages"])
        budgeted = thinking.get("thinking", {}).get("type") == "enabled"
        if budgeted and _is_unthought(items, info):
            del body["thinking"]
            budgeted = False
        path = "/messages" if info.base_url.rstrip("/").endswith("/v1") else "/v1/messages"
        headers = {"anthropic-version": "2023-06-01"}
        if budgeted and context.tools:
            headers["anthropic-beta"] = "interleaved-thinking-2025-05-14"
        return WireRequest(path, body, headers)

    def authorization(self, info: ModelInfo, key: str) -> Mapping[str, str]:
        if info.quirks.get("bearer") or key.startswith(_OAUTH_PREFIX):
            return {"authorization": f"Bearer {key}"}
        return {"x-api-key": key}

    def reader(self, info: ModelInfo, taken_ids: Collection[str] = ()) -> Reader:
        return AnthropicReader(info, taken_ids)


WIRE = AnthropicMessages()


def _thinking(info: ModelInfo, options: StreamOptions, limit: int) -> dict[str, Any]:
    level = fitted_level(info, options.thinking)
    if level == "off":
        return {}
    style = info.quirks.get("thinking_format") or _style_of(info.id)
    if style == "adaptive":
        effort = info.quirks.get("efforts", _EFFORTS).get(level, level)
        return {
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": effort},
        }
    if style == "budget" and limit > 2 * _LEAST_BUDGET:
        budget = info.quirks.get("budgets", _BUDGETS).get(level, _BUDGETS["high"])
        # Reasoning counts as output, and something must be left for the answer.
        budget = max(_LEAST_BUDGET, min(budget, limit - _LEAST_BUDGET))
        return {"thinking": {"type": "enabled", "budget_tokens": budget}}
    return {}


def _style_of(model_id: str) -> str:
    """Models from 4.6 on decide themselves how long they think; before 3.7 none could think."""
    match = _VERSION.search(model_id.lower())
    if match is None:
        return "budget"
    version = (int(match.group(1)), int(match.group(2) or 0))
    if version >= (4, 6):
        return "adaptive"
    return "budget" if version >= (3, 7) else "none"


def _messages(info: ModelInfo, items: list[UserMessage | Turn]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for item in items:
        if isinstance(item, UserMessage):
            _add(messages, "user", [_block(block) for block in item.blocks])
        else:
            _add_turn(messages, item, info)
    return messages


def _add_turn(messages: list[dict[str, Any]], turn: Turn, info: ModelInfo) -> None:
    _add(messages, "assistant", _answer(turn.answer, info))
    results: list[dict[str, Any]] = []
    pictures: list[dict[str, Any]] = []
    for result in turn.results:
        results.append(_result(result))
        images = [block for block in result.content if isinstance(block, Image)]
        if result.is_error and images:
            # The content of an error result may be text only.
            caption = f"Image from the failed tool call {result.tool_call_id}"
            pictures.append({"type": "text", "text": f"{caption} ({result.tool_name}):"})
            pictures += [_block(image) for image in images]
    _add(messages, "user", results + pictures)


def _add(messages: list[dict[str, Any]], role: str, blocks: list[dict[str, Any]]) -> None:
    """Roles must take turns, so blocks of the same role go into one message."""
    if not blocks:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"] += blocks
    else:
        messages.append({"role": role, "content": blocks})


def _answer(answer: AssistantMessage, info: ModelInfo) -> list[dict[str, Any]]:
    own_host = host_of(info.base_url) == "api.anthropic.com"
    unsigned = info.quirks.get("unsigned_thinking", not own_host)
    blocks: list[dict[str, Any]] = []
    for block in answer.content:
        match block:
            case Text():
                if block.text.strip():
                    blocks.append({"type": "text", "text": block.text})
            case ToolCall():
                blocks.append(
                    {
                        "type": "tool_use",
                        "id": block.id,
                        "name": block.name,
                        "input": block.arguments,
                    }
                )
            case Thinking(redacted=True):
                blocks.append({"type": "redacted_thinking", "data": block.thinking_signature or ""})
            case Thinking():
                if block.thinking_signature or unsigned:
                    signature = block.thinking_signature or ""
                    blocks.append(
                        {"type": "thinking", "thinking": block.thinking, "signature": signature}
                    )
    # The API refuses reasoning at the end of an answer.
    while blocks and blocks[-1]["type"] in {"thinking", "redacted_thinking"}:
        blocks.pop()
    return blocks


def _result(result: ToolResultMessage) -> dict[str, Any]:
    blocks = [
        _block(block) for block in result.content if isinstance(block, Text) or not result.is_error
    ]
    content: str | list[dict[str, Any]] = blocks or "(see the attached image)"
    if len(blocks) == 1 and blocks[0]["type"] == "text":
        content = blocks[0]["text"]
    made: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": result.tool_call_id,
        "content": content,
    }
    if result.is_error:
        made["is_error"] = True
    return made


def _block(block: UserContent) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": block.mime_type, "data": block.data},
    }


def _is_unthought(items: list[UserMessage | Turn], info: ModelInfo) -> bool:
    """Whether another model made calls, without this one's reasoning, since the user last spoke.

    The API refuses to think on from there. What the model itself called without reasoning is fine,
    and to switch the reasoning off for that would lose the provider's cache.
    """
    for item in reversed(items):
        if isinstance(item, UserMessage):
            return False
        thought = isinstance(item.answer.content[0], Thinking)
        if item.results and not thought and not is_own(item.answer, info):
            return True
    return False


def _mark_last_user(messages: list[dict[str, Any]]) -> None:
    """The next request shares everything up to here, so the cache is written up to here."""
    for message in reversed(messages):
        if message["role"] == "user":
            message["content"][-1]["cache_control"] = _CACHE
            return
