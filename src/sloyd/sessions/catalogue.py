"""All sessions of this user: finding one, and what can be done to one from outside.

Files are found by looking at directories, so nothing here depends on the index.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from sloyd.errors import SessionError
from sloyd.sessions.entries import SessionHeader
from sloyd.sessions.names import project_directory
from sloyd.sessions.scan import decode_header
from sloyd.sessions.session import Session
from sloyd.sessions.store import make_private_directory, read_lines
from sloyd.sessions.summary_of import SessionSummary, summary_of

__all__ = [
    "delete_session",
    "find_session",
    "list_sessions",
    "moved_sessions",
    "newest_session",
    "read_header",
    "relocate_session",
    "rename_session",
    "session_files",
]


def session_files(sessions: Path, cwd: str | None = None) -> list[Path]:
    """Files of sessions, the last changed first; only those of one working directory if given.

    Raises `SessionError` when a directory cannot be read: that is not the same as no sessions.
    """
    folders = [project_directory(sessions, cwd)] if cwd is not None else [sessions]
    found: list[tuple[int, Path]] = []
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.endswith(".jsonl") and entry.is_file():
                        found.append((entry.stat().st_mtime_ns, Path(entry.path)))
                    elif folder == sessions and entry.is_dir():
                        folders.append(Path(entry.path))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise SessionError(f"cannot look for sessions in {folder}: {error.strerror}") from error
    return [path for _, path in sorted(found, reverse=True)]


def read_header(path: Path) -> SessionHeader:
    """The header of a file, and nothing else of it. Raises `SessionError`."""
    for line in read_lines(path):
        if line.strip(b"\xef\xbb\xbf \r\n"):
            return decode_header(line.strip(), str(path))
    raise SessionError(f"{path} is empty, not a session file")


def newest_session(sessions: Path, cwd: str) -> Path | None:
    """The session of a working directory that was last changed; None if it has none.

    Files that are no sessions are passed over. Raises `SessionError` when the directory cannot be
    read.
    """
    for path in session_files(sessions, cwd):
        header = _header_or_none(path)
        # Two directories may share a folder: `/a/b` and `/a-b` have one name.
        if header is not None and (header.cwd in (cwd, "") or _moved_here(path, cwd)):
            return path
    return None


def moved_sessions(sessions: Path, cwd: str) -> list[Path]:
    """Sessions that began in this directory when it stood elsewhere, the last changed first."""
    try:
        stat = Path(cwd).stat()
    except OSError:
        return []
    identity = f"{stat.st_dev:x}:{stat.st_ino:x}"
    found = []
    for path in session_files(sessions):
        header = _header_or_none(path)
        if (
            header is None
            or header.cwd == cwd
            or (header.sloyd or {}).get("cwdIdentity") != identity
        ):
            continue
        if not Path(header.cwd).exists():
            found.append(path)
    return found


def find_session(sessions: Path, reference: str, cwd: str | None = None) -> Path:
    """The file that a person means: a path, an id, the beginning of one, or a name.

    Sessions of ``cwd`` go first. Raises `SessionError` when nothing fits, with the nearest command
    to try, and when several do, with their paths.
    """
    if not reference.strip():
        # Every id begins with nothing; a script whose variable is empty means none of them.
        raise SessionError("say which session: a path, an id or a name; `sloyd sessions` lists all")
    if os.sep in reference or reference.endswith(".jsonl"):
        path = Path(reference).expanduser()
        if not path.is_file():
            raise SessionError(f"there is no session file {reference}")
        return path.absolute()
    files = session_files(sessions)
    own = set(session_files(sessions, cwd)) if cwd is not None else set()
    by_id = [path for path in files if _id_of(path) == reference]
    by_prefix = [path for path in files if _id_of(path).startswith(reference)]
    for matching in (by_id, by_prefix):
        chosen = _preferred(matching, own)
        if chosen is not None:
            return chosen
        if matching:
            raise _several(reference, matching)
    named = [path for path in files if _name_of(path) == reference]
    chosen = _preferred(named, own)
    if chosen is not None:
        return chosen
    if named:
        raise _several(reference, named)
    raise SessionError(
        f"no session has the id or name {reference}; `sloyd sessions` lists them all"
    )


def list_sessions(sessions: Path, cwd: str | None = None) -> Iterator[SessionSummary]:
    """The facts of sessions, the last changed first, read from the files themselves."""
    for path in session_files(sessions, cwd):
        if path.exists():
            yield summary_of(path)


def rename_session(path: Path, name: str | None) -> None:
    """Give a session a name, or take it away. Raises `SessionError` when it is in use."""
    with Session.open(path) as session:
        session.set_name(name)


def delete_session(path: Path) -> None:
    """Remove a session's file. Raises `SessionError` when it is in use, or is no session."""
    with Session.open(path):
        try:
            path.unlink()
        except OSError as error:
            raise SessionError(f"cannot delete {path}: {error.strerror}") from error


def relocate_session(path: Path, sessions: Path, cwd: str) -> Path:
    """Make another directory a session's working directory; its new path.

    The file goes to that directory's folder, so that it is found there. Raises `SessionError` when
    it is in use or cannot be moved.
    """
    target = project_directory(sessions, cwd) / path.name
    with Session.open(path) as session:
        session.move_to(cwd)
        try:
            make_private_directory(target.parent)
            if target != path:
                if target.exists():
                    raise SessionError(f"{target} exists already")
                path.rename(target)
        except OSError as error:
            raise SessionError(f"cannot move {path}: {error.strerror}") from error
    return target


def _header_or_none(path: Path) -> SessionHeader | None:
    try:
        return read_header(path)
    except SessionError:
        return None


def _moved_here(path: Path, cwd: str) -> bool:
    try:
        with Session.open(path, on_conflict="read") as session:
            return session.cwd == cwd
    except SessionError:
        return False


def _id_of(path: Path) -> str:
    return path.stem.partition("_")[2] or path.stem


def _name_of(path: Path) -> str | None:
    try:
        with Session.open(path, on_conflict="read") as session:
            return session.name
    except SessionError:
        return None


def _preferred(matching: list[Path], own: set[Path]) -> Path | None:
    """The only one, or the only one of this working directory."""
    if len(matching) == 1:
        return matching[0]
    here = [path for path in matching if path in own]
    return here[0] if len(here) == 1 else None


def _several(reference: str, matching: list[Path]) -> SessionError:
    paths = "".join(f"\n  {path}" for path in matching[:10])
    return SessionError(f"{len(matching)} sessions fit {reference}; say which by its path:{paths}")
