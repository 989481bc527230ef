"""The vocabulary of a run: everything that a listener of an agent can hear.

The order is fixed (the tests draw it):

    agent_start
      turn_start
        message_start, message_end                      each message that enters from outside
        message_start, message_update*, message_end     the model's answer
        tool_execution_start                            each call, in the order of the calls
        tool_execution_update*, tool_execution_end      in the order of completion
        message_start, message_end                      each result, in the order of the calls
      turn_end
      ...
    agent_end

On our JSON doors each event is one object with its ``type`` and camelCase fields.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from sloyd.llm.messages import (
    AssistantMessage,
    Message,
    ToolResultMessage,
    UserContent,
)

__all__ = [
    "AgentEnd",
    "AgentEvent",
    "AgentStart",
    "Delta",
    "LimitWarning",
    "MessageEnd",
    "MessageStart",
    "MessageUpdate",
    "QueueUpdate",
    "RetryEnd",
    "RetryStart",
    "RunOutcome",
    "ToolExecutionEnd",
    "ToolExecutionStart",
    "ToolExecutionUpdate",
    "TurnEnd",
    "TurnStart",
]

RunOutcome: TypeAlias = Literal["done", "error", "aborted", "limit"]


class _Event(msgspec.Struct, frozen=True, tag_field="type", rename="camel", kw_only=True):
    """Base of the events; gives them their common JSON form."""


class Delta(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What is new in a `MessageUpdate`: one step of one content block."""

    kind: Literal[
        "text_delta",
        "thinking_delta",
        "toolcall_start",
        "toolcall_delta",
        "toolcall_end",
    ]
    content_index: int
    text: str = ""
    id: str | None = None
    tool_name: str | None = None
    arguments: dict[str, Any] | None = None


class AgentStart(_Event, frozen=True, tag="agent_start"):
    """A run begins."""


class TurnStart(_Event, frozen=True, tag="turn_start"):
    """A turn begins. ``turn`` counts from 1 within the run."""

    turn: int


class MessageStart(_Event, frozen=True, tag="message_start"):
    """A message begins; an assistant message is still empty."""

    message: Message


class MessageUpdate(_Event, frozen=True, tag="message_update"):
    """The model's answer grew by ``delta``."""

    delta: Delta


class MessageEnd(_Event, frozen=True, tag="message_end"):
    """The message is complete and part of the context."""

    message: Message


class ToolExecutionStart(_Event, frozen=True, tag="tool_execution_start"):
    """A call is about to run, or to be answered without running."""

    tool_call_id: str
    tool_name: str
    arguments: dict[str, Any]


class ToolExecutionUpdate(_Event, frozen=True, tag="tool_execution_update"):
    """Progress of a running call: its output so far, for people."""

    tool_call_id: str
    tool_name: str
    content: tuple[UserContent, ...]
    details: Any = None


class ToolExecutionEnd(_Event, frozen=True, tag="tool_execution_end"):
    """A call is over. ``duration_ms`` is None when the tool was not run at all."""

    tool_call_id: str
    tool_name: str
    content: tuple[UserContent, ...]
    details: Any = None
    is_error: bool = False
    duration_ms: int | None = None


class TurnEnd(_Event, frozen=True, tag="turn_end"):
    """A turn is over: one answer and the results that it asked for."""

    turn: int
    message: AssistantMessage
    tool_results: tuple[ToolResultMessage, ...] = ()


class RetryStart(_Event, frozen=True, tag="retry_start"):
    """A model request failed and is sent again after ``delay_ms``."""

    attempt: int
    max_attempts: int
    delay_ms: int
    error_message: str


class RetryEnd(_Event, frozen=True, tag="retry_end"):
    """The retried request has begun to answer, or was given up."""

    success: bool
    attempt: int


class QueueUpdate(_Event, frozen=True, tag="queue_update"):
    """What waits to be said to the model."""

    steering: tuple[str, ...]
    follow_up: tuple[str, ...]


class LimitWarning(_Event, frozen=True, tag="limit_warning"):
    """A limit is near, or the model repeats a call that keeps failing; ``message`` says which."""

    limit: Literal["turns", "time", "cost", "repetition"]
    message: str


class AgentEnd(_Event, frozen=True, tag="agent_end"):
    """The run is over. ``messages`` are those that it added; ``error_message`` is for people."""

    messages: tuple[Message, ...]
    outcome: RunOutcome
    error_message: str | None = None


AgentEvent: TypeAlias = (
    AgentStart
    | TurnStart
    | MessageStart
    | MessageUpdate
    | MessageEnd
    | ToolExecutionStart
    | ToolExecutionUpdate
    | ToolExecutionEnd
    | TurnEnd
    | RetryStart
    | RetryEnd
    | QueueUpdate
    | LimitWarning
    | AgentEnd
)
