"""The stream of OpenAI's responses API: items that are added, filled and done."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sloyd.errors import ProviderError
from sloyd.llm.building import CallBlock, TextBlock, ThinkingBlock
from sloyd.llm.events import StreamEvent
from sloyd.llm.messages import Usage
from sloyd.llm.models import ModelInfo
from sloyd.llm.wires.base import Reader
from sloyd.llm.wires.decoding import count, json_text, text_at

__all__ = ["OpenAIResponsesReader"]

_Block = TextBlock | ThinkingBlock | CallBlock


class OpenAIResponsesReader(Reader):
    """Reads ``response.*`` events. An item is found by its output index, else by its id."""

    def __init__(self, info: ModelInfo, taken_ids: Collection[str] = ()) -> None:
        super().__init__(info, taken_ids)
        self._blocks: dict[object, _Block] = {}
        self._last: _Block | None = None
        self._calls = 0

    def read(self, name: str, data: dict[str, Any]) -> list[StreamEvent]:
        kind = data.get("type")
        kind = kind if isinstance(kind, str) and kind else name
        if kind == "error" or (data.get("error") and not kind.startswith("response.")):
            return self._failure(data)
        response = data.get("response")
        response = response if isinstance(response, dict) else {}
        if isinstance(response.get("id"), str):
            self.builder.response_id = response["id"]
        match kind:
            case "response.completed" | "response.done":
                return self._completed(response)
            case "response.incomplete":
                return self._incomplete(response)
            case "response.failed" | "response.cancelled":
                return self._failure(response)
            case _ if not kind.startswith("response."):
                return []
        return self.builder.start() + self._item_event(kind, data)

    def end(self) -> list[StreamEvent]:
        return self.ended_early()

    def unfold(self, answer: dict[str, Any]) -> list[dict[str, Any]]:
        if answer.get("object") != "response":
            return [answer]
        status = answer.get("status") or "completed"
        return [{"type": f"response.{status}", "response": answer}]

    def _item_event(self, kind: str, data: dict[str, Any]) -> list[StreamEvent]:
        delta = data.get("delta")
        delta = delta if isinstance(delta, str) else ""
        match kind.removeprefix("response."):
            case "output_item.added":
                return self._added(data)
            case "output_item.done":
                events = self._done(data)
                self._last = None
                return events
            case "output_text.delta" | "refusal.delta":
                return self._text(data, delta)
            case "output_text.done" | "refusal.done":
                block = self._find(data)
                text = text_at(data, "text") or text_at(data, "refusal")
                seen = isinstance(block, TextBlock) and block.pieces.parts
                return [] if seen else self._text(data, text)
            case "reasoning_summary_text.delta" | "reasoning_text.delta":
                return self.builder.add_thinking(self._thinking(data), delta)
            case "reasoning_summary_part.added":
                thoughts = self._thinking(data)
                gap = "\n\n" if thoughts.pieces.parts else ""
                return self.builder.add_thinking(thoughts, gap)
            case "function_call_arguments.delta":
                block_of_call = self._find(data)
                if isinstance(block_of_call, CallBlock):
                    return self.builder.add_arguments(block_of_call, delta)
            case "function_call_arguments.done":
                block_of_call = self._find(data)
                if isinstance(block_of_call, CallBlock):
                    return self._whole_arguments(block_of_call, data.get("arguments"))
        return []

    def _added(self, data: dict[str, Any]) -> list[StreamEvent]:
        item = data.get("item")
        if not isinstance(item, dict) or item.get("type") != "function_call":
            # Texts and reasoning are opened by their first piece: empty ones mean nothing.
            return []
        block, events = self.builder.open_call(text_at(item, "call_id"), text_at(item, "name"))
        self._calls += 1
        self._remember(data, item, block)
        arguments = item.get("arguments")
        if isinstance(arguments, str):
            events += self.builder.add_arguments(block, arguments)
        return events

    def _done(self, data: dict[str, Any]) -> list[StreamEvent]:
        item = data.get("item")
        if not isinstance(item, dict):
            return []
        match item.get("type"):
            case "function_call":
                events: list[StreamEvent] = []
                call = self._find(data, item)
                if not isinstance(call, CallBlock):
                    events = self._added(data)
                    call = self._find(data, item)
                if isinstance(call, CallBlock):
                    events += self._whole_arguments(call, item.get("arguments"))
                    events += self.builder.end_call(call)
                return events
            case "reasoning":
                return self._reasoning_done(data, item)
            case "message":
                return self._message_done(data, item)
        return []

    def _reasoning_done(self, data: dict[str, Any], item: dict[str, Any]) -> list[StreamEvent]:
        block = self._find(data, item)
        text = "\n\n".join(_texts(item.get("summary")) or _texts(item.get("content")))
        if not isinstance(block, ThinkingBlock):
            if not text and not item.get("encrypted_content"):
                return []
            block = self.builder.open_thinking()
            self._remember(data, item, block)
        events = [] if block.pieces.parts else self.builder.add_thinking(block, text)
        block.signature = json_text(item)
        return events

    def _message_done(self, data: dict[str, Any], item: dict[str, Any]) -> list[StreamEvent]:
        block = self._find(data, item)
        events: list[StreamEvent] = []
        if not isinstance(block, TextBlock):
            text = "".join(_texts(item.get("content")))
            if not text:
                return []
            events = self._text({**data, "item_id": item.get("id")}, text)
            block = self._find(data, item)
        if isinstance(block, TextBlock) and isinstance(item.get("id"), str):
            signature = {"v": 1, "id": item["id"]}
            if isinstance(item.get("phase"), str):
                signature["phase"] = item["phase"]
            block.signature = json_text(signature)
        return events

    def _text(self, data: dict[str, Any], piece: str) -> list[StreamEvent]:
        block = self._find(data)
        if not isinstance(block, TextBlock):
            if not piece:
                return []
            block = self.builder.open_text()
            self._remember(data, {}, block)
        return self.builder.add_text(block, piece)

    def _thinking(self, data: dict[str, Any]) -> ThinkingBlock:
        block = self._find(data)
        if not isinstance(block, ThinkingBlock):
            block = self.builder.open_thinking()
            self._remember(data, {}, block)
        return block

    def _whole_arguments(self, block: CallBlock, arguments: Any) -> list[StreamEvent]:
        """The final text of the arguments; it counts, whatever the pieces were."""
        if isinstance(arguments, dict):
            block.given = arguments
        elif isinstance(arguments, str) and arguments and block.result is None:
            if not block.pieces.parts:
                return self.builder.add_arguments(block, arguments)
            if block.pieces.joined() != arguments:
                block.pieces.parts = [arguments]
        return []

    def _completed(self, response: dict[str, Any]) -> list[StreamEvent]:
        if response.get("error"):
            return self._failure(response)
        if response.get("status") == "incomplete":
            return self._incomplete(response)
        self._read_usage(response.get("usage"))
        return self._unseen_items(response) + self.builder.done("stop")

    def _incomplete(self, response: dict[str, Any]) -> list[StreamEvent]:
        self._read_usage(response.get("usage"))
        details = response.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        if reason == "content_filter":
            return self.builder.failed(
                ProviderError("The provider's filter stopped the answer.", problem="content"),
                raw=reason,
            )
        raw = None if reason == "max_output_tokens" else str(reason or "incomplete")
        return self._unseen_items(response) + self.builder.done("length", raw=raw)

    def _unseen_items(self, response: dict[str, Any]) -> list[StreamEvent]:
        """What servers send only at the end: all of the output, or some items of it."""
        output = response.get("output")
        if not isinstance(output, list):
            return []
        items = [(place, item) for place, item in enumerate(output) if isinstance(item, dict)]
        calls = sum(item.get("type") == "function_call" for _, item in items)
        empty = self.builder.is_empty
        events: list[StreamEvent] = []
        for place, item in items:
            data = {"output_index": place, "item": item}
            known = self._find(data, item)
            if item.get("type") == "function_call":
                # Never twice, however its server names it: a call has effects.
                wanted = known is None and calls > self._calls
            elif isinstance(known, ThinkingBlock):
                wanted = known.signature is None
            else:
                wanted = empty
            if wanted:
                events += self.builder.start() + self._done(data)
        return events

    def _failure(self, data: dict[str, Any]) -> list[StreamEvent]:
        from sloyd.llm.failures import failure_of

        return self.builder.failed(failure_of(None, data))

    def _find(self, data: dict[str, Any], item: dict[str, Any] | None = None) -> _Block | None:
        keys = _keys(data, item)
        for key in keys:
            if key in self._blocks:
                return self._blocks[key]
        # A server that names nothing means the item that it began last.
        return None if keys else self._last

    def _remember(self, data: dict[str, Any], item: dict[str, Any], block: _Block) -> None:
        self._last = block
        for key in _keys(data, item):
            self._blocks[key] = block

    def _read_usage(self, usage: Any) -> None:
        if not isinstance(usage, dict):
            return
        details = usage.get("input_tokens_details")
        details = details if isinstance(details, dict) else {}
        tokens_in, output = count(usage, "input_tokens"), count(usage, "output_tokens")
        cached, written = count(details, "cached_tokens"), count(details, "cache_write_tokens")
        self.builder.usage = Usage(
            input=max(0, tokens_in - cached - written),
            output=output,
            cache_read=cached,
            cache_write=written,
            total_tokens=tokens_in + output,
        )


def _keys(data: dict[str, Any], item: dict[str, Any] | None) -> list[object]:
    """What an item is known by: its place, and its id. Some servers send only one of them."""
    keys: list[object] = []
    if isinstance(data.get("output_index"), int):
        keys.append(data["output_index"])
    item_id = data.get("item_id") or (item or {}).get("id")
    if isinstance(item_id, str) and item_id:
        keys.append(item_id)
    return keys


def _texts(parts: Any) -> list[str]:
    if not isinstance(parts, list):
        return []
    return [
        text
        for part in parts
        if isinstance(part, dict)
        and isinstance(text := part.get("text") or part.get("refusal"), str)
    ]
