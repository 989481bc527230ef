"""The stream of chat completions, in all the spellings that servers give it.

How a call's pieces find each other is told in `sloyd.llm.wires.openai_chat_calls`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sloyd.errors import ProviderError
from sloyd.llm.building import ThinkingBlock
from sloyd.llm.events import StreamEvent
from sloyd.llm.messages import StopReason, Usage
from sloyd.llm.models import ModelInfo
from sloyd.llm.wires.base import Reader
from sloyd.llm.wires.decoding import count, json_text
from sloyd.llm.wires.openai_chat_calls import ChatCalls

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
"""In lower case: servers in front of other vendors pass on ``STOP`` and ``MAX_TOKENS``."""
_REFUSED = frozenset({"content_filter", "refusal", "sensitive", "safety", "prohibited_content"})
_BROKEN = frozenset({"error", "network_error", "insufficient_system_resource", "abort", "aborted"})


class OpenAIChatReader(Reader):
    """Reads ``chat.completion.chunk`` objects."""

    def __init__(self, info: ModelInfo, taken_ids: Collection[str] = ()) -> None:
        super().__init__(info, taken_ids)
        self._calls = ChatCalls(self.builder)
        self._choice: object = None
        self._finish: str | None = None
        self._done_seen = False
        self._details: list[dict[str, Any]] = []
        self._details_block: ThinkingBlock | None = None

    def read(self, name: str, data: dict[str, Any]) -> list[StreamEvent]:
        choices = data.get("choices")
        if data.get("error") or (not choices and _is_error(name, data)):
            from sloyd.llm.failures import failure_of

            return self.builder.failed(failure_of(None, data))
        events = self.builder.start()
        if isinstance(data.get("id"), str) and data["id"]:
            self.builder.response_id = data["id"]
        self._read_usage(data.get("usage"))
        choice = self._ours(choices)
        if choice is not None:
            events += self._read_choice(choice)
        return events

    def _ours(self, choices: Any) -> dict[str, Any] | None:
        """The choice that answers us, should a server give several."""
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict):
                if self._choice is None:
                    self._choice = choice.get("index")
                if choice.get("index") in (None, self._choice):
                    return choice
        return None

    def _read_choice(self, choice: dict[str, Any]) -> list[StreamEvent]:
        if choice.get("error"):
            from sloyd.llm.failures import failure_of

            return self.builder.failed(failure_of(None, {"error": choice["error"]}))
        self._read_usage(choice.get("usage"))
        events: list[StreamEvent] = []
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            events += self._delta(delta)
        elif isinstance(choice.get("text"), str):
            events += self.builder.text(choice["text"])
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason.strip():
            self._finish = reason.strip()
            self.answered = True
        return events

    def end(self) -> list[StreamEvent]:
        reason = self._finish
        if reason is None:
            if not self.done_seen or self.builder.is_empty:
                return self.ended_early()
            reason = "stop"
        if self._details and self._details_block is not None:
            self._details_block.signature = json_text(self._details)
        word = reason.lower()
        if word in _REFUSED:
            return self.builder.failed(
                ProviderError("The provider's filter stopped the answer.", problem="content"),
                raw=reason,
            )
        if word in _BROKEN or "malformed" in word:
            return self.builder.failed(
                ProviderError(
                    f"The provider broke the answer off: {reason}.",
                    problem="server",
                    retryable=True,
                ),
                raw=reason,
            )
        self._calls.finish()
        known = _STOP_REASONS.get(word)
        return self.builder.done(known or "stop", raw=None if known else reason)

    def _delta(self, delta: dict[str, Any]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for field in REASONING_FIELDS:
            piece = delta.get(field)
            if isinstance(piece, str) and piece:
                events += self.builder.thinking(piece, field)
                break
        details = delta.get("reasoning_details")
        if isinstance(details, list) and details:
            events += self._add_details(details, shown=bool(events))
        content = delta.get("content")
        if isinstance(content, str):
            events += self.builder.text(content)
        elif isinstance(content, (list, dict)):
            events += self._parts(content if isinstance(content, list) else [content])
        refusal = delta.get("refusal")
        if isinstance(refusal, str):
            events += self.builder.text(refusal)
        calls = delta.get("tool_calls")
        if isinstance(calls, dict):
            calls = [calls]
        if isinstance(calls, list):
            for call in calls:
                if isinstance(call, dict):
                    events += self._calls.read(call)
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            events += self._calls.read({"index": 0, "function": legacy})
        return events

    def _parts(self, content: list[Any]) -> list[StreamEvent]:
        """Content as a list of parts, which is how Mistral streams reasoning."""
        events: list[StreamEvent] = []
        for part in content:
            if isinstance(part, str):
                events += self.builder.text(part)
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

    def _add_details(self, details: list[Any], *, shown: bool) -> list[StreamEvent]:
        """OpenRouter's reasoning items, which it wants back as they came.

        Their text counts unless it was ``shown``: most servers send it in a field of its own too.
        """
        if self._details_block is None:
            last = self.builder.last_thinking()
            self._details_block = last or self.builder.open_thinking()
        events: list[StreamEvent] = []
        for item in details:
            if not isinstance(item, dict):
                continue
            text = item.get("text") or item.get("summary")
            if isinstance(text, str) and not shown:
                events += self.builder.add_thinking(self._details_block, text)
            last_item = self._details[-1] if self._details else None
            if last_item is None or not _is_same_detail(last_item, item):
                self._details.append(dict(item))
                continue
            for key, value in item.items():
                if key in {"text", "summary", "data"} and isinstance(value, str):
                    last_item[key] = (last_item.get(key) or "") + value
                elif value is not None:
                    last_item[key] = value
        return events

    def _read_usage(self, usage: Any) -> None:
        if not isinstance(usage, dict):
            return
        prompt = count(usage, "prompt_tokens", "input_tokens")
        output = count(usage, "completion_tokens", "output_tokens")
        if not (prompt or output):
            return
        details = usage.get("prompt_tokens_details")
        details = details if isinstance(details, dict) else {}
        cached = count(details, "cached_tokens") or count(usage, "prompt_cache_hit_tokens")
        written = count(details, "cache_write_tokens")
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


def _is_same_detail(last: dict[str, Any], item: dict[str, Any]) -> bool:
    if item.get("id") and last.get("id") and item["id"] != last["id"]:
        return False
    return all(item.get(key) == last.get(key) for key in ("type", "index"))
