"""Project trust: nothing of a project that configures or runs code counts until a person agrees.

Instructions (``AGENTS.md``) are only text for the model and need no trust. Settings, extensions,
skills, templates and prompt files of the project do. A decision holds for a directory and all below
it; the nearest saved one wins.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from sloyd.errors import SettingsError
from sloyd.harness.home import replace_privately
from sloyd.harness.left_files import is_same
from sloyd.harness.settings import TrustDefault

__all__ = [
    "Ask",
    "Trust",
    "TrustAnswer",
    "TrustDecision",
    "TrustFile",
    "decide_trust",
    "needs_trust",
]

TrustDecision: TypeAlias = Literal["trusted", "untrusted"]
TrustAnswer: TypeAlias = Literal["always", "once", "not-now", "never"]
"""What a person says: the first and the last are kept, the others hold for this run."""

Ask: TypeAlias = Callable[[Path, Sequence[Path]], Awaitable[TrustAnswer]]
"""Asks a person about a project and what it has that would configure Sloyd or run code."""

_CONFIGURING = (
    "config.toml",
    "mcp.json",
    "extensions",
    "skills",
    "prompts",
    "themes",
    "SYSTEM.md",
    "APPEND_SYSTEM.md",
)


class Trust(msgspec.Struct, frozen=True):
    """Whether a project may configure Sloyd, and what of it was left out because it may not."""

    trusted: bool
    left_out: tuple[Path, ...] = ()
    problem: str | None = None


def needs_trust(project: Path, home: Path | None = None) -> list[Path]:
    """What the project has that would configure Sloyd or run code.

    The directory ``home`` is the user's own, also where it lies in the project.
    """
    found = []
    own = project / ".sloyd"
    if os.path.isdir(own) and not (home is not None and is_same(own, home)):
        found += [own / name for name in _CONFIGURING if os.path.lexists(own / name)]
    skills = project / ".agents" / "skills"
    if os.path.isdir(skills) and project.resolve() != Path.home().resolve():
        found.append(skills)
    return found


async def decide_trust(
    project: Path, home: Path, choice: bool | None, default: TrustDefault, ask: Ask | None
) -> Trust:
    """Whether the project is trusted: by the flag, the saved decision, the setting, the person.

    A project without anything to trust counts as trusted unless somebody has said no.
    """
    found = tuple(needs_trust(project, home))
    if choice is not None:
        return Trust(choice, () if choice else found)
    file = TrustFile(home)
    try:
        saved = file.decision(project)
    except SettingsError as error:
        return Trust(False, found, str(error))
    if saved is not None:
        return Trust(saved == "trusted", () if saved == "trusted" else found)
    if not found or default == "always":
        return Trust(True)
    if default == "never" or ask is None:
        return Trust(False, found)
    answer = await ask(project, found)
    trusted = answer in ("always", "once")
    if answer in ("always", "never"):
        file.decide(project, "trusted" if trusted else "untrusted")
    return Trust(trusted, () if trusted else found)


class TrustFile:
    """The saved decisions, in ``trust.json`` of Sloyd's home directory."""

    def __init__(self, home: Path) -> None:
        self._path = home / "trust.json"

    def decision(self, project: Path) -> TrustDecision | None:
        """The nearest decision for a directory or one above it."""
        saved = self._load()
        resolved = project.resolve()
        for directory in (resolved, *resolved.parents):
            value = saved.get(str(directory))
            if value is not None:
                return "trusted" if value else "untrusted"
        return None

    def decide(self, project: Path, decision: TrustDecision) -> None:
        """Save a decision. Raises `SettingsError` when the file cannot be read or written."""
        saved = {**self._load(), str(project.resolve()): decision == "trusted"}
        replace_privately(self._path, json.dumps(saved, indent=2, sort_keys=True) + "\n")

    def _load(self) -> Mapping[str, bool]:
        try:
            content = json.loads(self._path.read_text("utf-8-sig"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            # A file that cannot be read must not be overwritten with fewer decisions.
            raise SettingsError(f"cannot use {self._path}: {error}; mend or remove it") from error
        if not isinstance(content, dict):
            raise SettingsError(f"cannot use {self._path}: it must be an object; remove it")
        return {str(key): value for key, value in content.items() if isinstance(value, bool)}
