"""The coding agent: agent, tools, workspace, prompt and settings. Every door opens one."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Mapping,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import msgspec

from sloyd.agent.agent import Agent, Prompt
from sloyd.agent.handoff import events_of
from sloyd.agent.hooks import Request
from sloyd.agent.listeners import Listeners
from sloyd.agent.result import RunResult
from sloyd.errors import AgentBusy, UsageError
from sloyd.harness.conversation import Conversation
from sloyd.harness.door import Door, HeadlessDoor, NoticeLevel
from sloyd.harness.events import (
    AgentSettled,
    CompactionEnd,
    HarnessEvent,
    ModelChanged,
    Notice,
    RunHeader,
    SessionChanged,
    ThinkingChanged,
)
from sloyd.harness.extension_opening import open_extensions
from sloyd.harness.hook_chain import HookChain
from sloyd.harness.model_choice import ModelChoice
from sloyd.harness.opening import (
    activate_tools,
    build_prompt,
    make_limits,
    make_registry,
    make_toolbox,
    open_model,
    own_tables,
    sessions_directory,
)
from sloyd.harness.options import AgentOptions
from sloyd.harness.recall_tool import RECALL, has_cut
from sloyd.harness.recovery import Recovery
from sloyd.harness.resources import Resources, find_resources, start_notices
from sloyd.harness.session_choice import open_session
from sloyd.harness.settings import Settings
from sloyd.harness.toolbox import Toolbox, tool_settings
from sloyd.harness.trust import TrustDecision, TrustFile
from sloyd.llm.http_model import HttpModel
from sloyd.llm.messages import Message, UserMessage, user_message
from sloyd.llm.models import Model, StreamOptions, ThinkingLevel
from sloyd.sessions.session import Session
from sloyd.tools.registry import ToolRegistry
from sloyd.workspace.base import Workspace

if TYPE_CHECKING:
    from sloyd.harness.commands import Command, CommandTable
    from sloyd.harness.extensions import Extensions

__all__ = ["AgentOptions", "CodingAgent", "sessions_directory"]


class CodingAgent:
    """An open coding agent. Make one with `CodingAgent.open`.

    Attributes:
        agent: the loop: model, tools, messages.
        registry: all tools, and which are active.
        toolbox: the workspace and the journal of changes.
        conversation: the session and everything that changes which messages there are.
        recovery: how runs go on after faults that can be mended.
        resources: what was found around the run: settings, skills, templates and so on.
        door: where people are told and asked; the door that is open puts itself here.
        notices: what people should know from the start; see `tell_notices`.
        variables: the environment that keys are read from.
        extensions: those that are loaded, or None.
        models: the providers and models that settings and extensions name, or None.
        arguments: the words of the command line that are no extension's switches.
    """

    def __init__(
        self,
        agent: Agent,
        registry: ToolRegistry,
        toolbox: Toolbox,
        session: Session,
        options: AgentOptions,
        resources: Resources,
        variables: Mapping[str, str],
        extensions: Extensions | None = None,
    ) -> None:
        self.agent = agent
        self.registry = registry
        self.toolbox = toolbox
        self.notices: list[Notice] = []
        self.arguments: tuple[str, ...] = ()
        self._options = options
        self._began = False
        self._deafen: list[Callable[[], None]] = []
        self._commands: CommandTable | None = None
        self._own_commands: dict[str, Command] = {}
        self.variables = variables
        self._listeners: Listeners[HarnessEvent] = Listeners()
        self.door: Door = HeadlessDoor("sdk", self.notify)
        settings = resources.loaded.settings
        self.conversation = Conversation(
            agent,
            session,
            sessions=options.sessions_directory or sessions_directory(variables, settings),
            compaction=settings.compaction,
            emit=self._listeners.emit,
            journal=toolbox.journal,
        )
        self.recovery = Recovery(agent, self.conversation, settings.retry, self._listeners.emit)
        # After the conversation's own listener: a message is saved before anybody hears of it.
        agent.subscribe(self._listeners.emit)
        self._listeners.subscribe(self._offer_recall)
        self._use(resources, extensions)

    @classmethod
    @asynccontextmanager
    async def open(
        cls, options: AgentOptions | None = None, **changes: Any
    ) -> AsyncIterator[CodingAgent]:
        """Open a coding agent; keywords are fields of `AgentOptions`.

        Raises `UsageError` for options that cannot mean anything, `ProviderError` when there is no
        key for the model, `SessionError` when the session cannot be used.
        """
        chosen = dataclasses.replace(options or AgentOptions(), **changes)
        variables = os.environ if chosen.variables is None else chosen.variables
        if chosen.offline:
            variables = {**variables, "SLOYD_OFFLINE": "1"}
        resources = await find_resources(chosen, variables)
        settings = resources.loaded.settings
        extensions, arguments = await open_extensions(chosen, resources)
        toolbox = make_toolbox(chosen, settings, variables)
        opened: CodingAgent
        registry = make_registry(toolbox, chosen, extensions, lambda: opened.session)
        activate_tools(registry, chosen, settings)
        sessions = chosen.sessions_directory or sessions_directory(variables, settings)
        session = open_session(chosen.session, sessions, toolbox.workspace.cwd)
        try:
            own = () if extensions is None else tuple(extensions.providers())
            tables = own_tables(resources.models, own)
            model, thinking = open_model(chosen, settings, variables, session, tables, own)
            agent = Agent(
                model,
                system_prompt=build_prompt(registry, resources, toolbox.workspace.cwd, extensions),
                tools=registry.agent_tools(),
                options=StreamOptions(
                    thinking=thinking,
                    session_id=session.id,
                    max_retries=settings.retry.attempts,
                    idle_timeout=settings.retry.idle_seconds,
                ),
                limits=make_limits(chosen, settings),
            )
            opened = cls(
                agent, registry, toolbox, session, chosen, resources, variables, extensions
            )
            opened.arguments = arguments
            opened.conversation.note_model()
            opened._activate_recall()
            try:
                yield opened
            finally:
                await opened._close(keep=chosen.model)
        finally:
            session.close()

    async def _close(self, keep: object) -> None:
        if self.extensions is not None:
            with anyio.CancelScope(shield=True):
                await self.extensions.dispose()
        self.conversation.session.close()
        model = self.model
        if isinstance(model, HttpModel) and model is not keep:
            await model.aclose()

    async def _before_request(self, request: Request) -> None:
        await self.conversation.compact_if_needed()

    async def reload(self) -> None:
        """Read settings, instructions, skills, templates and extensions again.

        Raises `AgentBusy` during a run.
        """
        if self.is_running:
            raise AgentBusy("Nothing can be read again while the agent works; stop it first.")
        resources = await find_resources(self._options, self.variables)
        if self.extensions is not None:
            await self.extensions.dispose()
        extensions, _ = await open_extensions(self._options, resources)
        settings = resources.loaded.settings
        self.toolbox = Toolbox.on(
            self.workspace, journal=self.toolbox.journal, settings=tool_settings(settings)
        )
        known, active = self.registry.names, self.registry.active_names
        self.registry = make_registry(self.toolbox, self._options, extensions, lambda: self.session)
        kept = [name for name in active if name in self.registry.names]
        new = [name for name in self.registry.active_names if name not in known]
        self._use(resources, extensions)
        self.set_active_tools([*kept, *new])
        self._began = False
        await self.tell_notices()

    async def decide_trust(self, decision: TrustDecision) -> None:
        """Save for good whether the project is trusted, and read everything again.

        Raises `UsageError` where there is no project on this machine, and as `reload` does.
        """
        project = self.resources.project
        if project is None:
            raise UsageError("there is no project on this machine to trust")
        TrustFile(self.home).decide(project, decision)
        # What was said for this run only is over with that.
        self._options = dataclasses.replace(self._options, trust_project=None)
        await self.reload()

    def _use(self, resources: Resources, extensions: Extensions | None) -> None:
        """Work with what was found, at the start and again."""
        self.resources = resources
        self.extensions = extensions
        settings = resources.loaded.settings
        self.notices += start_notices(resources)
        self.own_providers = () if extensions is None else tuple(extensions.providers())
        self.models = own_tables(resources.models, self.own_providers)
        self._commands = None
        self.conversation.use_compaction(settings.compaction)
        self.agent.set_queue_modes(
            steering=settings.sessions.steering, follow_up=settings.sessions.follow_up
        )
        for unsubscribe in self._deafen:
            unsubscribe()
        chains = [HookChain(prepare_request=[self._before_request])]
        self._deafen = []
        if extensions is not None:
            extensions.bind(self)
            chains.append(extensions.chain())
            self._deafen.append(self._listeners.subscribe(extensions.dispatch))
            self.notices += [Notice(message=text, level="error") for text in extensions.problems]
        if resources.hooks:
            from sloyd.harness.command_hooks import CommandHooks

            programs = CommandHooks(
                resources.hooks, self.workspace.cwd, lambda: self.session.id, self.notify
            )
            chains.append(programs.chain())
            self._deafen.append(self._listeners.subscribe(programs.dispatch))
        self.agent.hooks = HookChain.joined(chains).hooks()

    async def _offer_recall(self, event: object) -> None:
        """Let the model look up what was cut, from the first cut on."""
        if isinstance(event, CompactionEnd | SessionChanged):
            self._activate_recall()

    def _activate_recall(self) -> None:
        wanted = self._options.tools is None and RECALL not in self.registry.active_names
        if wanted and has_cut(self.session):
            self.set_active_tools([*self.registry.active_names, RECALL])

    # What it is

    @property
    def model(self) -> Model:
        """What answers."""
        return self.agent.model

    @property
    def thinking(self) -> ThinkingLevel:
        """How much the model reasons."""
        return self.agent.options.thinking

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.resources.loaded.settings

    @property
    def commands(self) -> CommandTable:
        """The slash commands."""
        if self._commands is None:
            # Made when somebody asks: a single prompt needs none.
            from sloyd.harness.command_table import command_table

            more = self.extensions.commands() if self.extensions else ()
            self._commands = command_table(self.resources, more, self._own_commands)
        return self._commands

    @property
    def home(self) -> Path:
        """Where Sloyd keeps its own files."""
        return self.resources.home

    @property
    def sessions_directory(self) -> Path:
        """Where the sessions of all projects are kept."""
        named = self._options.sessions_directory
        return named or sessions_directory(self.variables, self.settings)

    @property
    def workspace(self) -> Workspace:
        """Where the tools act."""
        return self.toolbox.workspace

    @property
    def session(self) -> Session:
        """The session that is spoken in."""
        return self.conversation.session

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far."""
        return self.agent.messages

    @property
    def is_running(self) -> bool:
        """Whether a prompt is being worked on."""
        return self.agent.is_running or self.recovery.is_active

    # Talking

    async def prompt(self, prompt: Prompt) -> RunResult:
        """Run until the model has nothing more to do. Raises `AgentBusy` during a run."""
        await self.tell_notices()
        return await self._settled(self.recovery.prompt(prompt))

    async def resume(self) -> RunResult:
        """Go on where the conversation stands: after an abort, a limit, an error."""
        await self.tell_notices()
        return await self._settled(self.recovery.resume())

    async def _settled(self, run: Awaitable[RunResult]) -> RunResult:
        result = await run
        self.conversation.add_held()
        await self._listeners.emit(
            AgentSettled(outcome=result.outcome, error_message=result.error_message)
        )
        return result

    async def run(self, prompt: Prompt) -> AsyncGenerator[HarnessEvent, None]:
        """`prompt`, as an iterator over the events of the run. Leaving it early aborts the run."""
        events: AsyncGenerator[HarnessEvent, None] = events_of(
            lambda: self.prompt(prompt), subscribe=self.subscribe, abort=self.abort
        )
        async with aclosing(events):
            async for event in events:
                yield event

    def steer(self, message: str | UserMessage) -> None:
        """Say something to the model after the current turn."""
        self.recovery.steer(user_message(message))

    def follow_up(self, message: str | UserMessage) -> None:
        """Say something to the model when it would stop."""
        self.recovery.follow_up(user_message(message))

    def abort(self) -> None:
        """Stop the run; the history stays complete."""
        self.recovery.stop_waiting()
        self.conversation.stop_compaction()
        self.agent.abort()

    def subscribe(
        self, listener: Callable[[HarnessEvent], Awaitable[None] | None]
    ) -> Callable[[], None]:
        """Hear every event; returns the way to stop hearing."""
        return self._listeners.subscribe(listener)

    async def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Tell all listeners something that stops nothing."""
        await self._listeners.emit(Notice(message=message, level=level))

    async def tell_notices(self) -> None:
        """Tell the listeners what was found to be wrong at the start, or when reading again.

        A door does so once it listens; at the latest, the first prompt does. Extensions hear then
        that the session begins.
        """
        told, self.notices = self.notices, []
        for notice in told:
            await self._listeners.emit(notice)
        if self.extensions is not None and not self._began:
            self._began = True
            await self.extensions.begin(self.session.id)

    async def transform_input(self, text: str) -> str:
        """What a person has entered, as extensions change it."""
        return text if self.extensions is None else await self.extensions.transform_input(text)

    # Changing what answers

    async def set_model(self, choice: Model | ModelChoice | str) -> None:
        """Let another model answer from the next request on. Raises as `open` does."""
        options = AgentOptions(model=choice, thinking=self.thinking)
        model, thinking = open_model(
            options, self.settings, self.variables, None, self.models, self.own_providers
        )
        old, self.agent.model = self.agent.model, model
        self.conversation.note_model()
        info = model.info
        await self._listeners.emit(ModelChanged(provider=info.provider, model=info.id))
        if thinking != self.thinking:
            await self.set_thinking(thinking)
        if isinstance(old, HttpModel) and not self.is_running:
            await old.aclose()

    async def set_thinking(self, level: ThinkingLevel) -> None:
        """Let the model reason more or less from the next request on."""
        self.agent.options = msgspec.structs.replace(self.agent.options, thinking=level)
        self.conversation.note_model()
        await self._listeners.emit(ThinkingChanged(level=level))

    def set_active_tools(self, names: Sequence[str]) -> None:
        """Let the model use exactly these tools from the next request on."""
        self.registry.activate(names)
        self.agent.tools = self.registry.agent_tools()
        self.agent.system_prompt = build_prompt(
            self.registry, self.resources, self.workspace.cwd, self.extensions
        )

    def header(self) -> RunHeader:
        """The first line of the JSON door: what follows and where it happens."""
        info = self.model.info
        return RunHeader(
            id=self.session.id,
            timestamp=self.session.header.timestamp,
            cwd=self.workspace.cwd,
            provider=info.provider,
            model=info.id,
        )
