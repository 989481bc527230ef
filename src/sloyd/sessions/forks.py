"""New sessions from old ones: a branch is copied line by line, with every field of its JSON."""

from __future__ import annotations

from pathlib import Path

from sloyd.llm.messages import UserMessage, text_of
from sloyd.sessions.entries import MessageEntry
from sloyd.sessions.session import Session

__all__ = ["clone", "copy_branch", "fork"]


def fork(session: Session, entry_id: str, *, sessions: Path | None = None) -> tuple[Session, str]:
    """A new session that ends before a user message, and that message's text, to be edited.

    For an entry that is no user message the new session ends with it, and the text is empty.
    ``sessions`` as in `copy_branch`.
    """
    text = ""
    last: str | None = entry_id
    entry = session.entry(entry_id)
    if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage):
        text = text_of(entry.message.content)
        last = entry.parent_id
    return copy_branch(session, last, sessions=sessions), text


def clone(session: Session, *, sessions: Path | None = None) -> Session:
    """A new session with a copy of the active branch."""
    return copy_branch(session, session.leaf_id, sessions=sessions)


def copy_branch(
    session: Session,
    leaf_id: str | None,
    *,
    sessions: Path | None = None,
    directory: Path | None = None,
    cwd: str | None = None,
) -> Session:
    """A new session with a copy of the branch that ends at ``leaf_id``.

    Ids stay. Labels and the name are taken along from wherever they stand. The file is made under
    ``sessions`` (the root of all sessions), or in ``directory``, or beside the old one. Of a
    session in memory the copy is in memory too, unless ``directory`` is given. Raises
    `SessionError` when it cannot be written.
    """
    parent = None if session.path is None else str(session.path)
    target = _empty(session, parent, sessions, directory, cwd or session.cwd)
    target.take_branch(session, leaf_id)
    return target


def _empty(
    session: Session,
    parent: str | None,
    sessions: Path | None,
    directory: Path | None,
    cwd: str,
) -> Session:
    if session.path is None and directory is None:
        # Who keeps a session off the disk means its copies too.
        return Session.in_memory(cwd)
    if sessions is not None:
        return Session.create(sessions, cwd, parent_session=parent)
    folder = directory or (Path() if session.path is None else session.path.parent)
    return Session.create(folder, cwd, parent_session=parent, directory=folder)
