"""What a person should know about a session that was just opened: one sentence a line."""

from __future__ import annotations

from sloyd.sessions.session import Session

__all__ = ["session_remarks"]

_MOST_PROBLEMS = 5


def session_remarks(session: Session) -> list[str]:
    """The session's notices, which are taken, and the lines of its file that could not be used."""
    remarks = list(session.notices)
    session.notices.clear()
    problems = session.problems
    remarks += [f"{session.path}, {problem}" for problem in problems[:_MOST_PROBLEMS]]
    if len(problems) > _MOST_PROBLEMS:
        remarks.append(f"{len(problems) - _MOST_PROBLEMS} more lines of the session are damaged")
    return remarks
