"""The header of a new session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sloyd.llm.messages import now_ms
from sloyd.sessions.codec import iso_from_ms
from sloyd.sessions.entries import FORMAT_VERSION, SessionHeader
from sloyd.sessions.names import new_session_id

__all__ = ["new_header"]


def new_header(cwd: str, session_id: str | None, parent: str | None) -> SessionHeader:
    """The header of a session that begins now; without an id it gets a new one."""
    return SessionHeader(
        version=FORMAT_VERSION,
        id=session_id or new_session_id(),
        timestamp=iso_from_ms(now_ms()),
        cwd=cwd,
        parent_session=parent,
        sloyd=_identity(cwd),
    )


def _identity(cwd: str) -> dict[str, Any] | None:
    """Device and inode of the directory, by which it is known when it has been moved."""
    try:
        stat = Path(cwd).stat()
    except (OSError, ValueError):  # ValueError: NUL, or what no file system can spell
        return None
    return {"cwdIdentity": f"{stat.st_dev:x}:{stat.st_ino:x}"} if stat.st_ino else None
