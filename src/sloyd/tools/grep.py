"""The grep tool: lines of files that match a pattern."""

from __future__ import annotations

from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.text.truncate import MAX_BYTES, format_size
from sloyd.tools.definition import ToolDefinition, ToolRenderer
from sloyd.tools.environment import ToolEnvironment
from sloyd.tools.foreign_names import GREP, mended
from sloyd.tools.search.parameters import GREP_LIMIT, GrepParameters

__all__ = ["grep_tool"]

_LINE_LIMIT = 500

_DESCRIPTION = f"""\
Search file contents for a pattern. Returns matching lines as `path:line: text`, with paths \
relative to the searched directory and sorted; lines of context as `path-line- text`. Odd names \
are in JSON quotes and can be passed on as they are. Respects .gitignore, inside repositories and \
outside; hidden files are searched, .git is not; a file or directory named in `path` is searched \
even if it is ignored. Matches in binary files are only mentioned. A pattern with \\n matches \
across lines. Output is limited to {GREP_LIMIT} matches or {format_size(MAX_BYTES)}; of a line \
over {_LINE_LIMIT} characters the part around the match is shown."""


def grep_tool(environment: ToolEnvironment) -> ToolDefinition[GrepParameters]:
    """The definition of ``grep``, which is not active unless it is asked for."""

    async def execute(call: ToolCallContext, parameters: GrepParameters) -> ToolResult:
        del call
        # The search is loaded when it is first used: most sessions never search.
        from sloyd.tools.search.grep_call import grep

        return await grep(environment, parameters)

    return ToolDefinition(
        name="grep",
        label="grep",
        description=_DESCRIPTION,
        parameters=GrepParameters,
        execute=execute,
        prompt_snippet="Search file contents for patterns (respects .gitignore)",
        prepare=mended(GREP),
        read_only=True,
        default_active=False,
        renderer=_renderer,
    )


def _renderer() -> ToolRenderer:
    from sloyd.tools.render.commands import SearchRenderer

    return SearchRenderer("grep")
