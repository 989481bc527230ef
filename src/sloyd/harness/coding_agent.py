"""The coding agent: agent, tools, workspace, prompt and settings. Every door opens one."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sloyd.agent.agent import Agent
from sloyd.agent.events import AgentEvent
from sloyd.agent.limits import Limits
from sloyd.agent.listeners import Listener
from sloyd.agent.result import RunResult
from sloyd.errors import UsageError
from sloyd.harness.context_files import find_context_files, project_context
from sloyd.harness.home import sloyd_home
from sloyd.harness.model_choice import ModelChoice, choose_model
from sloyd.harness.settings import Settings
from sloyd.harness.system_prompt import system_prompt
from sloyd.harness.toolbox import Toolbox
from sloyd.llm.http_model import HttpModel
from sloyd.llm.messages import Message, UserMessage
from sloyd.llm.models import Model, StreamOptions, ThinkingLevel
from sloyd.tools.definition import ToolDefinition
from sloyd.tools.environment import ToolSettings
from sloyd.tools.registry import ToolRegistry, select
from sloyd.workspace.base import Workspace

__all__ = ["AgentOptions", "CodingAgent"]


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


class CodingAgent:
    """An open coding agent. Make one with `CodingAgent.open`."""

    def __init__(self, agent: Agent, registry: ToolRegistry, toolbox: Toolbox) -> None:
        self.agent = agent
        self.registry = registry
        self.toolbox = toolbox

    @classmethod
    @asynccontextmanager
    async def open(
        cls, options: AgentOptions | None = None, **changes: Any
    ) -> AsyncIterator[CodingAgent]:
        """Open a coding agent; keywords are fields of `AgentOptions`.

        Raises `UsageError` for options that cannot mean anything, `ProviderError` when there is no
        key for the model.
        """
        import dataclasses

        chosen = dataclasses.replace(options or AgentOptions(), **changes)
        variables = os.environ if chosen.variables is None else chosen.variables
        model, thinking = _model(chosen, variables)
        toolbox = _toolbox(chosen, variables)
        registry = ToolRegistry([*toolbox.definitions, *chosen.extra_tools])
        _activate(registry, chosen)
        agent = Agent(
            model,
            system_prompt=_prompt(chosen, registry, toolbox.workspace.cwd, variables),
            tools=registry.agent_tools(),
            options=StreamOptions(
                thinking=thinking,
                max_retries=chosen.settings.retry.attempts,
                idle_timeout=chosen.settings.retry.idle_seconds,
            ),
            limits=chosen.limits,
        )
        try:
            yield cls(agent, registry, toolbox)
        finally:
            if isinstance(model, HttpModel) and model is not chosen.model:
                await model.aclose()

    @property
    def model(self) -> Model:
        """What answers."""
        return self.agent.model

    @property
    def workspace(self) -> Workspace:
        """Where the tools act."""
        return self.toolbox.workspace

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far."""
        return tuple(self.agent.messages)

    async def prompt(self, prompt: str | UserMessage) -> RunResult:
        """Run until the model has nothing more to do. Raises `AgentBusy` during a run."""
        return await self.agent.prompt(prompt)

    def run(self, prompt: str | UserMessage) -> AsyncIterator[AgentEvent]:
        """The events of one run, as they happen."""
        return self.agent.run(prompt)

    def steer(self, message: str | UserMessage) -> None:
        """Say something to the model after the current turn."""
        self.agent.steer(message)

    def follow_up(self, message: str | UserMessage) -> None:
        """Say something to the model when it would stop."""
        self.agent.follow_up(message)

    def abort(self) -> None:
        """Stop the run; the history stays complete."""
        self.agent.abort()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Hear every event; returns the way to stop hearing."""
        return self.agent.subscribe(listener)

    def header(self) -> dict[str, Any]:
        """The first line of the JSON door: what follows and where it happens."""
        info = self.model.info
        return {
            "type": "session",
            "version": 3,
            "cwd": self.workspace.cwd,
            "provider": info.provider,
            "model": info.id,
        }


def _model(options: AgentOptions, variables: Mapping[str, str]) -> tuple[Model, ThinkingLevel]:
    chosen = options.model
    default = options.thinking or options.settings.model.thinking
    if chosen is None or isinstance(chosen, str):
        chosen = ModelChoice(model=chosen)
    if isinstance(chosen, ModelChoice):
        model, level = choose_model(chosen, variables, options.settings)
        return model, options.thinking or level or default
    return chosen, default


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
