"""The find tool: names of files and directories that match a glob."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.text.truncate import MAX_BYTES, format_size
from sloyd.tools.definition import ToolDefinition, ToolRenderer
from sloyd.tools.environment import ToolEnvironment
from sloyd.tools.foreign_names import FIND, mended

__all__ = ["DEFAULT_LIMIT", "FindParameters", "find_tool"]

DEFAULT_LIMIT = 1000
"""Results, as in pi."""

_DESCRIPTION = f"""\
Find files and directories by glob pattern. Returns matching paths relative to the searched \
directory, sorted; directories end in `/`; odd names are in JSON quotes and can be passed on as \
they are. A pattern without `/` is about names at any depth, one with `/` about paths from the \
searched directory on (`src/**/*.py`); a `/` at its end means directories only. A pattern without \
capitals ignores case. Respects .gitignore, inside repositories and outside; hidden files are \
found, .git is not; symbolic links are not followed. Output is limited to {DEFAULT_LIMIT} results \
or {format_size(MAX_BYTES)}."""


class FindParameters(Struct, frozen=True, rename="camel"):
    """What to find, and where."""

    pattern: Annotated[
        str, Meta(description="Glob pattern, e.g. '*.ts', '**/*.json', 'src/**/*.spec.ts'")
    ]
    path: Annotated[
        str | None, Meta(description="Directory to search in (default: current directory)")
    ] = None
    limit: Annotated[
        int | None, Meta(description=f"Maximum number of results (default: {DEFAULT_LIMIT})")
    ] = None


def find_tool(environment: ToolEnvironment) -> ToolDefinition[FindParameters]:
    """The definition of ``find``, which is not active unless it is asked for."""

    async def execute(call: ToolCallContext, parameters: FindParameters) -> ToolResult:
        del call
        # The walk is loaded when it is first used: most sessions never search.
        from sloyd.tools.search.find_call import find

        return await find(environment, parameters)

    return ToolDefinition(
        name="find",
        label="find",
        description=_DESCRIPTION,
        parameters=FindParameters,
        execute=execute,
        prompt_snippet="Find files by glob pattern (respects .gitignore)",
        prepare=mended(FIND),
        read_only=True,
        default_active=False,
        renderer=_renderer,
    )


def _renderer() -> ToolRenderer:
    from sloyd.tools.render.commands import SearchRenderer

    return SearchRenderer("find")
