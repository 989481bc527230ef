"""``--resume`` where there is no screen: a numbered list, and a line that says which."""

from __future__ import annotations

import sys
from pathlib import Path

from sloyd.errors import SessionError, UsageError
from sloyd.modes.output import Output
from sloyd.modes.session_rows import session_row
from sloyd.sessions.catalogue import list_sessions

__all__ = ["pick_session"]

_MOST = 30


def pick_session(sessions: Path, cwd: str) -> Path | None:
    """The file of the session that a person chooses; None when they choose none.

    Shows the sessions of the directory, the newest first. Raises `SessionError` when there are
    none, `UsageError` for an answer that is none of the numbers.
    """
    found = [each for each in list_sessions(sessions, cwd) if each.problem is None][:_MOST]
    if not found:
        raise SessionError("this directory has no sessions yet; sloyd sessions --all lists others")
    out = Output("stdout")
    for number, summary in enumerate(found, 1):
        out.line("  ".join(session_row(summary, f"{number:>3}")))
    out.write("which one? [1] ")
    line = sys.stdin.readline() if sys.stdin is not None else ""
    answer = line.strip() or ("1" if line else "")
    if not answer:
        return None
    if not answer.isdecimal() or not 1 <= int(answer) <= len(found):
        raise UsageError(f"{answer} is not a number from 1 to {len(found)}")
    return Path(found[int(answer) - 1].path)
