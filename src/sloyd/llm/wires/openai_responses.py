"""OpenAI's responses API, without state on the server: each request carries the conversation.

Quirks that a model's info may carry:

- ``efforts``: our levels to the provider's words; ``off`` is sent only when it has a word.
- ``cache_key``: send ``prompt_cache_key`` (default: only to OpenAI itself).
- ``extra_body``: fields that are added to each request.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from sloyd.llm.context import IdRule, Turn, mend
from sloyd.llm.messages import (
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from sloyd.llm.models import Context, ModelInfo, StreamOptions
from sloyd.llm.thinking import fitted_level
from sloyd.llm.window import output_limit
from sloyd.llm.wires.base import Reader, WireRequest, host_of
from sloyd.llm.wires.decoding import json_text
from sloyd.llm.wires.openai_chat import ERROR_MARK
from sloyd.llm.wires.openai_responses_reader import OpenAIResponsesReader

__all__ = ["WIRE", "OpenAIResponses"]

_IDS = IdRule(allowed="[a-zA-Z0-9_-]", longest=64)
_LONGEST_ITEM_ID = 64
_LEAST_OUTPUT = 16
"""The API refuses a smaller ``max_output_tokens``."""


class OpenAIResponses:
    """The wire of ``POST /responses``."""

    api = "openai-responses"

    def payload(self, info: ModelInfo, context: Context, options: StreamOptions) -> WireRequest:
        """The request. What changes from turn to turn stands last, for the provider's cache."""
        official = host_of(info.base_url) == "api.openai.com"
        body: dict[str, Any] = {"model": info.id, "stream": True, "store": False}
        if options.session_id and info.quirks.get("cache_key", official):
            body["prompt_cache_key"] = options.session_id[:64]
        if options.max_output is not None:
            body["max_output_tokens"] = max(_LEAST_OUTPUT, output_limit(info, context, options))
        if options.temperature is not None:
            body["temperature"] = options.temperature
        level = fitted_level(info, options.thinking)
        effort = info.quirks.get("efforts", {}).get(level, level)
        if level == "off" and effort != "off":
            body["reasoning"] = {"effort": effort}
        elif level != "off":
            body["reasoning"] = {"effort": effort, "summary": "auto"}
            # Nothing is stored there, so the reasoning has to come along, sealed.
            body["include"] = ["reasoning.encrypted_content"]
        if context.system_prompt.strip():
            body["instructions"] = context.system_prompt
        if context.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                    "strict": False,
                }
                for tool in context.tools
            ]
        body.update(info.quirks.get("extra_body", {}))
        items: list[dict[str, Any]] = []
        for item in mend(context.messages, info, _IDS):
            if isinstance(item, UserMessage):
                items.append({"role": "user", "content": _parts(item.content)})
            else:
                items += _turn(item, official=official)
        body["input"] = items
        return WireRequest("/responses", body)

    def authorization(self, info: ModelInfo, key: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {key}"}

    def reader(self, info: ModelInfo, taken_ids: Collection[str] = ()) -> Reader:
        return OpenAIResponsesReader(info, taken_ids)


WIRE = OpenAIResponses()


def _turn(turn: Turn, *, official: bool) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for block in turn.answer.content:
        match block:
            case Text():
                items.append(_text(block))
            case Thinking():
                reasoning = _reasoning(block, official=official)
                if reasoning is not None:
                    items.append(reasoning)
            case ToolCall():
                items.append(
                    {
                        "type": "function_call",
                        "call_id": block.id,
                        "name": block.name,
                        "arguments": json_text(block.arguments),
                    }
                )
    # Reasoning has to be followed by what it led to.
    while items and items[-1].get("type") == "reasoning":
        items.pop()
    return items + [_result(result) for result in turn.results]


def _text(block: Text) -> dict[str, Any]:
    signature = _signature(block.text_signature)
    item_id = signature.get("id")
    if not isinstance(item_id, str) or not 0 < len(item_id) <= _LONGEST_ITEM_ID:
        return {"role": "assistant", "content": block.text}
    item = {
        "type": "message",
        "id": item_id,
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": block.text, "annotations": []}],
    }
    if signature.get("phase"):
        item["phase"] = signature["phase"]
    return item


def _signature(signature: str | None) -> dict[str, Any]:
    """What `openai_responses_reader` noted about a text; sessions of pi may hold the bare id."""
    if not signature:
        return {}
    if not signature.startswith("{"):
        return {"id": signature}
    try:
        return msgspec.json.decode(signature, type=dict[str, Any])
    except msgspec.MsgspecError:
        return {}


def _reasoning(block: Thinking, *, official: bool) -> dict[str, Any] | None:
    """The reasoning item as it came, or None when the server could not read it again."""
    if not block.thinking_signature or not block.thinking_signature.startswith("{"):
        return None
    try:
        item = msgspec.json.decode(block.thinking_signature, type=dict[str, Any])
    except msgspec.MsgspecError:
        return None
    # An unsealed item is only a name of something that OpenAI did not keep.
    if item.get("type") != "reasoning" or (official and not item.get("encrypted_content")):
        return None
    made = {"type": "reasoning", "id": "", "summary": _reasons(item.get("summary"), "summary_text")}
    made |= {
        key: item[key] for key in ("id", "encrypted_content") if isinstance(item.get(key), str)
    }
    content = _reasons(item.get("content"), "reasoning_text")
    return {**made, "content": content} if content else made


def _reasons(parts: Any, kind: str) -> list[dict[str, str]]:
    """The parts of a reasoning item that the API will take back."""
    return [
        {"type": kind, "text": part["text"]}
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]


def _result(result: ToolResultMessage) -> dict[str, Any]:
    blocks = result.content
    if result.is_error:
        blocks = (Text(ERROR_MARK), *blocks)
    output: str | list[dict[str, Any]] = _parts(blocks)
    if all(isinstance(block, Text) for block in blocks):
        output = "\n".join(block.text for block in blocks if isinstance(block, Text))
    return {
        "type": "function_call_output",
        "call_id": result.tool_call_id,
        "output": output,
    }


def _parts(content: str | tuple[UserContent, ...]) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "input_text", "text": content}]
    return [_image(b) if isinstance(b, Image) else _input_text(b) for b in content]


def _input_text(block: Text) -> dict[str, Any]:
    return {"type": "input_text", "text": block.text}


def _image(image: Image) -> dict[str, Any]:
    url = f"data:{image.mime_type};base64,{image.data}"
    return {"type": "input_image", "detail": "auto", "image_url": url}
