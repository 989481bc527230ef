"""The coding agent: agent, tools, workspace, prompt and settings. Every door opens one."""

from __future__ import annotations

import asyncio
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
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from sloyd.agent.agent import Agent, Prompt
from sloyd.agent.handoff import Handoff
from sloyd.agent.hooks import Hooks, Request
from sloyd.agent.limits import Limits
from sloyd.agent.listeners import Listeners
from sloyd.agent.result import RunResult
from sloyd.errors import SloydError, UsageError
from sloyd.harness.context_files import find_context_files, project_context
from sloyd.harness.conversation import Conversation
from sloyd.harness.events import HarnessEvent, ModelChanged, Notice, ThinkingChanged
from sloyd.harness.home import sloyd_home
from sloyd.harness.model_choice import ModelChoice, choose_model
from sloyd.harness.recovery import Recovery
from sloyd.harness.session_choice import SessionChoice, open_session
from sloyd.harness.settings import Settings
from sloyd.harness.system_prompt import system_prompt
from sloyd.harness.toolbox import Toolbox
from sloyd.llm.http_model import HttpModel
from sloyd.llm.messages import Message, UserMessage
from sloyd.llm.models import THINKING_LEVELS, Model, StreamOptions, ThinkingLevel
from sloyd.sessions.entries import ModelChangeEntry, ThinkingLevelChangeEntry
from sloyd.sessions.session import Session
from sloyd.tools.definition import ToolDefinition
from sloyd.tools.environment import ToolSettings
from sloyd.tools.registry import ToolRegistry, select
from sloyd.workspace.base import Workspace

__all__ = ["AgentOptions", "CodingAgent", "sessions_directory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """How a coding agent is to be opened. Every field may be left out.

    Attributes:
        model: what answers, as a name (see `ModelChoice`) or ready made.
        tools: the active tools, as ``--tools`` takes them, or a sequence of names; an empty one
            means no tools.
        extra_tools: further definitions, active from the start; a name that is taken is replaced.
        system_prompt: takes the place of the built prompt.
        append_system_prompt: texts behind the system prompt.
        workspace: where the tools act; by default this machine, in ``cwd``.
        limits: where a run stops.
        settings: the settings in force; by default the built-in ones.
        variables: the environment to read keys from; by default the process's own.
        context_files: whether AGENTS.md files are read.
        session: which session to work in; by default one that is kept in memory only.
    """

    model: Model | ModelChoice | str | None = None
    thinking: ThinkingLevel | None = None
    tools: str | Sequence[str] | None = None
    extra_tools: Sequence[ToolDefinition[Any]] = ()
    system_prompt: str | None = None
    append_system_prompt: Sequence[str] = ()
    cwd: str | Path | None = None
    workspace: Workspace | None = None
    limits: Limits = field(default_factory=Limits)
    settings: Settings = field(default_factory=Settings)
    variables: Mapping[str, str] | None = None
    context_files: bool = True
    session: SessionChoice = field(default_factory=lambda: SessionChoice(kind="memory"))


class CodingAgent:
    """An open coding agent. Make one with `CodingAgent.open`.

    Attributes:
        agent: the loop: model, tools, messages.
        registry: all tools, and which are active.
        toolbox: the workspace and the journal of changes.
        conversation: the session and everything that changes which messages there are.
        settings: the settings in force.
    """

    def __init__(
        self,
        agent: Agent,
        registry: ToolRegistry,
        toolbox: Toolbox,
        session: Session,
        options: AgentOptions,
        variables: Mapping[str, str],
    ) -> None:
        self.agent = agent
        self.registry = registry
        self.toolbox = toolbox
        self.settings = options.settings
        self._variables = variables
        self._listeners: Listeners[HarnessEvent] = Listeners()
        self.conversation = Conversation(
            agent,
            session,
            sessions=sessions_directory(variables, options.settings),
            compaction=options.settings.compaction,
            emit=self._listeners.emit,
        )
        self._recovery = Recovery(
            agent, self.conversation, options.settings.retry, self._listeners.emit
        )
        agent.hooks = Hooks(prepare_request=self._before_request)
        agent.set_queue_modes(
            steering=options.settings.sessions.steering,
            follow_up=options.settings.sessions.follow_up,
        )
        # After the conversation's own listener: a message is saved before anybody hears of it.
        agent.subscribe(self._listeners.emit)

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
        toolbox = _toolbox(chosen, variables)
        registry = ToolRegistry([*toolbox.definitions, *chosen.extra_tools])
        _activate(registry, chosen)
        sessions = sessions_directory(variables, chosen.settings)
        session = open_session(chosen.session, sessions, toolbox.workspace.cwd)
        try:
            model, thinking = _model(chosen, variables, session)
            agent = Agent(
                model,
                system_prompt=_prompt(chosen, registry, toolbox.workspace.cwd, variables),
                tools=registry.agent_tools(),
                options=StreamOptions(
                    thinking=thinking,
                    session_id=session.id,
                    max_retries=chosen.settings.retry.attempts,
                    idle_timeout=chosen.settings.retry.idle_seconds,
                ),
                limits=chosen.limits,
            )
            opened = cls(agent, registry, toolbox, session, chosen, variables)
            opened._note_model()
            yield opened
            await opened._close(keep=chosen.model)
        finally:
            session.close()

    async def _close(self, keep: object) -> None:
        self.conversation.session.close()
        model = self.model
        if isinstance(model, HttpModel) and model is not keep:
            await model.aclose()

    async def _before_request(self, request: Request) -> None:
        await self.conversation.compact_if_needed()

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
        """Whether a run is under way."""
        return self.agent.is_running

    # Talking

    async def prompt(self, prompt: Prompt) -> RunResult:
        """Run until the model has nothing more to do. Raises `AgentBusy` during a run."""
        return await self._recovery.prompt(prompt)

    async def resume(self) -> RunResult:
        """Go on where the conversation stands: after an abort, a limit, an error."""
        return await self._recovery.resume()

    async def run(self, prompt: Prompt) -> AsyncGenerator[HarnessEvent, None]:
        """`prompt`, as an iterator over the events of the run. Leaving it early aborts the run."""
        handoff: Handoff[HarnessEvent] = Handoff()
        unsubscribe = self.subscribe(handoff.put)
        task = asyncio.create_task(self.prompt(prompt))
        task.add_done_callback(lambda _: handoff.end())
        try:
            while (event := await handoff.get()) is not None:
                yield event
            await task
        finally:
            unsubscribe()
            handoff.leave()
            if not task.done():
                self.abort()
                await task

    def steer(self, message: str | UserMessage) -> None:
        """Say something to the model after the current turn."""
        self.agent.steer(message)

    def follow_up(self, message: str | UserMessage) -> None:
        """Say something to the model when it would stop."""
        self.agent.follow_up(message)

    def abort(self) -> None:
        """Stop the run; the history stays complete."""
        self._recovery.stop_waiting()
        self.agent.abort()

    def subscribe(
        self, listener: Callable[[HarnessEvent], Awaitable[None] | None]
    ) -> Callable[[], None]:
        """Hear every event; returns the way to stop hearing."""
        return self._listeners.subscribe(listener)

    async def notify(self, message: str, level: Literal["info", "warning", "error"]) -> None:
        """Tell all listeners something that stops nothing."""
        await self._listeners.emit(Notice(message=message, level=level))

    # Changing what answers

    async def set_model(self, choice: Model | ModelChoice | str) -> None:
        """Let another model answer from the next request on. Raises as `open` does."""
        options = AgentOptions(model=choice, thinking=self.thinking, settings=self.settings)
        model, thinking = _model(options, self._variables, None)
        old, self.agent.model = self.agent.model, model
        self._note_model()
        info = model.info
        await self._listeners.emit(ModelChanged(provider=info.provider, model=info.id))
        if thinking != self.thinking:
            await self.set_thinking(thinking)
        if isinstance(old, HttpModel) and not self.is_running:
            await old.aclose()

    async def set_thinking(self, level: ThinkingLevel) -> None:
        """Let the model reason more or less from the next request on."""
        self.agent.options = msgspec.structs.replace(self.agent.options, thinking=level)
        self._note_model()
        await self._listeners.emit(ThinkingChanged(level=level))

    def set_active_tools(self, names: Sequence[str]) -> None:
        """Let the model use exactly these tools from the next request on."""
        self.registry.activate(names)
        self.agent.tools = self.registry.agent_tools()

    def _note_model(self) -> None:
        """Keep in the session what answers, where it is not what the session says already."""
        known = self.session.context()
        info = self.model.info
        if (known.provider, known.model_id) != (info.provider, info.id):
            self.session.append(ModelChangeEntry(provider=info.provider, model_id=info.id))
        if known.thinking_level != self.thinking:
            self.session.append(ThinkingLevelChangeEntry(thinking_level=self.thinking))

    def header(self) -> dict[str, Any]:
        """The first line of the JSON door: what follows and where it happens."""
        info = self.model.info
        return {
            "type": "session",
            "version": 3,
            "id": self.session.id,
            "timestamp": self.session.header.timestamp,
            "cwd": self.workspace.cwd,
            "provider": info.provider,
            "model": info.id,
        }


def sessions_directory(variables: Mapping[str, str], settings: Settings) -> Path:
    """Where the sessions of all projects are kept."""
    named = settings.sessions.directory
    return Path(named).expanduser() if named else sloyd_home(variables) / "sessions"


def _model(
    options: AgentOptions, variables: Mapping[str, str], session: Session | None
) -> tuple[Model, ThinkingLevel]:
    """What answers, and how much it reasons: as asked, else as the session had it, else as set."""
    chosen = options.model
    default = options.thinking or options.settings.model.thinking
    if chosen is None or isinstance(chosen, str):
        chosen = ModelChoice(model=chosen)
    if not isinstance(chosen, ModelChoice):
        return chosen, default
    known = session.context() if session is not None else None
    if known is not None and known.model_id and chosen == ModelChoice():
        try:
            model, _ = choose_model(
                ModelChoice(model=known.model_id, provider=known.provider),
                variables,
                options.settings,
            )
        except SloydError:
            pass
        else:
            saved = known.thinking_level
            kept = msgspec.convert(saved, ThinkingLevel) if saved in THINKING_LEVELS else default
            return model, options.thinking or kept
    model, level = choose_model(chosen, variables, options.settings)
    return model, options.thinking or level or default


def _toolbox(options: AgentOptions, variables: Mapping[str, str]) -> Toolbox:
    settings = options.settings
    tool_settings = ToolSettings(
        shell_path=settings.shell.path,
        command_prefix=settings.shell.prefix,
        default_timeout=settings.shell.timeout,
        log_limit=settings.shell.log_bytes,
        hidden_variables=settings.shell.hide,
        passed_variables=settings.shell.let_through,
        image_box=settings.tools.image_side,
        search_program=settings.tools.search_program,
    )
    if options.workspace is not None:
        return Toolbox.on(options.workspace, settings=tool_settings)
    return Toolbox.local(options.cwd, settings=tool_settings, variables=variables)


def _activate(registry: ToolRegistry, options: AgentOptions) -> None:
    selection = options.tools if options.tools is not None else options.settings.tools.active
    if selection is not None:
        registry.activate(select(registry, selection))
    wanted = [*registry.active_names, *(tool.name for tool in options.extra_tools)]
    registry.activate(list(dict.fromkeys(wanted)))


def _prompt(
    options: AgentOptions, registry: ToolRegistry, cwd: str, variables: Mapping[str, str]
) -> str:
    additions = [_text_or_file(text) for text in options.append_system_prompt]
    if options.context_files and options.workspace is None:
        additions.append(project_context(find_context_files(Path(cwd), sloyd_home(variables))))
    base = None if options.system_prompt is None else _text_or_file(options.system_prompt)
    return system_prompt(registry.active, cwd=cwd, base=base, additions=additions)


def _text_or_file(value: str) -> str:
    """The text of the file that ``value`` names, or ``value`` itself where there is none."""
    if "\n" in value or len(value) > 1024:
        return value
    path = Path(value).expanduser()
    try:
        return path.read_text("utf-8-sig") if path.is_file() else value
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the prompt file {value}: {error}") from error
