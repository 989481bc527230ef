"""The built-in tools on a workspace, with their queue, their journal and their settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sloyd.errors import UsageError
from sloyd.harness.home import sloyd_home
from sloyd.sessions.journal import Journal
from sloyd.tools.builtin import builtin_tools
from sloyd.tools.definition import ToolDefinition
from sloyd.tools.environment import ToolEnvironment, ToolSettings
from sloyd.workspace.base import Workspace
from sloyd.workspace.local import LocalWorkspace

if TYPE_CHECKING:
    from sloyd.harness.settings import Settings

__all__ = ["Toolbox", "local_journal", "tool_settings", "user_tool_settings"]


def local_journal(environment: Mapping[str, str], settings: ToolSettings) -> Journal:
    """The journal of file changes in Sloyd's home directory."""
    return Journal(sloyd_home(environment) / "journal", max_bytes=settings.journal_bytes)


def tool_settings(settings: Settings) -> ToolSettings:
    """What the settings say about the built-in tools."""
    return ToolSettings(
        shell_path=settings.shell.path,
        command_prefix=settings.shell.prefix,
        default_timeout=settings.shell.timeout,
        log_limit=settings.shell.log_bytes,
        hidden_variables=settings.shell.hide,
        passed_variables=settings.shell.let_through,
        image_box=settings.tools.image_side,
        search_program=settings.tools.search_program,
        journal_bytes=settings.tools.journal_bytes,
    )


def user_tool_settings(environment: Mapping[str, str]) -> ToolSettings:
    """What the user's own file says about the built-in tools, for doors without a project."""
    path = sloyd_home(environment) / "config.toml"
    if not os.path.isfile(path):
        return ToolSettings()
    from sloyd.harness.settings_files import load_settings  # most people have no such file

    return tool_settings(load_settings(path).settings)


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
        settings = settings or ToolSettings()
        journal = local_journal(os.environ if variables is None else variables, settings)
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
