"""Going back to an earlier message with the files as they were then.

First a plan: which changes of files came after the message, as the journal knows them, and for each
file one diff from what it is now to what it will be. Then, if the person wants it, the changes are
taken back, the newest first, and the session goes to the message. Only what tools recorded can be
taken back; commands that ran after the message are named, because they may have changed files, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anyio.to_thread import run_sync

from sloyd.errors import SessionError, UsageError, WorkspaceError
from sloyd.llm.messages import AssistantMessage, ToolCall, UserMessage, text_of
from sloyd.sessions.catalogue import read_header
from sloyd.sessions.codec import ms_from_iso
from sloyd.sessions.entries import MessageEntry
from sloyd.sessions.journal import Journal, JournalEntry
from sloyd.sessions.session import Session
from sloyd.workspace.base import Workspace

__all__ = ["FileRewind", "RewindPlan", "calls_after", "plan_rewind", "rewind"]

_MAX_ANCESTORS = 100


@dataclass(frozen=True, slots=True)
class FileRewind:
    """What going back does to one file.

    Attributes:
        changes: to be taken back, the newest first.
        diff: numbered rows for people, from the file as it is to the file as it will be.
        removed: whether the file did not exist then.
        problem: why it cannot be done without force; None if it can.
    """

    path: str
    changes: tuple[JournalEntry, ...]
    diff: str
    removed: bool
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class RewindPlan:
    """What going back will do. Made by `plan_rewind`, done by `rewind`.

    Attributes:
        target_id: the entry that becomes the leaf; None for before the first one.
        text: of the user message that was gone back to, to be edited and sent again.
        files: each file that will change.
        commands: commands that the model ran after the message; what they did stays.
    """

    target_id: str | None
    leaf_id: str | None
    text: str
    files: tuple[FileRewind, ...]
    commands: tuple[str, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """Why it cannot be done without force."""
        return tuple(file.problem for file in self.files if file.problem is not None)

    @property
    def diff(self) -> str:
        """All diffs, each below its path."""
        return "\n\n".join(f"{file.path}\n{file.diff}" for file in self.files)


def calls_after(session: Session, entry_id: str | None) -> tuple[ToolCall, ...]:
    """The tool calls on the active branch behind an entry, oldest first.

    Raises `SessionError` when the entry is not on the active branch.
    """
    branch = session.tree.branch()
    start = 0
    if entry_id is not None:
        places = [place for place, node in enumerate(branch) if node.id == entry_id]
        if not places:
            raise SessionError(f"the active branch has no entry {entry_id}")
        start = places[0] + 1
    calls: list[ToolCall] = []
    for node in branch[start:]:
        entry = session.entry(node.id) if node.role == "assistant" else None
        if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
            calls += entry.message.tool_calls
    return tuple(calls)


async def plan_rewind(
    session: Session, entry_id: str, journal: Journal, workspace: Workspace
) -> RewindPlan:
    """What going back to an entry would do; nothing is changed.

    To a user message means to before it, with its text to be sent again. Raises `SessionError` for
    an entry that is not on the active branch, and `WorkspaceError` when a file cannot be read.
    """
    entry = session.entry(entry_id)
    calls = calls_after(session, entry_id)
    target: str | None = entry_id
    text = ""
    if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage):
        target, text = entry.parent_id, text_of(entry.message.content)
    wanted = _changes(
        await run_sync(journal.entries),
        {call.id for call in calls},
        _lineage(session),
        ms_from_iso(entry.timestamp) / 1000,
    )
    files = [await _file(path, changes, journal, workspace) for path, changes in wanted.items()]
    commands = (call.arguments.get("command") for call in calls)
    return RewindPlan(
        target_id=target,
        leaf_id=session.leaf_id,
        text=text,
        files=tuple(file for file in files if file is not None),
        commands=tuple(command for command in commands if isinstance(command, str)),
    )


async def rewind(
    plan: RewindPlan,
    session: Session,
    journal: Journal,
    workspace: Workspace,
    *,
    force: bool = False,
) -> None:
    """Do what the plan says: take back the changes, then go to the message.

    ``force`` takes changes back although a file is not what they made of it. Raises `SessionError`
    before anything is done when the plan has problems and is not forced, or the session has moved
    on; and when a change cannot be taken back after all: those before it are taken back then, the
    message says which, and the session stays where it is.
    """
    if session.leaf_id != plan.leaf_id:
        raise SessionError("the session has gone on since; make the plan again")
    if plan.problems and not force:
        raise SessionError("cannot go back: " + "; ".join(plan.problems))
    done: list[str] = []
    changes = [change for file in plan.files for change in file.changes]
    for change in sorted(changes, key=lambda change: change.time, reverse=True):
        try:
            await journal.undo(workspace, change.id, force=force)
        except UsageError:
            continue  # the file has that content already
        except (WorkspaceError, SessionError) as error:
            taken = ", ".join(done) or "none"
            raise SessionError(
                f"cannot take back the change {change.id}: {error}; taken back before: {taken}"
            ) from error
        done.append(change.id)
    session.navigate(plan.target_id)


def _lineage(session: Session) -> set[str]:
    """The ids of the session and of those it was forked from: their calls are in it, too."""
    ids = {session.id}
    parent = session.header.parent_session
    for _ in range(_MAX_ANCESTORS):
        if parent is None:
            break
        try:
            header = read_header(Path(parent))
        except SessionError:
            break
        ids.add(header.id)
        parent = header.parent_session
    return ids


def _changes(
    entries: Sequence[JournalEntry], call_ids: set[str], sessions: set[str], since: float
) -> dict[str, list[JournalEntry]]:
    """The changes to take back by file, the newest first.

    A call's id is unique in its session only, and only as long as the provider keeps to that, so
    the session and the time must fit, too.
    """
    found: dict[str, list[JournalEntry]] = {}
    for entry in reversed(entries):
        ours = entry.session_id is None or entry.session_id in sessions
        counts = entry.made is not False and not entry.undone and entry.undoes is None
        if ours and counts and entry.call_id in call_ids and entry.time >= since - 1:
            found.setdefault(entry.path, []).append(entry)
    return found


async def _file(
    path: str, changes: list[JournalEntry], journal: Journal, workspace: Workspace
) -> FileRewind | None:
    current = await _content(workspace, path)
    if changes[0].made is None and not _is(current, changes[0]):
        # Its process was killed before it was made.
        changes = changes[1:]
        if not changes:
            return None
    oldest = changes[-1]
    problem = None
    if any(not change.can_be_undone for change in changes):
        problem = f"an old content of {path} was too large to be kept"
    elif not _is(current, changes[0]):
        problem = f"{path} has changed since"
    elif not _is_chain(changes):
        problem = f"{path} was changed by something else in between"
    try:
        old = await journal.old_content(oldest)
        diff = await run_sync(_diff, current or b"", old or b"")
    except SessionError as error:
        diff, problem = "", str(error)
    return FileRewind(path, tuple(changes), diff, oldest.before is None, problem)


def _is_chain(changes: Sequence[JournalEntry]) -> bool:
    """Whether each change began with what the one before it had made."""
    for newer, older in itertools.pairwise(changes):
        before = newer.before.sha256 if newer.before is not None else None
        after = older.after.sha256 if older.after is not None else None
        if before != after:
            return False
    return True


def _is(current: bytes | None, change: JournalEntry) -> bool:
    from sloyd.sessions.journal_records import digest_of

    if current is None or change.after is None:
        return current is None and change.after is None
    return digest_of((current,)) == (change.after.sha256, change.after.size)


async def _content(workspace: Workspace, path: str) -> bytes | None:
    try:
        content, _ = await workspace.read_file(path)
    except WorkspaceError as error:
        if error.reason in ("missing", "not-directory"):
            return None
        raise
    return content


def _diff(current: bytes, old: bytes) -> str:
    from sloyd.text.changes import line_changes
    from sloyd.text.diff import numbered_diff
    from sloyd.text.splice import Replacement

    if current == old:
        return "(no difference)"
    return numbered_diff(current, line_changes(current, [Replacement(0, len(current), old)]))
