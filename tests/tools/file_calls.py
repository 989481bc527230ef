"""Calls of `edit` and `write` on real files, as the agent loop makes them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from sloyd.agent.tool import ToolCallContext
from sloyd.errors import ToolError
from sloyd.llm.messages import text_of
from sloyd.tools.definition import ToolDefinition, wrap
from sloyd.tools.edit import edit_tool
from sloyd.tools.environment import ChangeRecorder, ToolEnvironment
from sloyd.tools.write import write_tool
from sloyd.workspace.local import LocalWorkspace

CASES = Path(__file__).parents[1] / "cases"


def load_cases(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((CASES / name).read_text())
    return cases


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call gave: ``details`` as they are on disk, None for an error."""

    ok: bool
    text: str
    details: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class FileTools:
    """`edit` and `write` in a directory."""

    directory: Path
    environment: ToolEnvironment

    @classmethod
    def at(cls, directory: Path, changes: ChangeRecorder | None = None) -> FileTools:
        workspace = LocalWorkspace(str(directory), home=str(directory))
        return cls(directory, ToolEnvironment(workspace, changes=changes))

    async def call(self, tool: str, raw: object) -> Outcome:
        definitions: dict[str, ToolDefinition[Any]] = {
            "edit": edit_tool(self.environment),
            "write": write_tool(self.environment),
        }
        wrapped = wrap(definitions[tool])
        try:
            arguments = wrapped.validate(wrapped.prepare(raw))
            result = await wrapped.execute(ToolCallContext("call"), arguments)
        except ToolError as error:
            return Outcome(False, error.for_model, None)
        # Details must survive a session file.
        details = msgspec.json.decode(msgspec.json.encode(result.details))
        return Outcome(True, text_of(result.content), details)

    async def edit(self, path: str, *pairs: tuple[str, str]) -> Outcome:
        edits = [{"oldText": old, "newText": new} for old, new in pairs]
        return await self.call("edit", {"path": path, "edits": edits})

    async def write(self, path: str, content: object) -> Outcome:
        return await self.call("write", {"path": path, "content": content})

    def put(self, data: bytes, name: str = "f") -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path
