"""The find tool: names of files and directories that match a glob."""

from __future__ import annotations

from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.text.truncate import MAX_BYTES, format_size
from sloyd.tools.definition import ToolDefinition, ToolRenderer
from sloyd.tools.environment import ToolEnvironment
from sloyd.tools.foreign_names import FIND, mended
from sloyd.tools.search.parameters import FIND_LIMIT, FindParameters

__all__ = ["find_tool"]

_DESCRIPTION = f"""\
Find files and directories by glob pattern. Returns matching paths relative to the searched \
directory, sorted; directories end in `/`; odd names are in JSON quotes and can be passed on as \
they are. A pattern without `/` is about names at any depth, one with `/` about paths from the \
searched directory on (`src/**/*.py`); a `/` at its end means directories only. A pattern without \
capitals ignores case. Respects .gitignore, inside repositories and outside; hidden files are \
found, .git is not; symbolic links are not followed. Output is limited to {FIND_LIMIT} results \
or {format_size(MAX_BYTES)}."""


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
