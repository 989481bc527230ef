"""The stream of Anthropic's messages API."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sloyd.errors import ProviderError
from sloyd.llm.building import CallBlock, TextBlock, ThinkingBlock
from sloyd.llm.events import StreamEvent
from sloyd.llm.messages import StopReason, Usage
from sloyd.llm.models import ModelInfo
from sloyd.llm.wires.base import Reader
from sloyd.llm.wires.decoding import count, json_text, text_at

__all__ = ["AnthropicReader"]

_STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "toolUse",
}


class AnthropicReader(Reader):
    """Reads ``message_start`` to ``message_stop``. Events of other types mean nothing."""

    def __init__(self, info: ModelInfo, taken_ids: Collection[str] = ()) -> None:
        super().__init__(info, taken_ids)
        self._blocks: dict[str, TextBlock | ThinkingBlock | CallBlock | None] = {}
        self._last_call: CallBlock | None = None
        self._stop_reason: str | None = None
        self._counts: dict[str, int] = {}

    def read(self, name: str, data: dict[str, Any]) -> list[StreamEvent]:
        kind = data.get("type") or name
        if kind == "error" or (data.get("error") and not isinstance(data.get("type"), str)):
            from sloyd.llm.failures import failure_of

            return self.builder.failed(failure_of(None, data))
        match kind:
            case "message_start":
                return self._message_start(data)
            case "content_block_start":
                return self.builder.start() + self._block_start(data)
            case "content_block_delta":
                return self.builder.start() + self._block_delta(data)
            case "content_block_stop":
                return self._block_stop(_index(data))
            case "message_delta":
                return self._message_delta(data)
            case "message_stop":
                return self._message_stop()
            case _:
                return []

    def end(self) -> list[StreamEvent]:
        if self._stop_reason and self.done_seen:
            # Gateways to other APIs end with that one's mark.
            return self._message_stop()
        return self.ended_early()

    def unfold(self, answer: dict[str, Any]) -> list[dict[str, Any]]:
        if answer.get("type") != "message" or not isinstance(answer.get("content"), list):
            return [answer]
        events: list[dict[str, Any]] = [{"type": "message_start", "message": answer}]
        for index, block in enumerate(answer["content"]):
            start = {"type": "content_block_start", "index": index, "content_block": block}
            events += [start, {"type": "content_block_stop", "index": index}]
        delta = {"stop_reason": answer.get("stop_reason") or "end_turn"}
        events.append({"type": "message_delta", "delta": delta, "usage": answer.get("usage")})
        return [*events, {"type": "message_stop"}]

    def _message_start(self, data: dict[str, Any]) -> list[StreamEvent]:
        message = data.get("message")
        if isinstance(message, dict):
            if isinstance(message.get("id"), str):
                self.builder.response_id = message["id"]
            self._read_usage(message.get("usage"))
        return self.builder.start()

    def _block_start(self, data: dict[str, Any]) -> list[StreamEvent]:
        index = _index(data)
        # A gateway that gives every block the same index still ends one before the next begins.
        events = self._block_stop(index)
        block = data.get("content_block")
        block = block if isinstance(block, dict) else {}
        self._blocks[index] = None
        match block.get("type"):
            case "text":
                # An empty block is opened by its first text: sent back, it would be refused.
                if text_at(block, "text"):
                    opened = self._blocks[index] = self.builder.open_text()
                    events += self.builder.add_text(opened, text_at(block, "text"))
            case "thinking":
                thinking = self.builder.open_thinking(text_at(block, "signature") or None)
                self._blocks[index] = thinking
                events += self.builder.add_thinking(thinking, text_at(block, "thinking"))
            case "redacted_thinking":
                self.builder.open_thinking(text_at(block, "data"), redacted=True)
            case "tool_use":
                call, opened_events = self.builder.open_call(
                    text_at(block, "id"), text_at(block, "name")
                )
                self._blocks[index] = self._last_call = call
                events += opened_events
                given = block.get("input")
                if isinstance(given, dict) and given:
                    call.given = given
                elif isinstance(given, str):
                    events += self.builder.add_arguments(call, given)
        return events

    def _block_delta(self, data: dict[str, Any]) -> list[StreamEvent]:
        delta = data.get("delta")
        if not isinstance(delta, dict):
            return []
        index = _index(data)
        block = self._blocks.get(index)
        if index not in self._blocks and delta.get("type") == "input_json_delta":
            block = self._last_call
        match delta.get("type"):
            case "text_delta":
                piece = text_at(delta, "text")
                if not isinstance(block, TextBlock):
                    if not piece or isinstance(block, CallBlock):
                        return []
                    block = self._blocks[index] = self.builder.open_text()
                return self.builder.add_text(block, piece)
            case "thinking_delta":
                if not isinstance(block, ThinkingBlock):
                    block = self._blocks[index] = self.builder.open_thinking()
                return self.builder.add_thinking(block, text_at(delta, "thinking"))
            case "signature_delta" if isinstance(block, ThinkingBlock):
                block.signature = (block.signature or "") + text_at(delta, "signature")
                return []
            case "input_json_delta" if isinstance(block, CallBlock):
                given = delta.get("partial_json")
                if isinstance(given, dict):
                    given = json_text(given)
                if not isinstance(given, str) or not given:
                    return []
                block.given = None
                return self.builder.add_arguments(block, given)
            case _:
                return []

    def _block_stop(self, index: str) -> list[StreamEvent]:
        block = self._blocks.pop(index, None)
        return self.builder.end_call(block) if isinstance(block, CallBlock) else []

    def _message_delta(self, data: dict[str, Any]) -> list[StreamEvent]:
        delta = data.get("delta")
        if isinstance(delta, dict) and isinstance(delta.get("stop_reason"), str):
            self._stop_reason = delta["stop_reason"]
        self._read_usage(data.get("usage"))
        return []

    def _message_stop(self) -> list[StreamEvent]:
        reason = self._stop_reason or "end_turn"
        if reason.lower() in {"refusal", "sensitive"}:
            return self.builder.failed(
                ProviderError("The provider refused to answer this request.", problem="content"),
                raw=reason,
            )
        known = _STOP_REASONS.get(reason.lower())
        return self.builder.done(known or "stop", raw=None if known else reason)

    def _read_usage(self, usage: Any) -> None:
        """Counts are totals; a later event repeats only some of them."""
        if not isinstance(usage, dict):
            return
        for key in (
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
        ):
            if usage.get(key) is not None:
                self._counts[key] = count(usage, key)
        tokens_in = self._counts.get("input_tokens", 0)
        output = self._counts.get("output_tokens", 0)
        cached = self._counts.get("cache_read_input_tokens", 0)
        written = self._counts.get("cache_creation_input_tokens", 0)
        self.builder.usage = Usage(
            input=tokens_in,
            output=output,
            cache_read=cached,
            cache_write=written,
            total_tokens=tokens_in + output + cached + written,
        )


def _index(data: dict[str, Any]) -> str:
    value = data.get("index")
    return str(value) if isinstance(value, (int, str)) else "0"
