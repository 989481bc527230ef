"""The tool `write`: a whole file, created or replaced in one step."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.tools.definition import ToolDefinition, ToolRenderer
from sloyd.tools.edit_arguments import prepare_write
from sloyd.tools.environment import ToolEnvironment

__all__ = ["WriteParameters", "write_tool"]


class WriteParameters(msgspec.Struct, frozen=True):
    """Arguments of `write`."""

    path: Annotated[
        str, msgspec.Meta(description="The file to write, relative to the working directory.")
    ]
    content: Annotated[str, msgspec.Meta(description="The whole content of the file.")]


_DESCRIPTION: Final = (
    "Write a whole file: create it, or replace all of its content. Missing parent directories are "
    "made. The content is written as given, in UTF-8. To change a part of a file use edit, which "
    "keeps the rest of the file, its line endings and its encoding."
)


def write_tool(environment: ToolEnvironment) -> ToolDefinition[WriteParameters]:
    """The definition of `write`, acting in ``environment``."""

    async def execute(call: ToolCallContext, parameters: WriteParameters) -> ToolResult:
        from sloyd.tools.writing import write

        return await write(environment, call, parameters.path, parameters.content)

    return ToolDefinition(
        name="write",
        label="Write",
        description=_DESCRIPTION,
        parameters=WriteParameters,
        execute=execute,
        prompt_snippet="Create a file or replace all of it",
        prompt_guidelines=("Use write for new files and complete rewrites only.",),
        prepare=prepare_write,
        renderer=_renderer,
    )


def _renderer() -> ToolRenderer:
    from sloyd.tools.render.files import WriteRenderer

    return WriteRenderer()
