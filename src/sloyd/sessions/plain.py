"""What entries say, as plain text: for search, for recall, for a request to summarise them."""

from __future__ import annotations

from typing import Any

import msgspec

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
from sloyd.sessions.entries import (
    BashExecution,
    BranchSummary,
    BranchSummaryEntry,
    CompactionEntry,
    CompactionSummary,
    CustomMessage,
    CustomMessageEntry,
    Entry,
    MessageEntry,
    SessionMessage,
)

__all__ = [
    "call_line",
    "clip",
    "content_text",
    "entry_role",
    "entry_text",
    "first_line",
    "indented_json",
]


def entry_role(entry: Entry) -> str:
    """One word for who speaks: user, assistant, the tool's name, summary, command, note; or ''."""
    if isinstance(entry, MessageEntry):
        message = entry.message
        if isinstance(message, UserMessage):
            return "user"
        if isinstance(message, AssistantMessage):
            return "assistant"
        if isinstance(message, ToolResultMessage):
            return message.tool_name or "tool"
        if isinstance(message, BashExecution):
            return "command"
        if isinstance(message, CustomMessage):
            return message.custom_type or "note"
        return "summary" if isinstance(message, BranchSummary | CompactionSummary) else ""
    if isinstance(entry, CustomMessageEntry):
        return entry.custom_type or "note"
    return "summary" if isinstance(entry, CompactionEntry | BranchSummaryEntry) else ""


def entry_text(entry: Entry, *, thinking: bool = False) -> str:
    """All that an entry says; empty for entries that say nothing."""
    if isinstance(entry, MessageEntry):
        return _message_text(entry.message, thinking=thinking)
    if isinstance(entry, CustomMessageEntry):
        return content_text(entry.content)
    return entry.summary if isinstance(entry, CompactionEntry | BranchSummaryEntry) else ""


def content_text(content: str | tuple[UserContent, ...]) -> str:
    """Text of a message's content; an image is named by its type."""
    if isinstance(content, str):
        return content
    return "\n".join(
        f"[image {block.mime_type}]" if isinstance(block, Image) else block.text
        for block in content
    )


def call_line(call: ToolCall, limit: int = 1_000) -> str:
    """A tool call on one line: ``read(path="a.py")``; each argument clipped to ``limit``."""
    arguments = ", ".join(
        f"{name}={clip(_json(value), limit)}" for name, value in call.arguments.items()
    )
    return f"{call.name}({arguments})"


def clip(text: str, limit: int) -> str:
    """The text, or its first ``limit`` characters and how many were left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} [... {len(text) - limit} more characters]"


def first_line(text: str, limit: int = 80) -> str:
    """The beginning of a text on one line, for lists."""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _message_text(message: SessionMessage, *, thinking: bool) -> str:
    if isinstance(message, AssistantMessage):
        parts = []
        for block in message.content:
            if isinstance(block, Text):
                parts.append(block.text)
            elif isinstance(block, ToolCall):
                parts.append(call_line(block, limit=1 << 30))
            elif isinstance(block, Thinking) and thinking:
                parts.append(block.thinking)
        if message.error_message:
            parts.append(message.error_message)
        return "\n".join(parts)
    if isinstance(message, UserMessage | ToolResultMessage | CustomMessage):
        return content_text(message.content)
    if isinstance(message, BashExecution):
        return f"$ {message.command}\n{message.output}"
    if isinstance(message, BranchSummary | CompactionSummary):
        return message.summary
    return ""


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return repr(value)


def indented_json(value: Any) -> str:
    """A value as JSON for people; as Python shows it where it holds what no UTF-8 can say."""
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    except UnicodeEncodeError:
        return repr(value)
