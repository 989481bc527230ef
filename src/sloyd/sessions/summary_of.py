"""A session in a few facts, for lists of sessions."""

from __future__ import annotations

from pathlib import Path

import msgspec

from sloyd.errors import SessionError
from sloyd.llm.messages import UserMessage, text_of
from sloyd.sessions.codec import ms_from_iso
from sloyd.sessions.entries import MessageEntry
from sloyd.sessions.plain import first_line
from sloyd.sessions.session import Session

__all__ = ["SessionSummary", "summary_of", "summary_of_open"]


class SessionSummary(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What a list shows of a session.

    Attributes:
        created: milliseconds since the epoch, from the header; 0 when it does not say.
        modified: milliseconds since the epoch, of the file's last change.
        messages: how many messages of users and models there are, in all branches.
        first_message: beginning of the first user message, on one line.
        problem: why the file cannot be read; the other fields are empty then.
    """

    path: str
    id: str = ""
    cwd: str = ""
    name: str | None = None
    created: int = 0
    modified: int = 0
    size: int = 0
    messages: int = 0
    first_message: str = ""
    parent_session: str | None = None
    problem: str | None = None

    @property
    def title(self) -> str:
        """The name, or else how the session begins."""
        return self.name or self.first_message or "(no messages)"


def summary_of(path: Path) -> SessionSummary:
    """The facts of a session's file. Raises `SessionError` when the file is not there.

    A file that is there and is no session gives a summary that says so.
    """
    try:
        stat = path.stat()
    except OSError as error:
        raise SessionError(f"cannot read {path}: {error.strerror}") from error
    modified, size = stat.st_mtime_ns // 1_000_000, stat.st_size
    try:
        with Session.open(path, on_conflict="read") as session:
            return summary_of_open(session, modified, size)
    except SessionError as error:
        return SessionSummary(path=str(path), modified=modified, size=size, problem=str(error))


def summary_of_open(session: Session, modified: int, size: int) -> SessionSummary:
    """The facts of a session that is open for reading."""
    count = 0
    first = ""
    for node in session.tree.nodes():
        if node.role in ("user", "assistant"):
            count += 1
            if not first and node.role == "user":
                entry = session.entry(node.id)
                if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage):
                    first = first_line(text_of(entry.message.content), 120)
    return SessionSummary(
        path=str(session.path),
        id=session.id,
        cwd=session.cwd,
        name=session.name,
        created=ms_from_iso(session.header.timestamp),
        modified=modified,
        size=size,
        messages=count,
        first_message=first,
        parent_session=session.header.parent_session,
    )
