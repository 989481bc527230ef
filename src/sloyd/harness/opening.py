"""The parts of a coding agent, made from its options: model, tools, prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sloyd.agent.limits import Limits
from sloyd.errors import SloydError
from sloyd.harness.home import sloyd_home
from sloyd.harness.model_choice import ModelChoice, choose_model
from sloyd.harness.model_tables import ModelTables
from sloyd.harness.options import AgentOptions
from sloyd.harness.recall_tool import recall_tool
from sloyd.harness.resources import Resources
from sloyd.harness.settings import Settings
from sloyd.harness.system_prompt import system_prompt
from sloyd.harness.toolbox import Toolbox, tool_settings
from sloyd.llm.models import THINKING_LEVELS, Model, ThinkingLevel
from sloyd.sessions.session import Session
from sloyd.tools.registry import ToolRegistry, select

if TYPE_CHECKING:
    from sloyd.harness.extensions import Extensions
    from sloyd.harness.registrations import OwnProvider

__all__ = [
    "activate_tools",
    "build_prompt",
    "make_limits",
    "make_registry",
    "make_toolbox",
    "open_model",
    "own_tables",
    "sessions_directory",
]


def sessions_directory(variables: Mapping[str, str], settings: Settings) -> Path:
    """Where the sessions of all projects are kept."""
    named = settings.sessions.directory
    return Path(named).expanduser() if named else sloyd_home(variables) / "sessions"


def open_model(
    options: AgentOptions,
    settings: Settings,
    variables: Mapping[str, str],
    session: Session | None,
    tables: ModelTables | None = None,
    own: Sequence[OwnProvider] = (),
) -> tuple[Model, ThinkingLevel]:
    """What answers, and how much it reasons: as asked, else as the session had it, else as set.

    ``own`` are the providers of extensions.
    """
    chosen = options.model
    default = options.thinking or settings.model.thinking
    if chosen is None or isinstance(chosen, str):
        chosen = ModelChoice(model=chosen)
    if not isinstance(chosen, ModelChoice):
        return chosen, default

    def choose(choice: ModelChoice) -> tuple[Model, ThinkingLevel | None]:
        if own:
            from sloyd.harness.extension_providers import own_model

            named = choice.model or settings.model.default
            found = own_model(replace(choice, model=named), own)
            if found is not None:
                return found
        return choose_model(choice, variables, settings, tables)

    known = session.context() if session is not None else None
    if known is not None and known.model_id and chosen.is_open:
        try:
            model, _ = choose(replace(chosen, model=known.model_id, provider=known.provider))
        except SloydError:
            pass
        else:
            saved = known.thinking_level
            kept = msgspec.convert(saved, ThinkingLevel) if saved in THINKING_LEVELS else default
            return model, options.thinking or kept
    model, level = choose(chosen)
    return model, options.thinking or level or default


def own_tables(tables: ModelTables | None, own: Sequence[OwnProvider]) -> ModelTables | None:
    """The providers and models of the settings, with those of extensions."""
    if not own:
        return tables
    from sloyd.harness.extension_providers import with_providers

    return with_providers(tables, own)


def make_limits(options: AgentOptions, settings: Settings) -> Limits:
    """Where a run stops: as the options say, else as the settings do."""
    given, kept = options.limits, settings.limits
    return msgspec.structs.replace(
        given,
        max_turns=kept.turns if given.max_turns is None else given.max_turns,
        max_time=kept.seconds if given.max_time is None else given.max_time,
        max_cost=kept.dollars if given.max_cost is None else given.max_cost,
    )


def make_toolbox(
    options: AgentOptions, settings: Settings, variables: Mapping[str, str]
) -> Toolbox:
    """The tools' surroundings: the workspace that is given, or this machine."""
    if options.workspace is not None:
        return Toolbox.on(options.workspace, settings=tool_settings(settings))
    return Toolbox.local(options.cwd, settings=tool_settings(settings), variables=variables)


def activate_tools(registry: ToolRegistry, options: AgentOptions, settings: Settings) -> None:
    """Make active what the options, else the settings, ask for."""
    selection = options.tools if options.tools is not None else settings.tools.active
    if not options.builtin_tools:
        kept = (registry.get(name) for name in registry.active_names)
        registry.activate([d.name for d in kept if d and d.source.kind != "builtin"])
        selection = options.tools
    if selection is not None:
        registry.activate(select(registry, selection))
    wanted = [*registry.active_names, *(tool.name for tool in options.extra_tools)]
    unwanted = select(registry, options.exclude_tools) if options.exclude_tools else ()
    registry.activate([name for name in dict.fromkeys(wanted) if name not in unwanted])


def make_registry(
    toolbox: Toolbox,
    options: AgentOptions,
    extensions: Extensions | None,
    session: Callable[[], Session],
) -> ToolRegistry:
    """All tools: the built-in ones, those of extensions, those of the options."""
    registry = ToolRegistry([*toolbox.definitions, recall_tool(session)])
    if extensions is not None:
        known = {name: tool for name in registry.names if (tool := registry.get(name))}
        for definition in extensions.tools(known):
            registry.register(definition)
    for definition in options.extra_tools:
        registry.register(definition)
    return registry


def build_prompt(
    registry: ToolRegistry, resources: Resources, cwd: str, extensions: Extensions | None
) -> str:
    """The system prompt for the tools that are active now."""
    prompt = system_prompt(
        registry.active,
        cwd=cwd,
        base=resources.system_prompt,
        additions=resources.prompt_additions(registry.active_names),
    )
    return prompt if extensions is None else extensions.transform_system_prompt(prompt)
