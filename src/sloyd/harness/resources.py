"""What is found around a run: settings, instructions, skills, templates, extensions.

`find_resources` looks at the start and again on ``/reload``. What a project brings beside its
AGENTS.md files counts only once the project is trusted. Nothing that is broken stops the start: it
is named with file and line, and skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sloyd.errors import SettingsError, UsageError
from sloyd.harness.context_files import ContextFile, find_context_files, project_context
from sloyd.harness.events import Notice
from sloyd.harness.home import sloyd_home
from sloyd.harness.left_files import (
    is_closed,
    is_directory,
    is_file,
    is_same,
    read_left,
    read_left_text,
)
from sloyd.harness.model_tables import ModelTables
from sloyd.harness.options import AgentOptions
from sloyd.harness.settings_files import LoadedSettings, load_settings
from sloyd.harness.skills import Skill, find_skills, skill_list
from sloyd.harness.templates import Template, find_templates
from sloyd.harness.trust import Trust, decide_trust

if TYPE_CHECKING:
    from sloyd.harness.command_hooks import CommandHook

__all__ = ["Resources", "find_resources", "start_notices"]


class Resources(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was found.

    Attributes:
        project: the directory worked in, where it is one of this machine.
        models: the providers and models that the settings name, or None.
        hooks: the programs that the settings name, by event.
        system_prompt: takes the place of the built one, or None.
        additions: texts behind it, in their order.
        extension_roots: directories that hold extensions.
        problems: what was skipped, and why, for people.
        trust: whether the project counts, and what of it was left out.
    """

    home: Path
    project: Path | None
    loaded: LoadedSettings
    models: ModelTables | None
    hooks: Mapping[str, list[CommandHook]]
    trust: Trust
    context_files: tuple[ContextFile, ...] = ()
    skills: tuple[Skill, ...] = ()
    templates: tuple[Template, ...] = ()
    system_prompt: str | None = None
    additions: tuple[str, ...] = ()
    extension_roots: tuple[Path, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def trusted(self) -> bool:
        """Whether the project may configure Sloyd."""
        return self.trust.trusted

    def prompt_additions(self, active_tools: tuple[str, ...]) -> list[str]:
        """What stands behind the rules in the system prompt.

        Skills are files: a model that can read none is not told of them.
        """
        parts = [*self.additions, project_context(self.context_files)]
        if {"read", "bash"} & set(active_tools):
            parts.append(skill_list(self.skills))
        return [part for part in parts if part]


def start_notices(resources: Resources) -> Iterator[Notice]:
    """What a person should be told: what was skipped, and what is left out for want of trust."""
    for problem in resources.problems:
        yield Notice(message=problem, level="warning")
    if resources.trust.left_out and resources.project is not None:
        names = ", ".join(_below(path, resources.project) for path in resources.trust.left_out)
        yield Notice(
            message=f"{names} left out: this project is not trusted; --approve uses them once,"
            " /trust decides for good",
            level="warning",
        )


def _below(path: Path, project: Path) -> str:
    return str(path.relative_to(project)) if path.is_relative_to(project) else str(path)


async def find_resources(options: AgentOptions, variables: Mapping[str, str]) -> Resources:
    """Look for everything. Raises `UsageError` for a file that the options name and that is not
    there.
    """
    home = sloyd_home(variables)
    project = _project(options)
    user_file = home / "config.toml"
    user = load_settings(user_file) if options.settings is None else LoadedSettings()
    trust = Trust(False)
    if project is not None:
        default = (options.settings or user.settings).sessions.project_trust
        trust = await decide_trust(project, home, options.trust_project, default, options.ask)
    own = project / ".sloyd" if project is not None and trust.trusted else None
    if own is not None and (not is_directory(own) or is_same(own, home)):
        own = None
    loaded = user
    if options.settings is not None:
        loaded = LoadedSettings(options.settings)
    elif own is not None and is_file(own / "config.toml"):
        loaded = load_settings(user_file, own / "config.toml")
    problems = [f"{place}: cannot be looked into" for place in (home, own) if _closed(place)]
    problems += map(str, loaded.problems)
    models = None
    if loaded.tables.get("providers") or loaded.tables.get("models"):
        from sloyd.harness.model_config import read_model_tables

        models, skipped = read_model_tables(loaded)
        problems += map(str, skipped)
    if trust.problem is not None:
        problems.append(trust.problem)
    files = [user_file, *([own / "config.toml"] if own is not None else [])]
    hooks = _hooks(loaded, files, problems)
    context_files: list[ContextFile] = []
    if project is not None and options.context_files:
        context_files = find_context_files(project, home)
        problems += [file.problem for file in context_files if file.problem]
    skills, found = find_skills(_skill_roots(options, home, project if trust.trusted else None))
    problems += map(str, found)
    templates, found = find_templates(_template_roots(options, home, own))
    problems += map(str, found)
    system_prompt = _first_file("SYSTEM.md", home, own, problems)
    kept_addition = _first_file("APPEND_SYSTEM.md", home, own, problems)
    if options.system_prompt is not None:
        system_prompt = _text_or_file(options.system_prompt)
    given = [_text_or_file(text) for text in options.append_system_prompt]
    roots = [home / "extensions", *([own / "extensions"] if own else [])]
    return Resources(
        home=home,
        project=project,
        loaded=loaded,
        models=models,
        hooks=hooks,
        trust=trust,
        context_files=tuple(context_files),
        skills=tuple(skills),
        templates=tuple(templates),
        system_prompt=system_prompt,
        additions=tuple([kept_addition, *given] if kept_addition else given),
        extension_roots=tuple(
            root for root in roots if options.find_extensions and is_directory(root)
        ),
        problems=tuple(problems),
    )


def _hooks(
    loaded: LoadedSettings, files: list[Path], problems: list[str]
) -> Mapping[str, list[CommandHook]]:
    """The command hooks of the settings files; what cannot be used goes to ``problems``."""
    if "hooks" not in loaded.tables:
        return {}
    from sloyd.harness.command_hooks import read_command_hooks

    hooks, unusable = read_command_hooks(loaded.tables["hooks"], files)
    problems += unusable
    return hooks


def _project(options: AgentOptions) -> Path | None:
    if options.workspace is not None:
        return None
    directory = Path(options.cwd).expanduser().absolute() if options.cwd else Path.cwd()
    if not directory.is_dir():
        raise UsageError(f"--cwd: there is no directory {directory}")
    return directory


def _skill_roots(options: AgentOptions, home: Path, trusted: Path | None) -> list[Path]:
    roots = [_named("--skill", path) for path in options.skills]
    if options.find_skills:
        if trusted is not None:
            roots += [trusted / ".sloyd" / "skills", trusted / ".agents" / "skills"]
        # The public standard's place for skills that all agents of a user share.
        roots += [home / "skills", home.parent / ".agents" / "skills"]
    return list(dict.fromkeys(roots))


def _template_roots(options: AgentOptions, home: Path, own: Path | None) -> list[Path]:
    roots = [_named("--prompt-template", path) for path in options.prompt_templates]
    if options.find_prompt_templates:
        roots += [own / "prompts"] if own else []
        roots.append(home / "prompts")
    return list(dict.fromkeys(roots))


def _named(flag: str, value: str | Path) -> Path:
    path = Path(value).expanduser().absolute()
    if not path.exists():
        raise UsageError(f"{flag}: there is no file or directory {value}")
    return path


def _closed(place: Path | None) -> bool:
    return place is not None and is_closed(place)


def _first_file(name: str, home: Path, own: Path | None, problems: list[str]) -> str | None:
    """The project's file, else the user's; one that cannot be read is told and skipped."""
    for directory in (own, home):
        if directory is not None and is_file(directory / name):
            try:
                return read_left(directory / name).decode("utf-8-sig", "replace")
            except SettingsError as error:
                problems.append(f"{directory / name}: {error}")
    return None


def _text_or_file(value: str) -> str:
    """The text of the file that ``value`` names, or ``value`` itself where there is none."""
    if "\n" in value or len(value) > 1024:
        return value
    path = Path(value).expanduser()
    if not is_file(path):
        return value
    try:
        return read_left_text(path)
    except SettingsError as error:
        raise UsageError(f"the prompt file {value} {error}") from error
