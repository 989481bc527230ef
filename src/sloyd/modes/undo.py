"""``sloyd undo``: list the file changes that tools made, and take them back."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from sloyd.errors import FileChanged, UsageError
from sloyd.harness.toolbox import local_journal, user_tool_settings
from sloyd.modes.output import Output
from sloyd.sessions.journal import Journal, JournalEntry
from sloyd.text.terminal import plain_text
from sloyd.workspace.local import LocalWorkspace
from sloyd.workspace.paths import relative_to

__all__ = ["undo_door"]

_USAGE = """\
usage: sloyd undo             take back the newest change below this directory
       sloyd undo ID          take back that change (an undo has an ID too: redo)
       sloyd undo --list      the changes below this directory, the newest last
       sloyd undo --diff ID   what that change did
--all looks at every directory; --force takes a change back although the file changed since"""


@dataclass(frozen=True, slots=True)
class _Request:
    change_id: str | None
    listing: bool
    diff: bool
    everywhere: bool
    force: bool


def undo_door(arguments: Sequence[str]) -> int:
    """Run the door with the words behind ``sloyd undo``; returns the exit code."""
    switches = {word for word in arguments if word.startswith("-")}
    names = [word for word in arguments if not word.startswith("-")]
    if switches & {"--help", "-h"}:
        Output("stdout").line(_USAGE)
        return 0
    unknown = switches - {"--list", "--diff", "--all", "--force"}
    if unknown or len(names) > 1 or ("--diff" in switches and not names):
        raise UsageError(_USAGE)
    request = _Request(
        change_id=names[0] if names else None,
        listing="--list" in switches,
        diff="--diff" in switches,
        everywhere="--all" in switches,
        force="--force" in switches,
    )
    return anyio.run(_run, request)


async def _run(request: _Request) -> int:
    workspace = LocalWorkspace()
    journal = local_journal(os.environ, user_tool_settings(os.environ))
    out = Output("stdout")
    below = None if request.everywhere else await workspace.realpath(workspace.cwd)
    if request.listing:
        _list(journal, below, out)
        return 0
    if request.diff and request.change_id is not None:
        out.line(plain_text(await journal.diff(workspace, request.change_id)))
        return 0
    try:
        entry = await journal.undo(workspace, request.change_id, force=request.force, below=below)
    except FileChanged as error:
        raise UsageError(f"{error} --force takes it back all the same.") from error
    shown = relative_to(entry.path, below or workspace.cwd)
    outcome = "removed" if entry.before is None else "put back"
    out.line(f"{outcome} {plain_text(shown)} (change {entry.id} of {entry.tool})")
    undoing = next(found.id for found in reversed(journal.entries()) if found.undoes == entry.id)
    out.line(f"sloyd undo {undoing} makes the change again")
    return 0


def _list(journal: Journal, below: str | None, out: Output) -> None:
    entries = [entry for entry in journal.entries() if entry.made is not False]
    shown = [entry for entry in entries if below is None or entry.is_below(below)]
    for entry in shown:
        out.line(_row(entry, below))
    if not shown:
        elsewhere = f"; sloyd undo --list --all shows {len(entries)} elsewhere" if entries else ""
        out.line(f"no change is recorded below {below or '/'}{elsewhere}")


def _row(entry: JournalEntry, below: str | None) -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.time))
    path = plain_text(relative_to(entry.path, below) if below else entry.path)
    sizes = f"{_size(entry.before)} -> {_size(entry.after)}"
    state = "  taken back" if entry.undone else "" if entry.can_be_undone else "  not kept"
    if entry.undoes is not None:
        state = f"  takes back {entry.undoes}{state}"
    return f"{entry.id}  {when}  {entry.tool:<6} {path}  {sizes}{state}"


def _size(content: object) -> str:
    size = getattr(content, "size", None)
    return "nothing" if size is None else f"{size} B"
