"""The ls tool: the entries of one directory."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.errors import WorkspaceError
from sloyd.text.truncate import MAX_BYTES, format_size
from sloyd.tools.definition import ToolDefinition, ToolRenderer
from sloyd.tools.environment import ToolEnvironment
from sloyd.tools.failures import file_failure
from sloyd.tools.foreign_names import LS, mended
from sloyd.tools.search.parameters import limit_of
from sloyd.workspace.base import DirEntry
from sloyd.workspace.paths import quote_name, resolve

__all__ = ["LsParameters", "ls_tool"]

_DEFAULT_LIMIT = 500  # entries, as in pi

_DESCRIPTION = f"""\
List a directory. Returns its entries in alphabetical order, dotfiles included: `name/` is a \
directory (or a link to one), `name@` a symbolic link that leads nowhere, `name?` an entry that \
cannot be looked at. Odd names are in JSON quotes, the mark behind them, and can be passed on as \
they are. Output is limited to {_DEFAULT_LIMIT} entries or {format_size(MAX_BYTES)}."""

# The order in which people's sorting (the Unicode collation) has ASCII, without regard to case.
_ORDER = b" _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
_COLLATION = bytes(
    _ORDER.index(bytes((code,)).lower()) if bytes((code,)).lower() in _ORDER else code
    for code in range(256)
)


class LsParameters(Struct, frozen=True, rename="camel"):
    """What to list."""

    path: Annotated[
        str | None, Meta(description="Directory to list (default: current directory)")
    ] = None
    limit: Annotated[
        int | None, Meta(description=f"Maximum number of entries (default: {_DEFAULT_LIMIT})")
    ] = None


def ls_tool(environment: ToolEnvironment) -> ToolDefinition[LsParameters]:
    """The definition of ``ls``, which is not active unless it is asked for."""

    async def execute(call: ToolCallContext, parameters: LsParameters) -> ToolResult:
        del call
        return await _ls(environment, parameters)

    return ToolDefinition(
        name="ls",
        label="ls",
        description=_DESCRIPTION,
        parameters=LsParameters,
        execute=execute,
        prompt_snippet="List directory contents",
        prepare=mended(LS),
        read_only=True,
        default_active=False,
        renderer=_renderer,
    )


def _renderer() -> ToolRenderer:
    from sloyd.tools.render.commands import SearchRenderer

    return SearchRenderer("ls")


async def _ls(environment: ToolEnvironment, parameters: LsParameters) -> ToolResult:
    workspace = environment.workspace
    limit = limit_of(parameters.limit, _DEFAULT_LIMIT)
    shown = parameters.path or "."
    try:
        resolved = await resolve(workspace, parameters.path or ".")
        shown = resolved.shown
        entries = await workspace.list(resolved.path)
    except WorkspaceError as error:
        raise await file_failure(workspace, "list", shown, error) from error
    from sloyd.tools.search.results import LineList

    entries.sort(key=_collation_key)
    output = LineList()
    for entry in entries[:limit]:
        output.add(_shown(entry))
    if len(entries) > limit:
        output.notices.append(f"{limit} entries limit reached. Use limit={limit * 2} for more")
        output.details["entryLimitReached"] = limit
    output.notice_truncation()
    return output.result("(empty directory)")


def _collation_key(entry: DirEntry) -> tuple[bytes, str]:
    name = entry.name
    if name.isascii():
        return name.encode().translate(_COLLATION), name
    import unicodedata

    decomposed = unicodedata.normalize("NFKD", name.lower())
    folded = "".join(part for part in decomposed if not unicodedata.combining(part))
    return folded.encode("utf-8", "surrogateescape").translate(_COLLATION), name


def _shown(entry: DirEntry) -> str:
    if entry.kind == "directory" or entry.target_kind == "directory":
        return quote_name(entry.name + "/")
    if entry.kind == "symlink" and entry.target_kind is None:
        return f"{_unmarked(entry.name)}@"
    return f"{_unmarked(entry.name)}?" if entry.kind == "other" else _unmarked(entry.name)


def _unmarked(name: str) -> str:
    """The name, in quotes also where its last character would be taken for a mark."""
    quoted = quote_name(name)
    if quoted != name or not name.endswith(("@", "?")):
        return quoted
    import json  # only odd names pay for it

    return json.dumps(name, ensure_ascii=False)
