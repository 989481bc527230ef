"""The ``api`` that an extension's ``setup`` gets: all that it may register, ask and do.

    from sloyd.harness.extension_api import ExtensionApi

    def setup(api: ExtensionApi) -> None:
        api.on("agent_end", lambda event: print("\\a"))

Registering is for ``setup``; what needs the running agent (`ExtensionApi.agent` and everything
below it) is for the handlers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from sloyd.agent.tool import ToolResult
from sloyd.errors import UsageError
from sloyd.harness.commands import Command
from sloyd.harness.door import Door, NoticeLevel
from sloyd.harness.event_names import check_event_name
from sloyd.harness.extension_files import ExtensionSource
from sloyd.harness.extension_flags import ExtensionFlag, FlagKind, FlagReader
from sloyd.harness.registrations import (
    AfterCall,
    BeforeCall,
    BeforeRequest,
    ChangeContext,
    ChangeText,
    EventHandler,
    Gate,
    OwnProvider,
    Registrations,
    settled,
)
from sloyd.llm.models import Model, ModelInfo
from sloyd.llm.providers import Provider
from sloyd.tools.definition import ToolDefinition, ToolRenderer

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = ["ExtensionApi"]

Handler = TypeVar("Handler", bound=Callable[..., Any])


class ExtensionApi:
    """What one extension may register, ask and do.

    Attributes:
        name: of the extension: its file's name without the ending.
        origin: its file, or its module.
        registered: what it has registered so far.
    """

    def __init__(self, source: ExtensionSource, flags: FlagReader) -> None:
        self.name = source.name
        self.origin = source.origin
        self.registered = Registrations()
        self._flags = flags
        self._agent: CodingAgent | None = None

    # In setup: what the extension adds

    def register_tool(self, tool: ToolDefinition[Any] | Callable[..., Any]) -> ToolDefinition[Any]:
        """Add a tool: a definition, or a typed function with a docstring (see `sloyd.tool`).

        One of a name that is taken takes the place of that tool. Works as a decorator.
        """
        if not isinstance(tool, ToolDefinition):
            from sloyd.tools.functions import tool as define

            tool = define(tool)
        self.registered.tools.append(tool)
        return tool

    def register_command(
        self,
        name: str,
        handler: Callable[[str, Door], Awaitable[str | None] | str | None],
        *,
        doc: str = "",
        hint: str = "",
        while_running: bool = False,
    ) -> None:
        """Add the slash command ``/name``.

        The handler gets the text behind the name and the door. A text that it returns is said to
        the model.
        """

        async def run(_agent: CodingAgent, arguments: str, door: Door) -> str | None:
            return await settled(handler(arguments, door))

        self.registered.commands.append(
            Command(
                name=name,
                doc=doc or f"From the extension {self.name}",
                run=run,
                hint=hint,
                source=self.origin,
                while_running=while_running,
            )
        )

    def register_provider(
        self,
        provider: Provider,
        models: Sequence[ModelInfo] = (),
        *,
        open: Callable[[ModelInfo], Model] | None = None,  # noqa: A002 - what it does
    ) -> None:
        """Add a provider, for ``--model NAME/ID``.

        Without ``open`` its models are asked over HTTP as ``provider.api`` says; with it, by what
        it returns.
        """
        self.registered.providers.append(OwnProvider(provider, tuple(models), open))

    def register_renderer(self, tool_name: str, loader: Callable[[], ToolRenderer]) -> None:
        """Draw a tool's calls and results another way; ``loader`` is called when that happens."""
        self.registered.renderers[tool_name] = loader

    def flag(self, name: str, kind: FlagKind = "switch", doc: str = "", default: Any = None) -> Any:
        """Declare the switch ``--name``; returns its value, or the default.

        Raises `UsageError` for a value that is missing or of the wrong kind.
        """
        return self._flags.take(ExtensionFlag(name, kind, doc, default, self.name))

    # In setup: what the extension hears and changes

    @overload
    def on(self, event: str | type, handler: None = None) -> Callable[[Handler], Handler]: ...
    @overload
    def on(self, event: str | type, handler: EventHandler) -> EventHandler: ...
    def on(self, event: str | type, handler: EventHandler | None = None) -> Any:
        """Hear an event, by its class or its name on the JSON door; ``*`` means all of them.

        ``session_start`` comes once, when the agent is ready. Works as a decorator.
        Raises `UsageError` for a name that there is not.
        """
        name = check_event_name(event)

        def add(handler: Any) -> Any:
            self.registered.events.setdefault(name, []).append(handler)
            return handler

        return add if handler is None else add(handler)

    def before_tool_call(self, handler: BeforeCall, *, tools: Sequence[str] = ()) -> BeforeCall:
        """See each call of ``tools`` (of all, if none are named) before it runs.

        The handler returns None to let it run, `Block` with a reason to stop it, or
        `ChangeArguments`. A handler that fails stops the call.
        """
        self.registered.before.append(Gate(handler, tuple(tools)))
        return handler

    def after_tool_call(self, handler: AfterCall, *, tools: Sequence[str] = ()) -> AfterCall:
        """See each result; a `ToolResult` that the handler returns takes its place."""
        self.registered.after.append(Gate(handler, tuple(tools)))
        return handler

    def transform_context(self, handler: ChangeContext) -> ChangeContext:
        """See what each request carries; a `Context` that is returned is sent instead."""
        self.registered.contexts.append(handler)
        return handler

    def before_request(self, handler: BeforeRequest) -> BeforeRequest:
        """See each request before it is made; may return one with another model or options."""
        self.registered.requests.append(handler)
        return handler

    def transform_input(self, handler: ChangeText) -> ChangeText:
        """See what a person enters; a text that is returned takes its place."""
        self.registered.inputs.append(handler)
        return handler

    def transform_system_prompt(self, handler: ChangeText) -> ChangeText:
        """See the system prompt whenever it is built; a text that is returned takes its place.

        It should be the same for the same surroundings: providers cache by it.
        """
        self.registered.prompts.append(handler)
        return handler

    def dispose(self, callback: Callable[[], Any]) -> Callable[[], Any]:
        """Call this when the agent closes and before extensions are loaded anew."""
        self.registered.disposers.append(callback)
        return callback

    # In handlers: the running agent

    @property
    def agent(self) -> CodingAgent:
        """The agent. Raises `UsageError` in ``setup``, before there is one."""
        if self._agent is None:
            raise UsageError(
                f"the extension {self.name} asks for the agent before there is one: setup only"
                ' registers; use api.on("session_start", ...) for what comes first'
            )
        return self._agent

    def bind(self, agent: CodingAgent) -> None:
        """Give the extension its agent. Called by the host."""
        self._agent = agent

    @property
    def door(self) -> Door:
        """Where people are told and asked."""
        return self.agent.door

    def get_state(self, default: Any = None) -> Any:
        """What `set_state` kept last on this branch of the session."""
        kept = self.agent.session.state(self._state_key)
        return default if kept is None else kept

    def set_state(self, data: Any) -> None:
        """Keep data (anything that is JSON) in the session, on this branch."""
        self.agent.session.set_state(self._state_key, data)

    @property
    def _state_key(self) -> str:
        return f"extension.{self.name}"

    async def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Tell the person something."""
        await self.door.notify(message, level)

    async def confirm(self, title: str, message: str = "") -> bool:
        """Ask yes or no; no where nobody can be asked."""
        return await self.door.confirm(title, message)

    async def select(self, title: str, options: Sequence[str]) -> str | None:
        """Let one of the options be chosen; None where none is."""
        chosen = await self.door.select(title, options)
        return None if chosen is None else options[chosen]

    async def input(self, title: str, default: str = "") -> str | None:
        """Ask for a line of text; None where nobody answers."""
        return await self.door.input(title, default)

    def steer(self, text: str) -> None:
        """Say something to the running model after the current turn."""
        self.agent.steer(text)

    def follow_up(self, text: str) -> None:
        """Say something to the running model when it would stop."""
        self.agent.follow_up(text)

    async def run_tool(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        """Run a tool, active or not, as the model would; a failure is a result with ``is_error``.

        Hooks before and after tool calls are not asked: this is the extension's own doing.
        """
        from sloyd.agent.direct import run_call

        tool = self.agent.registry.agent_tool(name)
        if tool is None:
            known = ", ".join(self.agent.registry.names)
            raise UsageError(f"there is no tool {name}; the tools are: {known}")
        return await run_call(tool, f"{self.name}:{name}", arguments)
