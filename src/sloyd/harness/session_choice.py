"""Which session a coding agent works in: a new one, an old one, a copy, or none on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from sloyd.errors import SessionError
from sloyd.sessions.catalogue import find_session, newest_session
from sloyd.sessions.forks import copy_branch
from sloyd.sessions.session import Session

__all__ = ["SessionChoice", "SessionKind", "open_session"]

SessionKind: TypeAlias = Literal["memory", "new", "continue", "open", "fork", "id"]


class SessionChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What a person, or a program, says about the session.

    Attributes:
        kind: ``continue`` means the newest of the working directory, or a new one; ``id`` means
            the session of exactly that id, made if need be; ``fork`` copies one to go on in.
        reference: a path, an id, the beginning of one, or a name; for ``open``, ``fork``, ``id``.
        name: a display name to give it.
        directory: where its file goes, in the place of the project's own folder.
    """

    kind: SessionKind = "new"
    reference: str = ""
    name: str | None = None
    directory: Path | None = None


def open_session(choice: SessionChoice, sessions: Path, cwd: str) -> Session:
    """The session, open for writing; a file that another process has goes on in a copy.

    Raises `SessionError` when it cannot be found, read or written.
    """
    session = _chosen(choice, sessions, cwd)
    if choice.name is not None and session.name != choice.name:
        session.set_name(choice.name)
    if not Path(session.cwd).is_dir():
        session.notices.append(
            f"the directory {session.cwd} of this session is gone; the tools work in {cwd}"
        )
    return session


def _chosen(choice: SessionChoice, sessions: Path, cwd: str) -> Session:
    match choice.kind:
        case "memory":
            return Session.in_memory(cwd)
        case "new":
            return Session.create(sessions, cwd, directory=choice.directory)
        case "continue":
            path = newest_session(choice.directory or sessions, cwd)
            if path is None:
                return Session.create(sessions, cwd, directory=choice.directory)
            return Session.open(path, on_conflict="fork")
        case "open":
            return Session.open(
                find_session(choice.directory or sessions, choice.reference, cwd),
                on_conflict="fork",
            )
        case "fork":
            source = Session.open(
                find_session(choice.directory or sessions, choice.reference, cwd),
                on_conflict="read",
            )
            with source:
                return copy_branch(
                    source,
                    source.leaf_id,
                    sessions=sessions,
                    directory=choice.directory,
                    cwd=cwd,
                )
        case "id":
            return _by_id(choice, sessions, cwd)


def _by_id(choice: SessionChoice, sessions: Path, cwd: str) -> Session:
    try:
        path = find_session(choice.directory or sessions, choice.reference, cwd)
    except SessionError:
        return Session.create(
            sessions, cwd, session_id=choice.reference, directory=choice.directory
        )
    return Session.open(path, on_conflict="fork")
