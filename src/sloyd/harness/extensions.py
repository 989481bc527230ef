"""The extensions of a run: loaded, kept apart from each other, and disposed of.

What an extension does wrong is reported with file and line, and costs nobody else anything: a
``setup`` that fails leaves that extension out; a handler that fails has not been called; only a
handler that guards tool calls stops the call when it fails, for nobody knows what it would have
said.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from sloyd.agent.hooks import Block, CallDecision, FinishedCall, PendingCall, Request
from sloyd.agent.tool import ToolResult
from sloyd.errors import SloydError, UsageError
from sloyd.harness.event_names import EVERY, SessionStart, name_of
from sloyd.harness.extension_api import ExtensionApi
from sloyd.harness.extension_files import ExtensionSource, fault_place, load_setup
from sloyd.harness.extension_flags import FlagReader
from sloyd.harness.hook_chain import HookChain
from sloyd.harness.registrations import BeforeRequest, ChangeContext, Gate, OwnProvider, settled
from sloyd.llm.models import Context
from sloyd.tools.definition import ToolDefinition, ToolSource

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent
    from sloyd.harness.commands import Command

__all__ = ["Extensions", "load_extensions"]

_FAULTS = (Exception, SystemExit)
"""What code that is not ours may end with: a parser of options, say, exits."""


class _Loaded(msgspec.Struct, frozen=True, eq=False):
    source: ExtensionSource
    api: ExtensionApi


async def load_extensions(sources: list[ExtensionSource], arguments: tuple[str, ...]) -> Extensions:
    """Set up every extension; what fails is in `Extensions.problems`.

    Raises `UsageError` for a value of a switch that is missing or wrong.
    """
    flags = FlagReader(arguments)
    loaded: list[_Loaded] = []
    problems: list[str] = []
    for source in sources:
        api = ExtensionApi(source, flags)
        try:
            await settled(load_setup(source)(api))
        except _FAULTS as error:
            if flags.failure is not None:
                raise flags.failure from None
            problems.append(_fault(source, error, "could not be loaded"))
            await _dispose(_Loaded(source, api))
        else:
            loaded.append(_Loaded(source, api))
    return Extensions(loaded, flags, problems)


class Extensions:
    """The extensions that are loaded.

    Attributes:
        flags: the switches that they declared, and the words of the command line that are left.
        problems: what could not be loaded, with file and line.
    """

    def __init__(self, loaded: list[_Loaded], flags: FlagReader, problems: list[str]) -> None:
        self._loaded = loaded
        self._agent: CodingAgent | None = None
        self._told: set[str] = set()
        self.flags = flags
        self.problems = problems

    @property
    def names(self) -> tuple[str, ...]:
        """The extensions, in the order in which they were loaded."""
        return tuple(each.source.name for each in self._loaded)

    # What they add

    def tools(self, known: dict[str, ToolDefinition[Any]]) -> Iterator[ToolDefinition[Any]]:
        """Their tools, and tools of ``known`` that they draw another way."""
        renderers: dict[str, Any] = {}
        for each in self._loaded:
            renderers.update(each.api.registered.renderers)
            for tool in each.api.registered.tools:
                source = ToolSource("extension", each.source.origin)
                known[tool.name] = msgspec.structs.replace(tool, source=source)
                yield known[tool.name]
        for name, loader in renderers.items():
            if name in known:
                yield msgspec.structs.replace(known[name], renderer=loader)
            else:
                self.problems.append(f"a renderer is registered for {name}, which is no tool")

    def commands(self) -> Iterator[Command]:
        """Their slash commands."""
        for each in self._loaded:
            for command in each.api.registered.commands:
                yield msgspec.structs.replace(command, run=self._guarded_command(each, command))

    def providers(self) -> Iterator[OwnProvider]:
        """Their providers."""
        for each in self._loaded:
            yield from each.api.registered.providers

    # What they hear and change

    def bind(self, agent: CodingAgent) -> None:
        """Give them the agent that is open now."""
        self._agent = agent
        for each in self._loaded:
            each.api.bind(agent)

    async def begin(self, session_id: str) -> None:
        """Tell them that the agent is ready and a door open."""
        await self.dispatch(SessionStart(session_id))

    async def dispatch(self, event: object) -> None:
        """Let them hear an event."""
        name = name_of(event)
        for each in self._loaded:
            events = each.api.registered.events
            for handler in (*events.get(name, ()), *events.get(EVERY, ())):
                try:
                    await settled(handler(event))
                except _FAULTS as error:
                    await self._report(each, error, f"failed on {name}")

    def chain(self) -> HookChain:
        """Their hooks."""
        loaded = self._loaded
        return HookChain(
            prepare_request=[
                self._request(each, handler)
                for each in loaded
                for handler in each.api.registered.requests
            ],
            transform_context=[
                self._context(each, handler)
                for each in loaded
                for handler in each.api.registered.contexts
            ],
            before_tool_call=[
                self._before(each, gate) for each in loaded for gate in each.api.registered.before
            ],
            after_tool_call=[
                self._after(each, gate) for each in loaded for gate in each.api.registered.after
            ],
        )

    async def transform_input(self, text: str) -> str:
        """What a person entered, as they change it."""
        for each in self._loaded:
            for handler in each.api.registered.inputs:
                try:
                    changed = await settled(handler(text))
                except _FAULTS as error:
                    await self._report(each, error, "failed on an input")
                else:
                    text = text if changed is None else str(changed)
        return text

    def transform_system_prompt(self, prompt: str) -> str:
        """The system prompt as they change it. These handlers are plain functions."""
        for each in self._loaded:
            for handler in each.api.registered.prompts:
                try:
                    changed = handler(prompt)
                except _FAULTS as error:
                    self.problems.append(_fault(each.source, error, "failed on the system prompt"))
                else:
                    prompt = changed if isinstance(changed, str) else prompt
        return prompt

    async def dispose(self) -> None:
        """Let them clean up."""
        for each in reversed(self._loaded):
            for problem in await _dispose(each):
                if self._agent is not None:
                    await self._agent.notify(problem, "error")

    # Keeping them apart

    async def _report(self, each: _Loaded, error: BaseException, what: str) -> None:
        """Tell the person, once for each fault: a handler of each delta would fill the screen."""
        text = _fault(each.source, error, what)
        if text not in self._told and self._agent is not None:
            self._told.add(text)
            await self._agent.notify(text, "error")

    def _guarded_command(self, each: _Loaded, command: Command) -> Any:
        async def run(agent: CodingAgent, arguments: str, door: Any) -> str | None:
            try:
                return await command.run(agent, arguments, door)
            except SloydError:
                raise
            except _FAULTS as error:
                raise UsageError(
                    _fault(each.source, error, f"failed on /{command.name}")
                ) from error

        return run

    def _before(
        self, each: _Loaded, gate: Gate[PendingCall, CallDecision]
    ) -> Callable[[PendingCall], Awaitable[CallDecision]]:
        async def decide(pending: PendingCall) -> CallDecision:
            if gate.tools and pending.call.name not in gate.tools:
                return None
            try:
                return await settled(gate.handler(pending))
            except _FAULTS as error:
                await self._report(each, error, f"failed on a call of {pending.call.name}")
                return Block(
                    f"Not run: the extension {each.source.name}, which checks calls of this tool,"
                    f" failed ({type(error).__name__}: {error}). Tell the user; they can mend it."
                )

        return decide

    def _after(
        self, each: _Loaded, gate: Gate[FinishedCall, ToolResult | None]
    ) -> Callable[[FinishedCall], Awaitable[ToolResult | None]]:
        async def change(finished: FinishedCall) -> ToolResult | None:
            if gate.tools and finished.call.name not in gate.tools:
                return None
            try:
                return await settled(gate.handler(finished))
            except _FAULTS as error:
                await self._report(each, error, f"failed on a result of {finished.call.name}")
                return None

        return change

    def _context(
        self, each: _Loaded, handler: ChangeContext
    ) -> Callable[[Context], Awaitable[Context]]:
        async def change(context: Context) -> Context:
            try:
                return await settled(handler(context)) or context
            except _FAULTS as error:
                await self._report(each, error, "failed on a context")
                return context

        return change

    def _request(
        self, each: _Loaded, handler: BeforeRequest
    ) -> Callable[[Request], Awaitable[Request | None]]:
        async def change(request: Request) -> Request | None:
            try:
                return await settled(handler(request))
            except _FAULTS as error:
                await self._report(each, error, "failed on a request")
                return None

        return change


async def _dispose(each: _Loaded) -> list[str]:
    problems = []
    for callback in reversed(each.api.registered.disposers):
        try:
            await settled(callback())
        except _FAULTS as error:
            problems.append(_fault(each.source, error, "failed to clean up"))
    return problems


def _fault(source: ExtensionSource, error: BaseException, what: str) -> str:
    place = fault_place(error, source)
    name = type(error).__name__
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{place}: the extension {source.name} {what}: {name}: {message}"
