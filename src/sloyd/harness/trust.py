"""Project trust: nothing of a project that configures or runs code counts until a person agrees.

Instructions (``AGENTS.md``) are only text for the model and need no trust. Settings, extensions,
skills, templates and prompt files of the project do. A decision holds for a directory and all below
it; the nearest saved one wins.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from sloyd.errors import SettingsError
from sloyd.harness.home import private_directory

__all__ = ["TrustDecision", "TrustFile", "needs_trust"]

TrustDecision: TypeAlias = Literal["trusted", "untrusted"]

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


def needs_trust(project: Path) -> list[Path]:
    """What the project has that would configure Sloyd or run code."""
    own = [project / ".sloyd" / name for name in _CONFIGURING]
    return [path for path in (*own, project / ".agents" / "skills") if path.exists()]


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
        private_directory(self._path.parent)
        temporary = self._path.with_name(f"trust.{os.getpid()}.tmp")
        try:
            temporary.write_text(json.dumps(saved, indent=2, sort_keys=True) + "\n", "utf-8")
            temporary.replace(self._path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise SettingsError(f"cannot write {self._path}: {error.strerror}") from error

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
