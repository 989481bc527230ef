"""Google's generateContent.

Quirks that a model's info may carry:

- ``thinking_format``: ``level`` or ``budget`` (default: by the model's version).
- ``efforts``: our levels to the provider's words (level only).
- ``budgets``: our levels to tokens (budget only).
- ``extra_body``: fields that are added to each request.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from sloyd.llm.api_names import is_own
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
from sloyd.llm.models import Context, ModelInfo, StreamOptions, ThinkingLevel
from sloyd.llm.thinking import fitted_level
from sloyd.llm.window import output_limit
from sloyd.llm.wires.base import Reader, WireRequest
from sloyd.llm.wires.google_reader import GoogleReader

__all__ = ["WIRE", "GoogleGenerate"]

_IDS = IdRule(allowed="[a-zA-Z0-9_-]", longest=64)
_VERSION = re.compile(r"gemini-(\d+)(?:\.(\d+))?")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_BUDGETS: dict[ThinkingLevel, int] = {
    "minimal": 512,
    "low": 2048,
    "medium": 8192,
    "high": 24576,
    "xhigh": 24576,
    "max": 24576,
}
_LEVELS: dict[ThinkingLevel, str] = {
    "minimal": "MINIMAL",
    "low": "LOW",
    "medium": "MEDIUM",
    "high": "HIGH",
    "xhigh": "HIGH",
    "max": "HIGH",
}
_NO_SIGNATURE = "skip_thought_signature_validator"
"""What Google's documentation says to send for a call that another model made."""


class GoogleGenerate:
    """The wire of ``POST /models/MODEL:streamGenerateContent``."""

    api = "google-generate"

    def payload(self, info: ModelInfo, context: Context, options: StreamOptions) -> WireRequest:
        """The request. What changes from turn to turn stands last, for the provider's cache."""
        body: dict[str, Any] = {}
        if context.system_prompt.strip():
            body["systemInstruction"] = {"parts": [{"text": context.system_prompt}]}
        if context.tools:
            declarations = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parametersJsonSchema": tool.parameters,
                }
                for tool in context.tools
            ]
            body["tools"] = [{"functionDeclarations": declarations}]
        config: dict[str, Any] = {}
        if options.max_output is not None:
            config["maxOutputTokens"] = output_limit(info, context, options)
        if options.temperature is not None:
            config["temperature"] = options.temperature
        thinking = _thinking(info, options)
        if thinking:
            config["thinkingConfig"] = thinking
        if config:
            body["generationConfig"] = config
        body.update(info.quirks.get("extra_body", {}))
        body["contents"] = _contents(info, context)
        model = info.id if "/" in info.id else f"models/{info.id}"
        return WireRequest(f"/{model}:streamGenerateContent?alt=sse", body)

    def authorization(self, info: ModelInfo, key: str) -> Mapping[str, str]:
        return {"x-goog-api-key": key}

    def reader(self, info: ModelInfo, taken_ids: Collection[str] = ()) -> Reader:
        return GoogleReader(info, taken_ids)


WIRE = GoogleGenerate()


def _version(model_id: str) -> tuple[int, int]:
    match = _VERSION.search(model_id.lower())
    return (int(match.group(1)), int(match.group(2) or 0)) if match else (0, 0)


def _thinking(info: ModelInfo, options: StreamOptions) -> dict[str, Any]:
    level = fitted_level(info, options.thinking)
    style = info.quirks.get("thinking_format")
    if style is None:
        style = "level" if _version(info.id) >= (3, 0) else "budget"
    if level == "off":
        # From 2.5 on they think unless they are told not to; some cannot but think a little.
        if _version(info.id) < (2, 5) or style == "none" or len(info.thinking_levels) < 2:
            return {}
        return {"thinkingBudget": 0} if style == "budget" else {"thinkingLevel": _least(info)}
    if style == "level":
        word = info.quirks.get("efforts", _LEVELS).get(level, "HIGH")
        return {"includeThoughts": True, "thinkingLevel": word}
    budget = info.quirks.get("budgets", _BUDGETS).get(level, -1)
    return {"includeThoughts": True, "thinkingBudget": budget}


def _least(info: ModelInfo) -> str:
    """The word for the lowest level that the model accepts."""
    levels = [level for level in _LEVELS if level in info.thinking_levels]
    word: str = info.quirks.get("efforts", _LEVELS).get(levels[0], _LEVELS[levels[0]])
    return word


def _contents(info: ModelInfo, context: Context) -> list[dict[str, Any]]:
    modern = _version(info.id) >= (3, 0)
    contents: list[dict[str, Any]] = []
    for item in mend(context.messages, info, _IDS):
        if isinstance(item, UserMessage):
            parts = [_part(block) for block in item.blocks]
            contents.append({"role": "user", "parts": parts})
        else:
            contents += _turn(item, info, modern=modern)
    return contents


def _turn(turn: Turn, info: ModelInfo, *, modern: bool) -> list[dict[str, Any]]:
    answer = turn.answer
    own = is_own(answer, info)
    parts: list[dict[str, Any]] = []
    first_call = True
    for block in answer.content:
        match block:
            case Text():
                parts.append(_signed({"text": block.text}, block.text_signature))
            case Thinking():
                part = {"text": block.thinking, "thought": True}
                parts.append(_signed(part, block.thinking_signature))
            case ToolCall():
                call: dict[str, Any] = {"name": block.name, "args": block.arguments}
                if modern:
                    call["id"] = block.id
                signature = block.thought_signature
                if modern and first_call and not own:
                    signature = _NO_SIGNATURE
                first_call = False
                parts.append(_signed({"functionCall": call}, signature))
    contents = [{"role": "model", "parts": parts}] if parts else []
    if turn.results:
        responses = [_response(result, modern=modern) for result in turn.results]
        contents.append({"role": "user", "parts": responses})
        pictures = [] if modern else _pictures(turn)
        if pictures:
            contents.append({"role": "user", "parts": pictures})
    return contents


def _response(result: ToolResultMessage, *, modern: bool) -> dict[str, Any]:
    images = [block for block in result.content if isinstance(block, Image)]
    text = "\n".join(block.text for block in result.content if isinstance(block, Text))
    key = "error" if result.is_error else "output"
    response: dict[str, Any] = {
        "name": result.tool_name,
        "response": {key: text or "(see the attached image)"},
    }
    if modern:
        response["id"] = result.tool_call_id
        if images:
            response["parts"] = [_part(image) for image in images]
    return {"functionResponse": response}


def _pictures(turn: Turn) -> list[dict[str, Any]]:
    """Images for models that take none inside a function's response."""
    parts: list[dict[str, Any]] = []
    for result in turn.results:
        images = [block for block in result.content if isinstance(block, Image)]
        if images:
            caption = f"Image from the result of the tool call {result.tool_call_id}"
            parts.append({"text": f"{caption} ({result.tool_name}):"})
            parts += [_part(image) for image in images]
    return parts


def _signed(part: dict[str, Any], signature: str | None) -> dict[str, Any]:
    """A signature must stand on the part it came with, and be base64."""
    if signature and len(signature) % 4 == 0 and _BASE64.fullmatch(signature):
        part["thoughtSignature"] = signature
    return part


def _part(block: UserContent) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"text": block.text}
    return {"inlineData": {"mimeType": block.mime_type, "data": block.data}}
