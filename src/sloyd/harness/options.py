"""How a coding agent is to be opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sloyd.agent.limits import Limits
from sloyd.harness.model_choice import ModelChoice
from sloyd.harness.session_choice import SessionChoice
from sloyd.harness.settings import Settings
from sloyd.harness.trust import Ask
from sloyd.llm.models import Model, ThinkingLevel
from sloyd.tools.definition import ToolDefinition
from sloyd.workspace.base import Workspace

__all__ = ["AgentOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """How a coding agent is to be opened. Every field may be left out.

    Attributes:
        model: what answers, as a name (see `ModelChoice`) or ready made.
        tools: the active tools, as ``--tools`` takes them, or a sequence of names; an empty one
            means no tools.
        exclude_tools: names or patterns of tools to take away from those.
        builtin_tools: whether the built-in tools are active where ``tools`` does not say.
        extra_tools: further definitions, active from the start; a name that is taken is replaced.
        system_prompt: takes the place of the built prompt, and of ``SYSTEM.md``.
        append_system_prompt: texts behind the system prompt.
        workspace: where the tools act; by default this machine, in ``cwd``. A workspace that is
            given is no project of this machine: none of its files is read before the model asks.
        limits: where a run stops; what is left open here is as the settings have it.
        settings: the settings in force; None means those of the user's ``config.toml`` and, when
            the project is trusted, the project's over them.
        variables: the environment to read keys from; by default the process's own.
        context_files: whether AGENTS.md files are read.
        sessions_directory: where sessions are kept; by default as the settings say.
        session: which session to work in; by default one that is kept in memory only.
        extensions: files and directories of extensions to load beside the found ones.
        skills: files and directories of skills, likewise.
        prompt_templates: files and directories of prompt templates, likewise.
        find_extensions: whether extensions are looked for in the usual places.
        find_skills: whether skills are.
        find_prompt_templates: whether prompt templates are.
        trust_project: whether the project's own settings, extensions and so on are used; None
            means as decided before, as the settings say, or as ``ask`` answers.
        ask: asks the person whether to trust; without it nobody is asked, and the answer is no.
        offline: whether only the model's own requests use the network: no server is looked for.
        arguments: words of a command line that may hold flags of extensions; what remains is
            `CodingAgent.arguments`.
    """

    model: Model | ModelChoice | str | None = None
    thinking: ThinkingLevel | None = None
    tools: str | Sequence[str] | None = None
    exclude_tools: str | Sequence[str] | None = None
    builtin_tools: bool = True
    extra_tools: Sequence[ToolDefinition[Any]] = ()
    system_prompt: str | None = None
    append_system_prompt: Sequence[str] = ()
    cwd: str | Path | None = None
    workspace: Workspace | None = None
    limits: Limits = field(default_factory=Limits)
    settings: Settings | None = None
    variables: Mapping[str, str] | None = None
    context_files: bool = True
    sessions_directory: Path | None = None
    session: SessionChoice = field(default_factory=lambda: SessionChoice(kind="memory"))
    extensions: Sequence[str | Path] = ()
    skills: Sequence[str | Path] = ()
    prompt_templates: Sequence[str | Path] = ()
    find_extensions: bool = True
    find_skills: bool = True
    find_prompt_templates: bool = True
    trust_project: bool | None = None
    ask: Ask | None = None
    offline: bool = False
    arguments: Sequence[str] = ()
