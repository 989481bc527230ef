"""The one way in which a tool changes a file: read, compute, record, replace.

A file that changes between the read and the commit is read again and the change computed anew, so
nothing that another process wrote is ever overwritten unseen. The pre-image goes into the journal
before the commit; a change that the journal cannot take is made all the same, and the result says
so. A cancellation before the commit leaves the file as it was; a commit that has begun is completed
and reported, whatever is cancelled meanwhile.
"""

from __future__ import annotations

import posixpath
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import anyio
from anyio.to_thread import run_sync

from sloyd.errors import FileChanged, SessionError, ToolError, WorkspaceError
from sloyd.tools.environment import PlannedChange, ToolEnvironment
from sloyd.tools.failures import file_failure
from sloyd.workspace.base import ABSENT, Absent, FileVersion, Workspace
from sloyd.workspace.mutations import Turn
from sloyd.workspace.paths import quote_name, relative_to

__all__ = ["MAX_FILE", "Change", "Changed", "Plan", "Target", "change_file"]

MAX_FILE: Final = 1 << 30
"""Most bytes of a file that is changed: its old content is held in memory."""

_MAX_ATTEMPTS: Final = 30
_INLINE: Final = 256 * 1024
"""Computing on more bytes than this moves to a thread; below, the hop would cost more."""

Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class Target:
    """The file that is to be changed.

    Attributes:
        shown: the path for messages, as the model gave it.
        relative: the real path for patches: seen from the working directory where it is inside.
    """

    shown: str
    relative: str


@dataclass(frozen=True, slots=True)
class Plan(Generic[Outcome]):
    """A computed change. ``pieces`` None means that there is nothing to write."""

    pieces: Sequence[bytes] | None
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Changed(Generic[Outcome]):
    """A change that has been made.

    Attributes:
        outcome: what the plan brought along.
        read_again: whether the file changed under the tool and the plan was made anew.
        unrecorded: why the change cannot be undone, where the journal could not take it.
    """

    target: Target
    outcome: Outcome
    read_again: bool
    unrecorded: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What the result must tell about the journal."""
        if self.unrecorded is None:
            return ()
        return (f"Note: `sloyd undo` cannot take this change back: {self.unrecorded}.",)


@dataclass(frozen=True, slots=True)
class Change(Generic[Outcome]):
    """What a tool wants to do to a file.

    Attributes:
        tool: its name.
        call_id: the call's id, for the journal.
        action: what it does, in the words of `file_failure`: ``edit`` or ``write to``.
        path: the path argument.
        compute: makes the plan from the target and its content (None when it does not exist).
            Pure, and may run in a thread. Raises `ToolError` to refuse.
        may_create: whether a missing file, and its parents, are to be made.
    """

    tool: str
    call_id: str
    action: str
    path: str
    compute: Callable[[Target, bytes | None], Plan[Outcome]]
    may_create: bool = False


async def change_file(environment: ToolEnvironment, change: Change[Outcome]) -> Changed[Outcome]:
    """Make a change, in turn with all others to the same file. Raises `ToolError`."""
    workspace = environment.workspace
    shown = quote_name(change.path or ".")
    try:
        async with environment.mutations.hold_argument(workspace, change.path) as turn:
            shown = turn.resolved.shown
            if turn.resolved.path.endswith("/"):
                raise WorkspaceError("a directory", path=turn.resolved.path, reason="is-directory")
            target = Target(shown, await _relative(workspace, turn))
            is_new = change.may_create and not turn.resolved.exists
            return await _attempts(environment, change, turn.real, target, is_new=is_new)
    except WorkspaceError as error:
        raise await file_failure(workspace, change.action, shown, error) from error


async def _relative(workspace: Workspace, turn: Turn) -> str:
    """The path for a patch: of the real file, as programs that apply patches follow no links."""
    path, cwd = turn.real, workspace.cwd
    if path != turn.resolved.path:
        cwd = await workspace.realpath(cwd)
    return relative_to(path, cwd).lstrip("/")


async def _attempts(
    environment: ToolEnvironment,
    change: Change[Outcome],
    path: str,
    target: Target,
    *,
    is_new: bool,
) -> Changed[Outcome]:
    for attempt in range(_MAX_ATTEMPTS):
        if attempt:
            # Others are at work on the file; let them finish, each at a time of its own.
            wait = 0.002 * min(attempt, 10) * (time.perf_counter_ns() % 997) / 997
            await anyio.sleep(wait)
        before: bytes | None = None
        version: FileVersion | Absent = ABSENT
        # A file that was just found missing is not looked for again: `expect` sees if it came.
        if attempt or not is_new:
            before, version = await _read(environment, change, path, target.shown)
        if before is not None and len(before) > _INLINE:
            plan = await run_sync(change.compute, target, before)
        else:
            plan = change.compute(target, before)
        if plan.pieces is None:
            return Changed(target, plan.outcome, attempt > 0)
        planned = PlannedChange(path, change.tool, change.call_id, before, plan.pieces)
        unrecorded: str | None = None
        try:
            # From here on a cancellation waits until the truth is known.
            with anyio.CancelScope(shield=True):
                unrecorded = await _commit(environment, planned, version)
        except FileChanged:
            continue
        return Changed(target, plan.outcome, attempt > 0, unrecorded)
    raise ToolError(
        f"Could not {change.action} {target.shown}: other processes keep changing it "
        f"({_MAX_ATTEMPTS} attempts). Nothing was written. Try again when they are done."
    )


async def _read(
    environment: ToolEnvironment, change: Change[Outcome], path: str, shown: str
) -> tuple[bytes | None, FileVersion | Absent]:
    workspace = environment.workspace
    try:
        size = (await workspace.stat(path)).size
        # One byte of a file that is too large tells what kind of file it is.
        limit = 1 if size > MAX_FILE else MAX_FILE + 1
        data, version = await workspace.read_file(path, limit=limit)
    except WorkspaceError as error:
        if change.may_create and error.reason == "missing":
            return None, ABSENT
        raise
    if max(size, len(data)) > MAX_FILE:
        raise ToolError(
            f"Could not {change.action} {shown}: it is larger than "
            f"{MAX_FILE >> 30} GiB. Use bash (sed, a script) and keep a copy."
        )
    return data, version


async def _commit(
    environment: ToolEnvironment, planned: PlannedChange, version: FileVersion | Absent
) -> str | None:
    """Record and replace; returns why the change could not be recorded, if so.

    A journal that cannot be written, on a full disk or under a home that belongs to somebody else,
    must not keep people from their files.
    """
    workspace, changes = environment.workspace, environment.changes
    change_id = unrecorded = None
    if changes is not None:
        try:
            change_id = await changes.begin(planned)
        except SessionError as error:
            unrecorded = str(error)
    try:
        await _replace(workspace, planned.path, version, planned.after)
    except Exception:
        if changes is not None and change_id is not None:
            with suppress(SessionError):
                await changes.discard(change_id)
        raise
    if changes is not None and change_id is not None:
        # Without its second line the entry still tells the truth, by the contents' digests.
        with suppress(SessionError):
            await changes.commit(change_id)
    return unrecorded


async def _replace(
    workspace: Workspace, path: str, version: FileVersion | Absent, pieces: Sequence[bytes]
) -> None:
    try:
        await workspace.replace(path, pieces, expect=version)
    except WorkspaceError as error:
        if error.reason != "missing" or not isinstance(version, Absent):
            raise
    else:
        return
    made = await workspace.make_dirs(posixpath.dirname(path))
    try:
        await workspace.replace(path, pieces, expect=version)
    except WorkspaceError:
        await workspace.remove_dirs(made)
        raise
