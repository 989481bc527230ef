"""The journal: the old content of every file that a tool changed, so that it can be undone.

A change is recorded before it is made (`Journal.begin`) and confirmed afterwards. A process killed
in between leaves an entry that still tells the truth, because both contents are known by their
digests. Undoing puts the old content back, removes a file that was created, and is a change of its
own, so it can be undone too. A file that is not what the change made of it is left alone unless
forced.

The journal belongs to a machine's user, not to a session; entries carry what a session needs to
find its own (`JournalEntry.session_id`, ``call_id``, ``cwd``). The lines on disk are in
`sloyd.sessions.journal_records`, the directory in `sloyd.sessions.journal_store`.
"""

from __future__ import annotations

import os
import posixpath
import time
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from sloyd.errors import FileChanged, SessionError, UsageError, WorkspaceError
from sloyd.sessions.journal_records import Begun, Content, Ended, digest_of, path_fields
from sloyd.sessions.journal_store import IN_LINE, JournalStore
from sloyd.tools.environment import PlannedChange
from sloyd.workspace.base import ABSENT, Absent, FileVersion, Workspace

__all__ = ["Journal", "JournalEntry"]

_UNDO = "undo"


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One recorded change of a file.

    Attributes:
        id: names the change in the journal.
        time: seconds since 1970.
        tool: the tool that made it; ``undo`` for a change that takes another one back.
        call_id: the tool call's id.
        path: the file's real path.
        before: the old content's digest and size; None when the file was created.
        after: the new content's digest and size; None when the file was removed.
        made: whether it was made; None when its process was killed before it could say.
        undoes: the entry that this one takes back.
        undone: whether the change is taken back at present.
        session_id: the session it belongs to, if any.
        cwd: the working directory of the agent that made it.
    """

    id: str
    time: float
    tool: str
    call_id: str
    path: str
    before: Content | None
    after: Content | None
    made: bool | None
    undoes: str | None = None
    undone: bool = False
    session_id: str | None = None
    cwd: str | None = None

    @property
    def can_be_undone(self) -> bool:
        """Whether the journal holds what it takes; False for contents larger than its bound."""
        return self.made is not False and (self.before is None or self.before.kept)

    def is_below(self, directory: str) -> bool:
        """Whether the file lies in that real directory, however deep."""
        return self.path.startswith(directory.rstrip("/") + "/")


class Journal:
    """Records changes of files, and undoes them. Implements `ChangeRecorder`.

    Args:
        directory: private to the journal; made, 0700, when something is recorded.
        max_bytes: most bytes that it takes on disk; the oldest entries go first. An old content
            larger than three quarters of it is noted, but cannot be undone.
        session_id: goes into new entries; may be set anew when the session changes.
        cwd: goes into new entries.
    """

    def __init__(
        self,
        directory: Path,
        *,
        max_bytes: int,
        session_id: str | None = None,
        cwd: str | None = None,
    ) -> None:
        self._store = JournalStore(directory, max_bytes)
        self.session_id = session_id
        self.cwd = cwd

    async def begin(self, change: PlannedChange) -> str:
        """Keep the pre-image and give the change an id. Raises `SessionError`."""
        size = len(change.before or b"") + sum(map(len, change.after))
        if size <= IN_LINE:
            return await self._append(self._describe(change)[0])
        return await run_sync(self._begin, change)

    async def commit(self, change_id: str) -> None:
        """The change has been made."""
        await self._append(Ended(change_id, made=True))

    async def discard(self, change_id: str) -> None:
        """The change was not made."""
        await self._append(Ended(change_id, made=False))

    async def _append(self, record: Begun | Ended) -> str:
        # One line to a local disk takes a tenth of what a thread would cost.
        if not self._store.append_promptly(record):
            await run_sync(self._store.append, record)
        return record.id

    def _begin(
        self, change: PlannedChange, undoes: str | None = None, removes: bool = False
    ) -> str:
        begun, content = self._describe(change, undoes, removes)
        self._store.append(begun, content)
        return begun.id

    def _describe(
        self, change: PlannedChange, undoes: str | None = None, removes: bool = False
    ) -> tuple[Begun, bytes | None]:
        """The line for a change, and the bytes that have to be kept beside it."""
        before: Content | None = None
        content: bytes | None = None
        if change.before is not None:
            before, content = self._store.describe(change.before)
        path, path_bytes = path_fields(change.path)
        begun = Begun(
            id=os.urandom(5).hex(),
            time=time.time(),
            tool=change.tool,
            call_id=change.call_id,
            path=path,
            before=before,
            after=None if removes else Content(*digest_of(change.after)),
            path_bytes=path_bytes,
            session_id=self.session_id,
            cwd=self.cwd,
            undoes=undoes,
        )
        return begun, content

    def entries(self) -> list[JournalEntry]:
        """All entries that are still kept, the oldest first. Blocks. Raises `SessionError`."""
        begun: dict[str, Begun] = {}
        made: dict[str, bool] = {}
        for record in self._store.records():
            if isinstance(record, Begun):
                begun[record.id] = record
            else:
                made[record.id] = record.made
        undone: set[str] = set()
        for record in reversed(begun.values()):
            # The newest first, so whether an undo was itself undone is known when it is met.
            if record.undoes and made.get(record.id) and record.id not in undone:
                undone.add(record.undoes)
        return [_entry(record, made.get(record.id), undone) for record in begun.values()]

    def close(self) -> None:
        """Close the files. They are opened again when something is recorded."""
        self._store.close()

    async def undo(
        self,
        workspace: Workspace,
        change_id: str | None = None,
        *,
        force: bool = False,
        below: str | None = None,
    ) -> JournalEntry:
        """Take a change back; returns its entry.

        ``change_id`` None means the newest change that is not taken back yet and that is not
        itself an undo, so calling it again and again walks into the past. To redo, name the entry
        of the undo. An id may be shortened as long as it is unique. ``below`` is a real directory
        in which the newest change must lie.

        Raises:
            UsageError: there is no such entry, it was never made, or it is taken back already.
            FileChanged: the file is not what the change made of it; ``force`` undoes regardless.
            SessionError: the old content is not in the journal.
            WorkspaceError: the file could not be read or written.
        """
        entries = await run_sync(self.entries)
        entry = await self._choose(workspace, entries, change_id, below)
        if not entry.can_be_undone:
            raise SessionError(
                f"The old content of {entry.path} was too large for the journal and was not kept, "
                f"so the change {entry.id} cannot be undone."
            )
        old = None if entry.before is None else await run_sync(self._store.load, entry.before)
        current, version = await _current(workspace, entry.path)
        if not force and not _is(current, entry.after):
            raise FileChanged(_why_changed(entry, entries), path=entry.path)
        if _is(current, entry.before):
            raise UsageError(f"{entry.path} already has the content from before {entry.id}.")
        await self._put_back(workspace, entry, old, current, version)
        return entry

    async def _put_back(
        self,
        workspace: Workspace,
        entry: JournalEntry,
        old: bytes | None,
        current: bytes | None,
        version: FileVersion | Absent,
    ) -> None:
        pieces = () if old is None else (old,)
        change = PlannedChange(entry.path, _UNDO, entry.call_id, current, pieces)
        with anyio.CancelScope(shield=True):  # what has begun is told to its end
            undo_id = await run_sync(self._begin, change, entry.id, old is None)
            try:
                if old is None:
                    await workspace.remove(
                        entry.path, expect=version if isinstance(version, FileVersion) else None
                    )
                else:
                    if current is None:
                        await workspace.make_dirs(posixpath.dirname(entry.path))
                    await workspace.replace(entry.path, old, expect=version)
            except Exception:
                await self.discard(undo_id)
                raise
            await self.commit(undo_id)

    async def _choose(
        self,
        workspace: Workspace,
        entries: list[JournalEntry],
        change_id: str | None,
        below: str | None,
    ) -> JournalEntry:
        if change_id is not None:
            return _undoable(_named(entries, change_id))
        for entry in reversed(entries):
            if entry.made is False or entry.undone or entry.undoes is not None:
                continue
            if below is not None and not entry.is_below(below):
                continue
            if entry.made is None:
                current, _ = await _current(workspace, entry.path)
                if not _is(current, entry.after):
                    continue  # killed before it was made
            return entry
        where = "" if below is None else f" below {below}"
        raise UsageError(f"There is no change to undo{where}.")

    async def diff(self, workspace: Workspace, change_id: str) -> str:
        """What a change did, as a numbered diff for people.

        The new content is taken from the file, or from the journal where a later change kept it.
        Where neither has it, a sentence says so. Raises `UsageError` and `SessionError`.
        """
        from sloyd.text.changes import line_changes
        from sloyd.text.diff import numbered_diff
        from sloyd.text.splice import Replacement

        entries = await run_sync(self.entries)
        entry = _named(entries, change_id)
        if entry.before is not None and not entry.before.kept:
            return "The old content was too large for the journal and was not kept."
        old = b"" if entry.before is None else await run_sync(self._store.load, entry.before)
        new = await self._content_after(workspace, entry, entries)
        if new is None:
            return "The file has changed since, and the content of that time is not kept."
        return numbered_diff(old, line_changes(old, [Replacement(0, len(old), new)]))

    async def old_content(self, entry: JournalEntry) -> bytes | None:
        """The content from before a change; None when there was no file. Raises `SessionError`."""
        if entry.before is None:
            return None
        if not entry.before.kept:
            raise SessionError(f"the old content of {entry.path} was too large and was not kept")
        return await run_sync(self._store.load, entry.before)

    async def _content_after(
        self, workspace: Workspace, entry: JournalEntry, entries: list[JournalEntry]
    ) -> bytes | None:
        after = entry.after
        if after is None:
            return b""
        current, _ = await _current(workspace, entry.path)
        if current is not None and _is(current, after):
            return current
        for other in entries:
            kept = other.before
            if kept is not None and kept.kept and kept.sha256 == after.sha256:
                return await run_sync(self._store.load, kept)
        return None


def _entry(record: Begun, made: bool | None, undone: set[str]) -> JournalEntry:
    return JournalEntry(
        id=record.id,
        time=record.time,
        tool=record.tool,
        call_id=record.call_id,
        path=record.real_path(),
        before=record.before,
        after=record.after,
        made=made,
        undoes=record.undoes,
        undone=record.id in undone,
        session_id=record.session_id,
        cwd=record.cwd,
    )


def _named(entries: list[JournalEntry], change_id: str) -> JournalEntry:
    found = [entry for entry in entries if entry.id == change_id]
    found = found or [entry for entry in entries if change_id and entry.id.startswith(change_id)]
    if len(found) != 1:
        what = f"{len(found)} changes begin with" if found else "There is no change"
        raise UsageError(f"{what} {change_id!r} in the journal.")
    return found[0]


def _undoable(entry: JournalEntry) -> JournalEntry:
    if entry.made is False:
        raise UsageError(f"The change {entry.id} was given up; there is nothing to undo.")
    if entry.undone:
        raise UsageError(f"The change {entry.id} is undone already.")
    return entry


async def _current(workspace: Workspace, path: str) -> tuple[bytes | None, FileVersion | Absent]:
    try:
        return await workspace.read_file(path)
    except WorkspaceError as error:
        if error.reason in ("missing", "not-directory"):
            return None, ABSENT
        raise


def _is(current: bytes | None, content: Content | None) -> bool:
    if current is None or content is None:
        return current is None and content is None
    return len(current) == content.size and digest_of((current,))[0] == content.sha256


def _why_changed(entry: JournalEntry, entries: list[JournalEntry]) -> str:
    later = [
        other.id
        for other in entries[entries.index(entry) + 1 :]
        if other.path == entry.path and other.made and not other.undone and other.undoes is None
    ]
    if later:
        return (
            f"{entry.path} was changed again after {entry.id}, by {', '.join(reversed(later))}. "
            f"Undo those first, the newest first, or force this one."
        )
    return (
        f"{entry.path} has changed since {entry.id}, and not through Sloyd. "
        f"Look at it first, then force the undo if the other change may be lost."
    )
