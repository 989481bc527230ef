"""Names of sessions: their ids, their files and the directories of their projects."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Container
from pathlib import Path

from sloyd.errors import SessionError

__all__ = ["new_entry_id", "new_session_id", "project_directory", "session_file_name"]

_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def new_session_id() -> str:
    """A UUID of version 7 (RFC 9562): it begins with the time, so ids sort by age."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10))
    number = milliseconds << 80 | random
    number = number & ~(0xF << 76) | 7 << 76
    number = number & ~(0x3 << 62) | 2 << 62
    digits = f"{number:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def new_entry_id(taken: Container[str]) -> str:
    """Eight random hexadecimal digits that are not ``in taken``."""
    while True:
        identifier = os.urandom(4).hex()
        if identifier not in taken:
            return identifier


def project_directory(sessions: Path, cwd: str) -> Path:
    """Where the sessions of a working directory are: ``<sessions>/--<cwd>--``, as pi names it."""
    readable = re.sub("[/\\\\:\0]", "-", re.sub(r"^[/\\]", "", cwd))
    try:
        os.fsencode(readable)
    except UnicodeEncodeError:
        readable = readable.encode("ascii", "backslashreplace").decode().replace("\\", "-")
    # File systems take 255 bytes in a name; the end of a path tells more than its beginning.
    while len(os.fsencode(readable)) > 240:
        readable = readable[1:]
    return sessions / f"--{readable}--"


def session_file_name(session_id: str, timestamp: str) -> str:
    """``<time>_<id>.jsonl``; ``timestamp`` is the header's. Raises `SessionError` for a bad id."""
    if not _SESSION_ID.fullmatch(session_id):
        raise SessionError(
            f"{session_id!r} cannot be a session id: it must be letters, digits, '.', '_' and '-'"
        )
    return f"{timestamp.replace(':', '-').replace('.', '-')}_{session_id}.jsonl"
