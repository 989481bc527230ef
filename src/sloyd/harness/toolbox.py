"""The built-in tools on a workspace, with their queue, their journal and their settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sloyd.errors import UsageError
from sloyd.harness.home import sloyd_home
from sloyd.sessions.journal import Journal
from sloyd.tools.builtin import builtin_tools
from sloyd.tools.definition import ToolDefinition
from sloyd.tools.environment import ToolEnvironment, ToolSettings
from sloyd.workspace.base import Workspace
from sloyd.workspace.local import LocalWorkspace

__all__ = ["DEFAULT_JOURNAL_BYTES", "Toolbox", "local_journal"]

DEFAULT_JOURNAL_BYTES = 512 * 1024 * 1024


def local_journal(
    environment: Mapping[str, str], max_bytes: int = DEFAULT_JOURNAL_BYTES
) -> Journal:
    """The journal of file changes in Sloyd's home directory."""
    return Journal(sloyd_home(environment) / "journal", max_bytes=max_bytes)


@dataclass(frozen=True, slots=True)
class Toolbox:
    """A workspace and everything that tools need in it."""

    environment: ToolEnvironment
    journal: Journal | None

    @classmethod
    def local(
        cls,
        cwd: str | Path | None = None,
        *,
        settings: ToolSettings | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> Toolbox:
        """The tools on this machine. Raises `UsageError` when ``cwd`` is no directory."""
        directory = Path(cwd).expanduser().absolute() if cwd is not None else Path.cwd()
        if not directory.is_dir():
            raise UsageError(f"--cwd: there is no directory {directory}")
        journal = local_journal(os.environ if variables is None else variables)
        return cls.on(LocalWorkspace(str(directory)), journal=journal, settings=settings)

    @classmethod
    def on(
        cls,
        workspace: Workspace,
        *,
        journal: Journal | None = None,
        settings: ToolSettings | None = None,
    ) -> Toolbox:
        """The tools on any workspace; without a journal, changes are not recorded."""
        environment = ToolEnvironment(
            workspace=workspace, changes=journal, settings=settings or ToolSettings()
        )
        return cls(environment, journal)

    @property
    def workspace(self) -> Workspace:
        """Where the tools act."""
        return self.environment.workspace

    @property
    def definitions(self) -> list[ToolDefinition[Any]]:
        """All built-in definitions, the inactive ones among them."""
        return builtin_tools(self.environment)
