"""One call of find: what the pattern means, the walk, and what the model reads of it."""

from __future__ import annotations

import re

from sloyd.agent.tool import ToolResult
from sloyd.errors import WorkspaceError
from sloyd.tools.environment import ToolEnvironment
from sloyd.tools.failures import file_failure
from sloyd.tools.search.globs import compile_glob
from sloyd.tools.search.parameters import FIND_LIMIT, FindParameters, limit_of
from sloyd.tools.search.results import LineList, reason_of
from sloyd.tools.search.scope import IgnoreScope, open_scope
from sloyd.tools.search.walk import Run, Walk
from sloyd.workspace.base import DirEntry, Workspace
from sloyd.workspace.paths import quote_name, resolve

__all__ = ["find"]


async def find(environment: ToolEnvironment, parameters: FindParameters) -> ToolResult:
    """Run one call. Raises `ToolError` for what cannot be searched."""
    workspace = environment.workspace
    limit = limit_of(parameters.limit, FIND_LIMIT)
    shown = parameters.path or "."
    try:
        resolved = await resolve(workspace, shown)
        shown = resolved.shown
        scope = await _scope(workspace, resolved.path)
        pattern = _Pattern(parameters.pattern, (resolved.path, scope.root))
        walk = Walk(workspace, scope)
        output = LineList()
        has_more = await _collect(walk, pattern, limit, output)
        if walk.problems and not walk.problems[0][0]:
            raise walk.problems[0][1]
    except WorkspaceError as error:
        raise await file_failure(workspace, "search", shown, error) from error
    if has_more:
        output.notices.append(
            f"{limit} results limit reached. Use limit={limit * 2} for more, or refine pattern"
        )
        output.details["resultLimitReached"] = limit
    output.notice_truncation()
    output.notice_unreadable([(path, reason_of(error)) for path, error in walk.problems])
    return output.result("No files found matching pattern")


async def _scope(workspace: Workspace, directory: str) -> IgnoreScope:
    kind = (await workspace.stat(directory)).kind
    if kind != "directory":
        raise WorkspaceError(f"it is a {kind}", path=directory, reason="not-directory")
    return await open_scope(workspace, directory)


async def _collect(walk: Walk, pattern: _Pattern, limit: int, output: LineList) -> bool:
    """Take what matches up to the limit; true when there is more."""
    async for batch in walk.batches():
        for run in batch:
            for path in pattern.matching(run):
                if output.total_lines == limit:
                    return True
                output.add(quote_name(path))
    return False


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
