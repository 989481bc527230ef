"""A conversation as one text, which a model reads as a record and not as a talk to go on with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sloyd.llm.messages import AssistantMessage, Message, Text, ToolResultMessage
from sloyd.sessions.context import ContextItem
from sloyd.sessions.plain import call_line, clip, content_text

__all__ = ["RESULT_LIMIT", "conversation_parts"]

RESULT_LIMIT = 2_000
"""Characters of each tool result; the same as pi's."""
_TEXT_LIMIT = 20_000
"""Characters of any other text: a pasted log is no reason to fail."""


def conversation_parts(items: Sequence[ContextItem]) -> Iterator[str]:
    """One text for each message, headed by who speaks and the entry's id. Thinking is left out."""
    for item in items:
        text = _part(item.entry_id, item.message)
        if text:
            yield text


def _part(entry_id: str, message: Message) -> str:
    if isinstance(message, ToolResultMessage):
        kind = "Tool error" if message.is_error else "Tool result"
        text = clip(content_text(message.content), RESULT_LIMIT)
        return f"[{kind} {entry_id}] {message.tool_name}:\n{text}"
    if not isinstance(message, AssistantMessage):
        return f"[User {entry_id}]: {clip(content_text(message.content), _TEXT_LIMIT)}"
    said = "\n".join(block.text for block in message.content if isinstance(block, Text))
    parts = [f"[Assistant {entry_id}]: {clip(said, _TEXT_LIMIT)}"] if said else []
    if message.tool_calls:
        calls = "; ".join(call_line(call) for call in message.tool_calls)
        parts.append(f"[Assistant tool calls {entry_id}]: {calls}")
    if message.error_message:
        parts.append(f"[Assistant failed {entry_id}]: {message.error_message}")
    return "\n".join(parts)
