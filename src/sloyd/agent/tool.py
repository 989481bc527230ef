"""The small interface through which the agent loop runs a tool.

`AgentTool` is all that the loop knows. What a *product* knows of a tool (labels, prompt text, how
it draws itself) is a `sloyd.tools.definition.ToolDefinition`; `wrap` makes the one into the other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from sloyd.llm.messages import Image, Text, UserContent
from sloyd.llm.models import ModelInfo

__all__ = [
    "AgentTool",
    "ExecutionMode",
    "JsonSchema",
    "OnUpdate",
    "ToolCallContext",
    "ToolResult",
]

JsonSchema: TypeAlias = Mapping[str, Any]
ExecutionMode: TypeAlias = Literal["parallel", "sequential"]


class ToolResult(msgspec.Struct, frozen=True):
    """What a tool gives back.

    Attributes:
        content: blocks for the model.
        details: for people and programs; anything msgspec can turn into JSON. Never sent.
        is_error: a failure that keeps its details. Raising `ToolError` does the same.
        terminate: ask the run to end after this batch, without another request. It does when
            every result of the batch asks for it.
    """

    content: tuple[UserContent, ...] = ()
    details: Any = None
    is_error: bool = False
    terminate: bool = False

    @classmethod
    def of(
        cls, text: str, *images: Image, details: Any = None, is_error: bool = False
    ) -> ToolResult:
        """A result of one text, and images behind it."""
        return cls((Text(text), *images), details, is_error)


OnUpdate: TypeAlias = Callable[[ToolResult], Awaitable[None]]


class ToolCallContext(msgspec.Struct, frozen=True):
    """What the loop tells a tool about the call. Abort is cancellation, not a flag in here."""

    id: str
    model: ModelInfo | None = None
    on_update: OnUpdate | None = None

    async def update(self, partial: ToolResult) -> None:
        """Report progress; people see it, the model never does. Ignored once the call is over."""
        if self.on_update is not None:
            await self.on_update(partial)


class AgentTool(Protocol):
    """A tool as the loop sees it.

    ``prepare`` mends what models are known to send (JSON in strings, old field names) before
    validation; it must not raise for strange input but return it as it is. ``validate`` returns the
    typed arguments or raises `ToolError` with a text that names each problem and its path.
    ``execute`` runs the call. Raising is the only way to fail: `ToolError` carries text for the
    model and details for people; any other exception becomes a one-line error result and a log
    entry.
    """

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def parameters(self) -> JsonSchema: ...
    @property
    def mode(self) -> ExecutionMode: ...

    def prepare(self, raw: object) -> object: ...

    def validate(self, prepared: object) -> Any: ...

    async def execute(self, call: ToolCallContext, arguments: Any) -> ToolResult: ...
