"""One call of grep: what it means, which engine does it, and what the model reads of it."""

from __future__ import annotations

import posixpath
from contextlib import aclosing
from typing import Final

from sloyd.agent.tool import ToolResult
from sloyd.errors import WorkspaceError
from sloyd.tools.environment import ToolEnvironment
from sloyd.tools.failures import file_failure
from sloyd.tools.search.in_python import search_in_python
from sloyd.tools.search.parameters import GREP_LIMIT, GrepParameters, limit_of
from sloyd.tools.search.patterns import check_pattern
from sloyd.tools.search.request import (
    Block,
    FileFilter,
    FileMatches,
    SearchOutcome,
    SearchRequest,
    ShownLine,
)
from sloyd.tools.search.results import LineList, named
from sloyd.tools.search.ripgrep import find_ripgrep, search_with_ripgrep
from sloyd.tools.search.scope import IgnoreScope, open_scope
from sloyd.tools.search.shown import LINE_LIMIT, shown_window
from sloyd.workspace.base import Workspace
from sloyd.workspace.paths import quote_name, resolve

__all__ = ["grep"]

_MOST_CONTEXT: Final = 10_000
_WINDOW_BYTES: Final = 2 * LINE_LIMIT


async def grep(environment: ToolEnvironment, parameters: GrepParameters) -> ToolResult:
    """Run one call. Raises `ToolError` for what cannot be searched."""
    workspace = environment.workspace
    limit = limit_of(parameters.limit, GREP_LIMIT)
    request, scope = await _request(workspace, parameters, limit)
    check_pattern(request)
    shown = parameters.path or "."
    try:
        outcome = await _search(environment, request, scope)
    except WorkspaceError as error:
        raise await file_failure(workspace, "search", shown, error) from error
    if not outcome.files and {path for path, _ in outcome.unreadable} & {request.file, "."}:
        path = posixpath.join(request.directory, request.file or "")
        refused = WorkspaceError("it cannot be read", path=path, reason="permission")
        raise await file_failure(workspace, "search", shown, refused)
    await _fetch_windows(workspace, request, outcome.files)
    return _result(request, outcome)


async def _request(
    workspace: Workspace, parameters: GrepParameters, limit: int
) -> tuple[SearchRequest, IgnoreScope | None]:
    """What to search, and the ignore rules; those are None where one file is named."""
    shown = parameters.path or "."
    try:
        resolved = await resolve(workspace, parameters.path or ".")
        shown = resolved.shown
        facts = await workspace.stat(resolved.path)
        if facts.kind not in ("file", "directory"):
            raise WorkspaceError(f"it is a {facts.kind}", path=resolved.path, reason="not-regular")
        if facts.kind == "file" and not facts.size:
            # Files under /proc say that they are empty, and some let a reader wait for ever.
            await workspace.read_file(resolved.path, limit=1)
        path = resolved.path.rstrip("/") or "/"
        scope = await open_scope(workspace, path) if facts.kind == "directory" else None
    except WorkspaceError as error:
        raise await file_failure(workspace, "search", shown, error) from error
    directory = path if scope is not None else posixpath.dirname(path)
    request = SearchRequest(
        directory=scope.root if scope is not None else directory,
        file=None if scope is not None else posixpath.basename(path),
        pattern=parameters.pattern,
        literal=bool(parameters.literal),
        ignore_case=bool(parameters.ignore_case),
        context=min(max(parameters.context or 0, 0), _MOST_CONTEXT),
        limit=limit,
        files=FileFilter(parameters.glob, directory) if parameters.glob else None,
    )
    return request, scope


async def _search(
    environment: ToolEnvironment, request: SearchRequest, scope: IgnoreScope | None
) -> SearchOutcome:
    workspace = environment.workspace
    program = await find_ripgrep(environment)
    # ripgrep cannot be told at which directory above the searched one rules begin.
    needs_own_rules = scope is not None and scope.has_foreign_rules and not scope.starts_at_root
    if program is not None and not needs_own_rules:
        outcome = await search_with_ripgrep(workspace, program, request, scope)
        if outcome is not None:
            return outcome
    return await search_in_python(workspace, request, scope)


async def _fetch_windows(
    workspace: Workspace, request: SearchRequest, files: list[FileMatches]
) -> None:
    """Read the part around the match of lines that were too long to keep."""
    for found in files:
        for number, block in enumerate(found.blocks):
            if any(line.window is not None for line in block.lines):
                path = posixpath.join(request.directory, found.path)
                lines = [await _fetched(workspace, path, line) for line in block.lines]
                found.blocks[number] = Block(block.number, tuple(lines), block.is_match)


async def _fetched(workspace: Workspace, path: str, line: ShownLine) -> ShownLine:
    if line.window is None:
        return line
    offset, match_start = line.window
    start = max(match_start - LINE_LIMIT, 0)
    chunks = workspace.read(path, start=offset + start, chunk_size=_WINDOW_BYTES)
    try:
        async with aclosing(chunks):
            data = await anext(chunks, b"")
    except WorkspaceError:
        return ShownLine("[a very long line]", was_cut=True)
    return shown_window(data, start, match_start)


def _result(request: SearchRequest, outcome: SearchOutcome) -> ToolResult:
    output = LineList()
    was_cut = False
    for found in outcome.files:
        path = quote_name(found.path)
        for block in found.blocks:
            mark = ":" if block.is_match else "-"
            for number, line in enumerate(block.lines, block.number):
                output.add(f"{path}{mark}{number}{mark} {line.text}")
                was_cut = was_cut or line.was_cut
    if outcome.has_more:
        output.notices.append(
            f"{request.limit} matches limit reached. Use limit={request.limit * 2} for more, "
            "or refine pattern"
        )
        output.details["matchLimitReached"] = request.limit
    output.total_lines += outcome.dropped_lines
    output.total_bytes += outcome.dropped_bytes
    output.notice_truncation()
    if was_cut:
        output.notices.append(
            f"Some lines truncated to {LINE_LIMIT} chars. Use read tool to see full lines"
        )
        output.details["linesTruncated"] = True
    binary = [quote_name(found.path) for found in outcome.files if found.is_binary]
    if binary:
        output.notices.append(f"Binary file matches, not shown: {named(binary)}")
        output.details["binaryFiles"] = binary
    output.notice_unreadable(outcome.unreadable)
    return output.result("" if binary else "No matches found")
