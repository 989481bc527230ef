"""What one extension has registered: plain lists that the host reads when it is set up.

Handlers may be plain or async functions; `settled` takes what either kind gives.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec

from sloyd.agent.hooks import CallDecision, FinishedCall, PendingCall, Request
from sloyd.agent.tool import ToolResult
from sloyd.harness.commands import Command
from sloyd.llm.models import Context, Model, ModelInfo
from sloyd.llm.providers import Provider
from sloyd.tools.definition import ToolDefinition, ToolRenderer

__all__ = [
    "AfterCall",
    "BeforeCall",
    "BeforeRequest",
    "ChangeContext",
    "ChangeText",
    "EventHandler",
    "Gate",
    "OwnProvider",
    "Registrations",
    "settled",
]

Seen = TypeVar("Seen")
Said = TypeVar("Said")

EventHandler: TypeAlias = Callable[[Any], Awaitable[None] | None]
BeforeCall: TypeAlias = Callable[[PendingCall], Awaitable[CallDecision] | CallDecision]
AfterCall: TypeAlias = Callable[[FinishedCall], Awaitable[ToolResult | None] | ToolResult | None]
ChangeContext: TypeAlias = Callable[[Context], Awaitable[Context | None] | Context | None]
ChangeText: TypeAlias = Callable[[str], Awaitable[str | None] | str | None]
BeforeRequest: TypeAlias = Callable[[Request], Awaitable[Request | None] | Request | None]


async def settled(said: Awaitable[Said] | Said) -> Said:
    """What a handler said: its value, or what comes when that is awaited."""
    if isinstance(said, Awaitable):
        return await said
    return said


class Gate(msgspec.Struct, Generic[Seen, Said], frozen=True, eq=False):
    """A handler around tool calls; ``tools`` names those that it wants to see, none means all."""

    handler: Callable[[Seen], Awaitable[Said] | Said]
    tools: tuple[str, ...] = ()


class OwnProvider(msgspec.Struct, frozen=True, eq=False):
    """A provider of an extension. ``open`` makes its models where they are no HTTP models."""

    provider: Provider
    models: tuple[ModelInfo, ...] = ()
    open: Callable[[ModelInfo], Model] | None = None


class Registrations(msgspec.Struct, eq=False):
    """Everything that one extension wants."""

    tools: list[ToolDefinition[Any]] = msgspec.field(default_factory=list)
    commands: list[Command] = msgspec.field(default_factory=list)
    providers: list[OwnProvider] = msgspec.field(default_factory=list)
    renderers: dict[str, Callable[[], ToolRenderer]] = msgspec.field(default_factory=dict)
    events: dict[str, list[EventHandler]] = msgspec.field(default_factory=dict)
    before: list[Gate[PendingCall, CallDecision]] = msgspec.field(default_factory=list)
    after: list[Gate[FinishedCall, ToolResult | None]] = msgspec.field(default_factory=list)
    contexts: list[ChangeContext] = msgspec.field(default_factory=list)
    requests: list[BeforeRequest] = msgspec.field(default_factory=list)
    inputs: list[ChangeText] = msgspec.field(default_factory=list)
    prompts: list[ChangeText] = msgspec.field(default_factory=list)
    disposers: list[Callable[[], Any]] = msgspec.field(default_factory=list)
