"""The stream of chat completions, in all the spellings that servers give it.

What differs most is how a call's pieces find each other: by index, by id, by neither. See `_slot`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import msgspec

from sloyd.errors import ProviderError
from sloyd.llm.building import CallBlock, ThinkingBlock
from sloyd.llm.events import StreamEvent
from sloyd.llm.messages import StopReason, Usage
from sloyd.llm.models import ModelInfo
from sloyd.llm.sse import SseEvent
from sloyd.llm.wires.base import Reader

__all__ = ["REASONING_FIELDS", "OpenAIChatReader"]

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")
"""Where servers put reasoning. Some fill two of them with the same text: the first one counts."""
_STOP_REASONS: dict[str, StopReason] = {
    "stop": "stop",
    "end": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "tool_calls": "toolUse",
    "tool_use": "toolUse",
    "function_call": "toolUse",
}


@dataclass(slots=True, eq=False)
class _Slot:
    """A call and the id that the server gave it, which may not be the one that we use."""

    block: CallBlock
    given_id: str


class OpenAIChatReader(Reader):
    """Reads ``chat.completion.chunk`` objects."""

    def __init__(self, info: ModelInfo, taken_ids: Collection[str] = ()) -> None:
        super().__init__(info, taken_ids)
        self._by_index: dict[int, _Slot] = {}
        self._by_id: dict[str, _Slot] = {}
        self._last: _Slot | None = None
        self._finish: str | None = None
        self._done_seen = False
        self._details: list[dict[str, Any]] = []
        self._details_block: ThinkingBlock | None = None

    def feed(self, event: SseEvent) -> list[StreamEvent]:
        if event.data.strip() == "[DONE]":
            self._done_seen = True
        return super().feed(event)

    def read(self, name: str, data: dict[str, Any]) -> list[StreamEvent]:
        choices = data.get("choices")
        if data.get("error") or (not choices and _is_error(name, data)):
            from sloyd.llm.failures import failure_of

            return self.builder.failed(failure_of(None, data))
        events = self.builder.start()
        if isinstance(data.get("id"), str) and data["id"]:
            self.builder.response_id = data["id"]
        self._read_usage(data.get("usage"))
        choice = choices[0] if isinstance(choices, list) and choices else None
        if isinstance(choice, dict):
            self._read_usage(choice.get("usage"))
            delta = choice.get("delta") or choice.get("message")
            if isinstance(delta, dict):
                events += self._delta(delta)
            reason = choice.get("finish_reason")
            if isinstance(reason, str) and reason:
                self._finish = reason
                self.answered = True
        return events

    def end(self) -> list[StreamEvent]:
        reason = self._finish
        if reason is None:
            if not self._done_seen:
                return self.ended_early()
            reason = "stop"
        if self._details and self._details_block is not None:
            self._details_block.signature = msgspec.json.encode(self._details).decode()
        if reason in {"content_filter", "refusal", "sensitive"}:
            return self.builder.failed(
                ProviderError("The provider's filter stopped the answer.", problem="content"),
                raw=reason,
            )
        if reason in {"error", "network_error", "insufficient_system_resource"}:
            return self.builder.failed(
                ProviderError(
                    f"The provider broke the answer off: {reason}.",
                    problem="server",
                    retryable=True,
                ),
                raw=reason,
            )
        known = _STOP_REASONS.get(reason)
        return self.builder.done(known or "stop", raw=None if known else reason)

    def _delta(self, delta: dict[str, Any]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for field in REASONING_FIELDS:
            piece = delta.get(field)
            if isinstance(piece, str) and piece:
                events += self.builder.thinking(piece, field)
                break
        details = delta.get("reasoning_details")
        if isinstance(details, list):
            self._add_details(details)
        content = delta.get("content")
        if isinstance(content, str):
            events += self.builder.text(content)
        elif isinstance(content, list):
            events += self._parts(content)
        refusal = delta.get("refusal")
        if isinstance(refusal, str):
            events += self.builder.text(refusal)
        calls = delta.get("tool_calls")
        if isinstance(calls, dict):
            calls = [calls]
        if isinstance(calls, list):
            for call in calls:
                if isinstance(call, dict):
                    events += self._call(call)
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            events += self._call({"index": 0, "function": legacy})
        return events

    def _parts(self, content: list[Any]) -> list[StreamEvent]:
        """Content as a list of parts, which is how Mistral streams reasoning."""
        events: list[StreamEvent] = []
        for part in content:
            if not isinstance(part, dict):
                continue
            if isinstance(part.get("text"), str):
                events += self.builder.text(part["text"])
            inner = part.get("thinking")
            if isinstance(inner, str):
                events += self.builder.thinking(inner)
            elif isinstance(inner, list):
                for piece in inner:
                    if isinstance(piece, dict) and isinstance(piece.get("text"), str):
                        events += self.builder.thinking(piece["text"])
        return events

    def _add_details(self, details: list[Any]) -> None:
        """OpenRouter's reasoning items, which it wants back as they came."""
        if self._details_block is None:
            last = self.builder.last_thinking()
            self._details_block = last or self.builder.open_thinking()
        for item in details:
            if not isinstance(item, dict):
                continue
            last_item = self._details[-1] if self._details else None
            same = last_item is not None and all(
                item.get(key) == last_item.get(key) for key in ("type", "index")
            )
            if same and last_item is not None:
                for key, value in item.items():
                    if key in {"text", "summary", "data"} and isinstance(value, str):
                        last_item[key] = (last_item.get(key) or "") + value
                    elif value is not None:
                        last_item[key] = value
            else:
                self._details.append(dict(item))

    def _call(self, call: dict[str, Any]) -> list[StreamEvent]:
        function = call.get("function")
        if not isinstance(function, dict):
            function = call
        name = function.get("name")
        name = name if isinstance(name, str) and name.strip().lower() != "null" else ""
        call_id = call.get("id")
        call_id = call_id.strip() if isinstance(call_id, str) else ""
        arguments = function.get("arguments")
        slot = self._slot(_index(call.get("index")), call_id, name, has_text=bool(arguments))
        events: list[StreamEvent] = []
        if slot is None:
            block, events = self.builder.open_call(call_id, name)
            slot = _Slot(block, call_id)
        else:
            events = self.builder.name_call(slot.block, call_id, name)
            slot.given_id = slot.given_id or call_id
        self._remember(slot, _index(call.get("index")))
        if isinstance(arguments, str):
            return events + self.builder.add_arguments(slot.block, arguments)
        if isinstance(arguments, dict) and not slot.block.pieces.parts:
            slot.block.given = arguments
        elif arguments is not None:
            text = msgspec.json.encode(arguments).decode()
            events += self.builder.add_arguments(slot.block, text)
        return events

    def _remember(self, slot: _Slot, index: int | None) -> None:
        self._last = slot
        if index is not None:
            self._by_index[index] = slot
        if slot.given_id:
            self._by_id[slot.given_id] = slot

    def _slot(self, index: int | None, call_id: str, name: str, *, has_text: bool) -> _Slot | None:
        """The call that a piece belongs to, or None when it begins a new one.

        - A known id belongs to its call, a new index begins one.
        - Under the index of an open call (or without an index) a name with another id, or a name
          with arguments, begins a new call once the open one is whole JSON: servers there are that
          give every call the index 0.
        - Another id alone does not: gateways change ids in mid-stream.
        """
        if call_id and call_id in self._by_id:
            return self._by_id[call_id]
        if index is not None:
            slot = self._by_index.get(index)
            if slot is None:
                return None
        else:
            slot = self._last
            if slot is None:
                return None
            if call_id and name and slot.given_id:
                return None
        if not name:
            return slot
        other_id = bool(call_id and slot.given_id and call_id != slot.given_id)
        other_name = name.strip() != slot.block.name and bool(slot.block.name)
        if other_id and (other_name or _is_whole(slot.block)):
            return None
        if not call_id and has_text and _is_whole(slot.block):
            return None
        return slot

    def _read_usage(self, usage: Any) -> None:
        if not isinstance(usage, dict):
            return
        prompt, output = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
        details = usage.get("prompt_tokens_details")
        details = details if isinstance(details, dict) else {}
        cached = _count(details, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens")
        written = _count(details, "cache_write_tokens")
        if not (prompt or output):
            return
        self.builder.usage = Usage(
            input=max(0, prompt - cached - written),
            output=output,
            cache_read=cached,
            cache_write=written,
            total_tokens=prompt + output,
        )


def _is_error(name: str, data: dict[str, Any]) -> bool:
    if name == "error" or data.get("object") == "error" or data.get("type") == "error":
        return True
    return "choices" not in data and any(
        isinstance(data.get(key), str) and data[key] for key in ("message", "detail")
    )


def _is_whole(block: CallBlock) -> bool:
    """Whether the arguments so far are one whole JSON object."""
    if block.given is not None:
        return True
    parts = block.pieces.parts
    if not parts or not parts[-1].rstrip().endswith("}"):
        return False
    try:
        msgspec.json.decode(block.pieces.joined())
    except msgspec.DecodeError:
        return False
    return True


def _index(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and value.isdigit() else None


def _count(usage: dict[str, Any], key: str) -> int:
    value = usage.get(key)
    return int(value) if isinstance(value, (int, float)) and value > 0 else 0
