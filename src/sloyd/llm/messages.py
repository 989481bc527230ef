"""Messages and their content blocks: what goes to a model and what comes back.

The JSON form (camelCase keys, tagged by ``role`` and ``type``) is pi's, so that its session files
open. ``details`` of a tool result is for people and programs; no wire ever sends it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import msgspec

__all__ = [
    "AssistantContent",
    "AssistantMessage",
    "Cost",
    "Image",
    "Message",
    "StopReason",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResultMessage",
    "Usage",
    "UserContent",
    "UserMessage",
    "now_ms",
    "text_of",
    "user_message",
]

StopReason: TypeAlias = Literal["stop", "length", "toolUse", "error", "aborted"]


class Text(
    msgspec.Struct, frozen=True, tag="text", tag_field="type", rename="camel", omit_defaults=True
):
    """Plain text. ``text_signature`` is an opaque token of the provider that wrote it."""

    text: str
    text_signature: str | None = None


class Thinking(
    msgspec.Struct,
    frozen=True,
    tag="thinking",
    tag_field="type",
    rename="camel",
    omit_defaults=True,
):
    """A model's reasoning.

    ``thinking_signature`` is what the provider wants back with it: Anthropic's signature, or the
    name of the field it came in (``reasoning_content`` and its like), or the raw item as JSON.
    ``redacted`` means that the text is hidden and only the signature counts.
    """

    thinking: str
    thinking_signature: str | None = None
    redacted: bool = False


class Image(msgspec.Struct, frozen=True, tag="image", tag_field="type", rename="camel"):
    """An image as base64 text (no ``data:`` prefix) and its media type, which is the true one."""

    data: str
    mime_type: str


class ToolCall(
    msgspec.Struct,
    frozen=True,
    tag="toolCall",
    tag_field="type",
    rename="camel",
    omit_defaults=True,
):
    """A model's wish to run a tool.

    ``arguments_error`` is set when the text that the model sent is no JSON object; ``arguments``
    is then empty and the call is never run. ``thought_signature`` is Google's.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    thought_signature: str | None = None
    arguments_error: str | None = None


UserContent: TypeAlias = Text | Image
AssistantContent: TypeAlias = Text | Thinking | ToolCall


class Cost(msgspec.Struct, frozen=True, rename="camel"):
    """Money in US dollars, by kind of token."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    total: float = 0.0


class Usage(msgspec.Struct, frozen=True, rename="camel"):
    """Tokens of one request. ``input`` excludes what was read from or written to a cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total_tokens: int = 0
    cost: Cost = Cost()


def now_ms() -> int:
    """Milliseconds since the epoch, the unit of every ``timestamp``."""
    return int(time.time() * 1000)


class UserMessage(
    msgspec.Struct, frozen=True, tag="user", tag_field="role", rename="camel", kw_only=True
):
    """What a person, or a program in a person's place, says to the model."""

    content: str | tuple[UserContent, ...]
    timestamp: int = msgspec.field(default_factory=now_ms)

    @property
    def blocks(self) -> tuple[UserContent, ...]:
        """The content as blocks, also where it is a plain text."""
        return (Text(self.content),) if isinstance(self.content, str) else self.content


class AssistantMessage(
    msgspec.Struct,
    frozen=True,
    tag="assistant",
    tag_field="role",
    rename="camel",
    kw_only=True,
    omit_defaults=True,
):
    """What a model answered, whole or as far as it came.

    Attributes:
        api: the wire that carried it, such as ``openai-chat``.
        stop_reason: ``error`` and ``aborted`` mark a partial answer; its calls are never run.
        error_message: for people, when ``stop_reason`` is ``error`` or ``aborted``.
        raw_stop_reason: the provider's own word, when it is not one of ours.
    """

    content: tuple[AssistantContent, ...] = ()
    api: str = ""
    provider: str = ""
    model: str = ""
    response_id: str | None = None
    usage: Usage = msgspec.field(default_factory=Usage)
    stop_reason: StopReason = "stop"
    error_message: str | None = None
    raw_stop_reason: str | None = None
    timestamp: int = msgspec.field(default_factory=now_ms)
    duration_ms: int | None = None

    @property
    def text(self) -> str:
        """All text blocks, joined by line breaks."""
        return "\n".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls, in the order in which the model wrote them."""
        return tuple(block for block in self.content if isinstance(block, ToolCall))


class ToolResultMessage(
    msgspec.Struct,
    frozen=True,
    tag="toolResult",
    tag_field="role",
    rename="camel",
    kw_only=True,
):
    """The one answer to one tool call."""

    tool_call_id: str
    tool_name: str
    content: tuple[UserContent, ...] = ()
    details: Any = None
    is_error: bool = False
    timestamp: int = msgspec.field(default_factory=now_ms)
    duration_ms: int | None = None


Message: TypeAlias = UserMessage | AssistantMessage | ToolResultMessage


def user_message(said: str | UserMessage) -> UserMessage:
    """What a person said, as a message."""
    return UserMessage(content=said) if isinstance(said, str) else said


def text_of(content: str | tuple[UserContent, ...]) -> str:
    """All text of a user message's or a tool result's content, joined by line breaks."""
    if isinstance(content, str):
        return content
    return "\n".join(_texts(content))


def _texts(content: tuple[UserContent, ...]) -> Iterator[str]:
    return (block.text for block in content if isinstance(block, Text))
