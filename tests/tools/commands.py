"""The bash tool on a real directory, as a test drives it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.llm.messages import text_of
from sloyd.tools.bash import bash_tool
from sloyd.tools.definition import wrap
from sloyd.tools.environment import ToolEnvironment, ToolSettings
from sloyd.workspace.local import LocalWorkspace


class Bash:
    """Calls the tool as the loop does: raw arguments in, a result out.

    ``updates`` holds the partial results of the last call, ``result`` its end.
    """

    def __init__(
        self,
        directory: Path,
        *,
        environment: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> None:
        self.directory = directory
        settings.setdefault("output_directory", str(directory.parent / "outputs"))
        workspace = LocalWorkspace(str(directory), environment=environment)
        self.tool = wrap(bash_tool(ToolEnvironment(workspace, settings=ToolSettings(**settings))))
        self.updates: list[ToolResult] = []
        self.result = ToolResult()

    async def __call__(self, command: str, **arguments: Any) -> str:
        """Run a command; returns what the model reads."""
        self.updates.clear()
        raw = self.tool.prepare({"command": command, **arguments})
        context = ToolCallContext("call", on_update=self._take)
        self.result = await self.tool.execute(context, self.tool.validate(raw))
        return text_of(self.result.content)

    async def _take(self, partial: ToolResult) -> None:
        self.updates.append(partial)

    @property
    def details(self) -> dict[str, Any]:
        assert isinstance(self.result.details, dict)
        return self.result.details

    def living(self) -> list[int]:
        """The processes that work in this directory."""
        return [
            process.pid
            for process in psutil.process_iter(["cwd"])
            if process.info["cwd"] == str(self.directory) and process.pid != os.getpid()
        ]

    def stop_jobs(self) -> None:
        """End what the last command left running on purpose."""
        for pid in self.details.get("leftBehind", []):
            psutil.Process(pid).kill()
