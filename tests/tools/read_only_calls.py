"""Calls of the tools that change nothing, as the agent loop makes them."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from PIL import Image as Pillow

from sloyd.agent.tool import ToolCallContext
from sloyd.errors import ToolError
from sloyd.llm.messages import Image, text_of
from sloyd.llm.models import ModelInfo
from sloyd.tools.definition import ToolDefinition, wrap
from sloyd.tools.environment import ToolEnvironment, ToolSettings
from sloyd.tools.find import find_tool
from sloyd.tools.grep import grep_tool
from sloyd.tools.ls import ls_tool
from sloyd.tools.read import read_tool
from sloyd.workspace.base import Workspace
from sloyd.workspace.local import LocalWorkspace

TOOLS: dict[str, Callable[[ToolEnvironment], ToolDefinition[Any]]] = {
    "read": read_tool,
    "grep": grep_tool,
    "find": find_tool,
    "ls": ls_tool,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call gave: the text for the model, the image behind it, details as on disk."""

    ok: bool
    text: str
    image: Image | None = None
    details: Any = None

    @property
    def lines(self) -> list[str]:
        """The lines of the text in front of any notice."""
        if self.text.startswith("[Binary file matches"):
            return []
        return self.text.split("\n\n[", 1)[0].split("\n")

    def decoded(self) -> Pillow.Image:
        """The image, decoded whole, as a provider would."""
        assert self.image is not None
        decoded = Pillow.open(io.BytesIO(base64.b64decode(self.image.data, validate=True)))
        decoded.load()
        assert f"image/{str(decoded.format).lower()}" == self.image.mime_type
        return decoded


@dataclass(frozen=True, slots=True)
class ReadOnlyTools:
    """`read`, `grep`, `find` and `ls` in one place."""

    environment: ToolEnvironment

    @classmethod
    def at(cls, directory: Path, **settings: Any) -> ReadOnlyTools:
        workspace = LocalWorkspace(str(directory), home=str(directory))
        return cls.on(workspace, **settings)

    @classmethod
    def on(cls, workspace: Workspace, **settings: Any) -> ReadOnlyTools:
        return cls(ToolEnvironment(workspace, settings=ToolSettings(**settings)))

    async def call(self, name: str, /, model: ModelInfo | None = None, **raw: Any) -> Outcome:
        return await self.call_raw(name, raw, model)

    async def call_raw(self, name: str, raw: object, model: ModelInfo | None = None) -> Outcome:
        """A call with arguments of any shape, as a model may send them."""
        tool = wrap(TOOLS[name](self.environment))
        try:
            arguments = tool.validate(tool.prepare(raw))
            result = await tool.execute(ToolCallContext("call", model), arguments)
        except ToolError as error:
            error.for_model.encode()
            return Outcome(False, error.for_model)
        text = text_of(result.content)
        text.encode()  # what a provider gets must be UTF-8
        images = [block for block in result.content if isinstance(block, Image)]
        details = msgspec.json.decode(msgspec.json.encode(result.details))
        return Outcome(not result.is_error, text, images[0] if images else None, details)
