"""One turn of a model as each provider's API streams it: the events, as their JSON objects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

__all__ = [
    "Call",
    "anthropic_events",
    "chat_events",
    "google_events",
    "responses_events",
    "sse",
]

Call: TypeAlias = tuple[str, dict[str, Any]]


def sse(events: Sequence[Any], *, named: bool = False) -> list[bytes]:
    """Events as chunks of an event stream; ``named`` adds the ``event`` lines."""
    chunks = []
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event)
        name = f"event: {event['type']}\n" if named else ""
        chunks.append(f"{name}data: {data}\n\n".encode())
    return chunks


def _pieces(text: str, size: int = 24) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def chat_events(text: str = "", thinking: str = "", calls: Sequence[Call] = ()) -> list[Any]:
    """One turn as chat completions stream it."""

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [choice],
        }

    events: list[Any] = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"reasoning_content": piece}) for piece in _pieces(thinking)]
    events += [chunk({"content": piece}) for piece in _pieces(text)]
    for index, (name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": ""}
        call = {"index": index, "id": f"call_{index}", "type": "function", "function": function}
        events.append(chunk({"tool_calls": [call]}))
        for piece in _pieces(json.dumps(arguments)):
            more = {"index": index, "function": {"arguments": piece}}
            events.append(chunk({"tool_calls": [more]}))
    events.append(chunk({}, "tool_calls" if calls else "stop"))
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "total_tokens": 110,
        "prompt_tokens_details": {"cached_tokens": 40},
    }
    events.append({**chunk({}), "choices": [], "usage": usage})
    return [*events, "[DONE]"]


def anthropic_events(text: str = "", thinking: str = "", calls: Sequence[Call] = ()) -> list[Any]:
    """One turn as Anthropic's messages stream it."""
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(thinking)]
        deltas.append({"type": "signature_delta", "signature": "c2lnbmF0dXJl"})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if text:
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(text)]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for number, (name, arguments) in enumerate(calls):
        pieces = _pieces(json.dumps(arguments))
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
        blocks.append((block, deltas))
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 60, "output_tokens": 1, "cache_read_input_tokens": 40},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        ]
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 10}})
    return [*events, {"type": "message_stop"}]


def responses_events(text: str = "", thinking: str = "", calls: Sequence[Call] = ()) -> list[Any]:
    """One turn as OpenAI's responses API streams it."""
    items: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    if thinking:
        item = {"type": "reasoning", "id": "rs_1", "summary": []}
        place = {"item_id": "rs_1", "output_index": 0, "summary_index": 0}
        events.append({"type": "response.output_item.added", "output_index": 0, "item": item})
        events += [
            {"type": "response.reasoning_summary_text.delta", **place, "delta": piece}
            for piece in _pieces(thinking)
        ]
        summary = [{"type": "summary_text", "text": thinking}]
        items.append({**item, "summary": summary, "encrypted_content": "ZW5j"})
        events.append({"type": "response.output_item.done", "output_index": 0, "item": items[-1]})
    if text:
        index = len(items)
        item = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
        added = {**item, "status": "in_progress"}
        events.append({"type": "response.output_item.added", "output_index": index, "item": added})
        place = {"item_id": "msg_1", "output_index": index, "content_index": 0, "logprobs": []}
        events += [
            {"type": "response.output_text.delta", **place, "delta": piece}
            for piece in _pieces(text)
        ]
        part = {"type": "output_text", "text": text, "annotations": []}
        items.append({**item, "status": "completed", "content": [part]})
        events.append(
            {"type": "response.output_item.done", "output_index": index, "item": items[-1]}
        )
    for number, (name, arguments) in enumerate(calls):
        index, item_id = len(items), f"fc_{number}"
        call = {"type": "function_call", "id": item_id, "call_id": f"call_{number}", "name": name}
        added = {**call, "arguments": "", "status": "in_progress"}
        events.append({"type": "response.output_item.added", "output_index": index, "item": added})
        place = {"item_id": item_id, "output_index": index}
        encoded = json.dumps(arguments)
        events += [
            {"type": "response.function_call_arguments.delta", **place, "delta": piece}
            for piece in _pieces(encoded)
        ]
        items.append({**call, "arguments": encoded, "status": "completed"})
        events.append(
            {"type": "response.output_item.done", "output_index": index, "item": items[-1]}
        )
    return _response_frame(events, items)


def _response_frame(
    events: list[dict[str, Any]], items: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    response: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "status": "in_progress",
    }
    usage = {
        "input_tokens": 100,
        "output_tokens": 10,
        "total_tokens": 110,
        "input_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    completed = {**response, "status": "completed", "output": items, "usage": usage}
    framed = [
        {"type": "response.created", "response": response},
        *events,
        {"type": "response.completed", "response": completed},
    ]
    return [{**event, "sequence_number": number} for number, event in enumerate(framed)]


def google_events(text: str = "", thinking: str = "", calls: Sequence[Call] = ()) -> list[Any]:
    """One turn as Google's generateContent streams it."""
    parts: list[dict[str, Any]] = [{"text": piece, "thought": True} for piece in _pieces(thinking)]
    parts += [{"text": piece} for piece in _pieces(text)]
    for number, (name, arguments) in enumerate(calls):
        part: dict[str, Any] = {"functionCall": {"name": name, "args": arguments}}
        if number == 0:
            part["thoughtSignature"] = "c2lnbmF0dXJl"
        parts.append(part)
    usage = {
        "promptTokenCount": 100,
        "candidatesTokenCount": 10,
        "cachedContentTokenCount": 40,
        "totalTokenCount": 110,
    }
    events: list[dict[str, Any]] = [
        {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}]}
        for part in parts
    ]
    last = {"index": 0, "content": {"role": "model", "parts": []}, "finishReason": "STOP"}
    events.append({"candidates": [last], "usageMetadata": usage, "responseId": "r1"})
    return events
