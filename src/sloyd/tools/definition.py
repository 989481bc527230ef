"""What the product knows of a tool, and `wrap`, the only way from there to an agent tool.

The chain, which ``docs/how-it-works.md`` follows: a definition is created -> it enters the
`sloyd.tools.registry.ToolRegistry` -> `wrap` makes it an `AgentTool` -> it is activated by name ->
its schema goes into the request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar

import msgspec

from sloyd.agent.tool import AgentTool, ExecutionMode, JsonSchema, ToolCallContext, ToolResult
from sloyd.tools.arguments import opened, validate
from sloyd.tools.schema import schema_of

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "Execute",
    "RenderState",
    "ToolDefinition",
    "ToolRenderer",
    "ToolSource",
    "wrap",
]

Parameters = TypeVar("Parameters")


class ToolSource(msgspec.Struct, frozen=True):
    """Where a definition comes from. ``origin`` is a module or file, for messages to people."""

    kind: Literal["builtin", "extension", "sdk"] = "builtin"
    origin: str = "sloyd"


class RenderState(msgspec.Struct, frozen=True):
    """How a call is to be drawn at this moment.

    Attributes:
        width: columns available.
        expanded: draw all of it, not the few lines of the folded form.
        running: the result is a partial one.
        elapsed: seconds since the call began, or that it took; None when unknown.
        cwd: paths inside it are drawn relative.
    """

    width: int = 80
    expanded: bool = False
    running: bool = False
    elapsed: float | None = None
    cwd: str = ""


class ToolRenderer(Protocol):
    """How a tool's call and result look. Must cope with arguments that are still streaming in."""

    def render_call(self, arguments: Mapping[str, Any], state: RenderState) -> RenderableType: ...

    def render_result(
        self, arguments: Mapping[str, Any], result: ToolResult, state: RenderState
    ) -> RenderableType: ...


Execute: TypeAlias = Callable[[ToolCallContext, Parameters], Awaitable[ToolResult]]


def _unchanged(raw: object) -> object:
    return raw


class ToolDefinition(msgspec.Struct, Generic[Parameters], frozen=True, kw_only=True, eq=False):
    """The product's description of a tool.

    Attributes:
        name: what the model calls; letters, digits, ``_`` and ``-``.
        label: what people see.
        description: the manual that the model reads.
        parameters: a `msgspec.Struct` class, from which schema and validation come, or a ready
            JSON Schema of an object, in which case ``execute`` gets a plain dict.
        execute: runs a call. Receives validated parameters. Fails by raising `ToolError`.
        prompt_snippet: one line for the list of tools in the system prompt.
        prompt_guidelines: rules for the system prompt while the tool is active.
        prepare: mends raw arguments before they are validated; see `AgentTool`.
        mode: whether its calls may run beside others of the same message.
        read_only: whether it can never change a file or start a process.
        default_active: whether it is active unless the user chooses otherwise.
        renderer: loads the tool's renderer; called only when something is drawn.
        source: where the definition comes from.
    """

    name: str
    label: str
    description: str
    parameters: type[Parameters] | JsonSchema
    execute: Execute[Parameters]
    prompt_snippet: str = ""
    prompt_guidelines: tuple[str, ...] = ()
    prepare: Callable[[object], object] = _unchanged
    mode: ExecutionMode = "parallel"
    read_only: bool = False
    default_active: bool = True
    renderer: Callable[[], ToolRenderer] | None = None
    source: ToolSource = ToolSource()


class _WrappedTool(msgspec.Struct, frozen=True, eq=False):
    """A definition behind the loop's interface."""

    definition: ToolDefinition[Any]
    parameters: JsonSchema

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def description(self) -> str:
        return self.definition.description

    @property
    def mode(self) -> ExecutionMode:
        return self.definition.mode

    def prepare(self, raw: object) -> object:
        return self.definition.prepare(opened(raw, dict, empty={}))

    def validate(self, prepared: object) -> Any:
        target = self.definition.parameters
        return validate(
            self.name, self.parameters, prepared, target if isinstance(target, type) else None
        )

    async def execute(self, call: ToolCallContext, arguments: Any) -> ToolResult:
        return await self.definition.execute(call, arguments)


def wrap(definition: ToolDefinition[Any]) -> AgentTool:
    """Make an agent tool of a definition."""
    target = definition.parameters
    schema = schema_of(target) if isinstance(target, type) else target
    return _WrappedTool(definition, schema)
