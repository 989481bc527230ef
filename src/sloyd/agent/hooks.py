"""Where a program may step into a run: around each request and around each tool call.

Hooks are awaited, and an abort cancels them. A hook that raises ends its step as a failure: a
request is not made, a call is not run, a result becomes an error. Events, which only tell, are in
`sloyd.agent.events`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from sloyd.agent.tool import AgentTool, ToolResult
from sloyd.llm.messages import AssistantMessage, ToolCall
from sloyd.llm.models import Context, Model, StreamOptions

__all__ = [
    "AfterToolCall",
    "BeforeToolCall",
    "Block",
    "CallDecision",
    "ChangeArguments",
    "FinishedCall",
    "Hooks",
    "PendingCall",
    "PrepareRequest",
    "Request",
    "TransformContext",
]


class Request(msgspec.Struct, frozen=True):
    """A request that is about to be made; ``turn`` counts from 1 within the run."""

    model: Model
    options: StreamOptions
    turn: int


class PendingCall(msgspec.Struct, frozen=True):
    """A call whose arguments are valid and which is about to run.

    ``arguments`` is what the tool's ``validate`` returned; ``call.arguments`` is what the model
    sent.
    """

    call: ToolCall
    tool: AgentTool
    arguments: Any
    message: AssistantMessage


class FinishedCall(msgspec.Struct, frozen=True):
    """A call that ran, and what came of it; a failure is a result with ``is_error``."""

    call: ToolCall
    tool: AgentTool
    arguments: Any
    result: ToolResult


class Block(msgspec.Struct, frozen=True):
    """Do not run the call. The model reads ``reason``; see `ToolResult` for ``terminate``."""

    reason: str = "The call was not allowed."
    terminate: bool = False


class ChangeArguments(msgspec.Struct, frozen=True):
    """Run the call with other raw arguments. They are validated like those of the model."""

    arguments: Mapping[str, Any]


CallDecision: TypeAlias = Block | ChangeArguments | None

BeforeToolCall: TypeAlias = Callable[[PendingCall], Awaitable[CallDecision]]
AfterToolCall: TypeAlias = Callable[[FinishedCall], Awaitable[ToolResult | None]]
TransformContext: TypeAlias = Callable[[Context], Awaitable[Context]]
PrepareRequest: TypeAlias = Callable[[Request], Awaitable[Request | None]]


class Hooks(msgspec.Struct, frozen=True, kw_only=True):
    """The hooks of an agent; each may be None.

    Attributes:
        prepare_request: before each request, while no call is open. It may return another model or
            other options, for this request, and may set `Agent.messages` (to compact them).
        transform_context: after it; may return another context, for this request only.
        before_tool_call: after validation; None lets the call run as it is.
        after_tool_call: after the tool has run; a result that it returns takes the place of the
            tool's. Not called for calls that did not run.
    """

    prepare_request: PrepareRequest | None = None
    transform_context: TransformContext | None = None
    before_tool_call: BeforeToolCall | None = None
    after_tool_call: AfterToolCall | None = None
