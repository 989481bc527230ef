"""The find tool: names of files and directories that match a glob."""

from __future__ import annotations

import re
from typing import Annotated

from msgspec import Meta, Struct

from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.errors import ToolError, WorkspaceError
from sloyd.text.truncate import MAX_BYTES, format_size
from sloyd.tools.definition import ToolDefinition, ToolRenderer
from sloyd.tools.environment import ToolEnvironment
from sloyd.tools.failures import file_failure
from sloyd.tools.search.globs import compile_glob
from sloyd.tools.search.results import LineList
from sloyd.tools.search.scope import open_scope
from sloyd.tools.search.walk import Run, Walk
from sloyd.workspace.base import DirEntry
from sloyd.workspace.paths import quote_name, resolve

__all__ = ["FindParameters", "find_tool"]

DEFAULT_LIMIT = 1000

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
        return await _find(environment, parameters)

    return ToolDefinition(
        name="find",
        label="find",
        description=_DESCRIPTION,
        parameters=FindParameters,
        execute=execute,
        prompt_snippet="Find files by glob pattern (respects .gitignore)",
        read_only=True,
        default_active=False,
        renderer=_renderer,
    )


def _renderer() -> ToolRenderer:
    from sloyd.tools.render.commands import SearchRenderer

    return SearchRenderer("find")


async def _find(environment: ToolEnvironment, parameters: FindParameters) -> ToolResult:
    workspace = environment.workspace
    limit = DEFAULT_LIMIT if parameters.limit is None else parameters.limit
    if limit < 1:
        raise ToolError(f"limit must be at least 1, not {limit}. Leave it out for {DEFAULT_LIMIT}.")
    shown = parameters.path or "."
    try:
        resolved = await resolve(workspace, parameters.path or ".")
        shown = resolved.shown
        facts = await workspace.stat(resolved.path)
        if facts.kind != "directory":
            raise WorkspaceError(
                f"it is a {facts.kind}", path=resolved.path, reason="not-directory"
            )
        scope = await open_scope(workspace, resolved.path)
    except WorkspaceError as error:
        raise await file_failure(workspace, "search", shown, error) from error
    pattern = _Pattern(parameters.pattern, (resolved.path, scope.root))
    walk = Walk(workspace, scope)
    output = LineList()
    has_more = False
    async for batch in walk.batches():
        for run in batch:
            for path in pattern.matching(run):
                if output.total_lines == limit:
                    has_more = True
                    break
                output.add(quote_name(path))
        if has_more:
            break
    if has_more:
        output.notices.append(
            f"{limit} results limit reached. Use limit={limit * 2} for more, or refine pattern"
        )
        output.details["resultLimitReached"] = limit
    output.notice_truncation()
    output.notice_unreadable(
        [
            (path or ".", "Permission denied" if error.reason == "permission" else str(error))
            for path, error in walk.problems
        ]
    )
    return output.result("No files found matching pattern")


class _Pattern:
    """What entries are wanted."""

    def __init__(self, pattern: str, directories: tuple[str, ...]) -> None:
        for directory in directories:
            pattern = pattern.removeprefix(directory.rstrip("/") + "/")
        pattern = re.sub(r"^(?:\./)+", "", pattern)
        self._directories_only = pattern.endswith("/") and pattern != "/"
        if self._directories_only:
            pattern = pattern[:-1]
        self._by_path = "/" in pattern
        self._regex = compile_glob(pattern or "**", ignore_case=pattern == pattern.lower())

    def matching(self, run: Run) -> list[str]:
        """The paths of those that match; a directory's ends in a slash."""
        start, entries = run
        matches = self._regex.fullmatch
        if self._directories_only:
            entries = [entry for entry in entries if entry.kind == "directory"]
        if self._by_path:
            return [_path(start, entry) for entry in entries if matches(start + entry.name)]
        return [_path(start, entry) for entry in entries if matches(entry.name)]


def _path(start: str, entry: DirEntry) -> str:
    return f"{start}{entry.name}/" if entry.kind == "directory" else start + entry.name
