"""Full-text search over all sessions: an SQLite FTS5 index that is a cache and nothing more.

The files are the truth. Each search first brings the index up to date: files that did not change
(by size, time and inode) cost one ``stat``, files that grew are read from where they were left. An
index that is missing, damaged or of another version is made anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from sloyd.errors import SessionError
from sloyd.sessions.catalogue import session_files
from sloyd.sessions.entries import SessionInfoEntry
from sloyd.sessions.fts import SCHEMA, SCHEMA_VERSION, match_expression, searchable, take_marks
from sloyd.sessions.plain import entry_role, entry_text
from sloyd.sessions.session import Session
from sloyd.sessions.store import make_private_directory
from sloyd.sessions.summary_of import SessionSummary, summary_of_open

if TYPE_CHECKING:
    import sqlite3

__all__ = ["SearchHit", "SessionIndex"]

_TEXT_LIMIT = 100_000
"""Characters of one entry that can be found; a log of megabytes would drown the rest."""
_SEARCH = """
    SELECT files.summary, entries.entry, entries.role, entries.stamp,
        snippet(texts, 0, char(2), char(3), '…', 40)
    FROM texts JOIN entries ON entries.id = texts.rowid JOIN files ON files.id = entries.file
    WHERE texts MATCH ? AND (? IS NULL OR files.cwd = ?)
    ORDER BY texts.rank, files.modified DESC LIMIT ?
"""
_TAIL = 64
_KINDS = ("message", "custom_message", "compaction", "branch_summary", "session_info")


_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One entry that contains the words.

    ``excerpt`` is the text around them; ``marks`` are their places in it, as (start, end).
    """

    session: SessionSummary
    entry_id: str
    role: str
    timestamp: str
    excerpt: str
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """A file as it was when it was last read."""

    number: int
    inode: int
    size: int
    modified: int
    tail: bytes


class SessionIndex:
    """The index of the sessions below one directory. Not for two threads at once.

    ``database`` is ``index.sqlite`` in that directory unless given. Raises `SessionError` when
    another process keeps it busy, or SQLite was built without FTS5.
    """

    def __init__(self, sessions: Path, database: Path | None = None) -> None:
        self._sessions = sessions
        self._database = database or sessions / "index.sqlite"
        self._connection = self._open()

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def sessions(self, cwd: str | None = None) -> list[SessionSummary]:
        """All sessions, or those of one working directory; the last changed first."""
        rows = self._guarded(
            lambda: self._rows(
                "SELECT summary FROM files WHERE ? IS NULL OR cwd = ? ORDER BY modified DESC",
                (cwd, cwd),
            )
        )
        return [_summary(row[0]) for row in rows]

    def search(self, query: str, *, cwd: str | None = None, limit: int = 50) -> list[SearchHit]:
        """Entries that contain every word, the best first.

        Words in double quotes belong together; the last word may be unfinished. Case and accents
        do not matter. Empty for a query without a word.
        """
        expression = match_expression(query)
        if not expression:
            return []
        rows = self._guarded(lambda: self._rows(_SEARCH, (expression, cwd, cwd, limit)))
        hits = []
        for summary, entry, role, stamp, excerpt in rows:
            text, marks = take_marks(excerpt)
            hits.append(SearchHit(_summary(summary), entry, role, stamp, text, marks))
        return hits

    def refresh(self) -> None:
        """Bring the index up to date. `sessions` and `search` do it themselves."""
        self._guarded(lambda: None)

    def _open(self) -> sqlite3.Connection:
        import sqlite3

        for attempt in range(2):
            self._touch()
            connection = sqlite3.connect(
                self._database, timeout=10, isolation_level=None, check_same_thread=False
            )
            try:
                _prepare(connection)
                return connection
            except sqlite3.DatabaseError as error:
                connection.close()
                if "no such module" in str(error):
                    raise SessionError(
                        "this Python's SQLite has no full-text search (FTS5)"
                    ) from error
                if _is_busy(error) or attempt:
                    raise SessionError(f"the session index cannot be used: {error}") from error
                self._remove()
        raise AssertionError("the second attempt returns or raises")

    def _touch(self) -> None:
        """Make the file, if it is missing, for nobody but its owner."""
        try:
            make_private_directory(self._database.parent)
            os.close(os.open(self._database, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise SessionError(f"cannot open {self._database}: {error.strerror}") from error

    def _rows(self, statement: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, values).fetchall()

    def _guarded(self, work: Callable[[], _Result]) -> _Result:
        """Bring the index up to date and ask it; if it is damaged, make it anew first."""
        import sqlite3

        try:
            self._refresh()
            return work()
        except sqlite3.DatabaseError as error:
            if _is_busy(error):
                raise SessionError(f"the session index is busy: {error}") from error
            self._connection.close()
            self._remove()
            self._connection = self._open()
            self._refresh()
            return work()

    def _remove(self) -> None:
        for suffix in ("", "-journal", "-wal", "-shm"):
            with suppress(OSError):
                Path(f"{self._database}{suffix}").unlink()

    def _refresh(self) -> None:
        known = {
            path: _Known(*facts)
            for path, *facts in self._rows(
                "SELECT path, id, inode, size, modified, tail FROM files", ()
            )
        }
        for path in session_files(self._sessions):
            try:
                stat = path.stat()
            except OSError:
                continue
            row = known.pop(str(path), None)
            now = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
            if row is not None and (row.inode, row.size, row.modified) == now:
                continue
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._take(path, stat, row)
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(Exception):
                    self._connection.execute("ROLLBACK")
                raise
        for row in known.values():
            self._forget(row.number)

    def _take(self, path: Path, stat: os.stat_result, row: _Known | None) -> None:
        """Read what is new in one file."""
        grown_from = 0
        grew = row is not None and row.inode == stat.st_ino and row.size < stat.st_size
        if row is not None and grew and row.tail == _tail(path, row.size):
            grown_from = row.size
        elif row is not None:
            self._forget(row.number)
            row = None
        modified = stat.st_mtime_ns
        try:
            session = Session.open(path, on_conflict="read")
        except SessionError as error:
            summary = SessionSummary(
                path=str(path), modified=modified // 1_000_000, problem=str(error)
            )
            self._put_file(row, summary, stat)
            return
        with session:
            summary = summary_of_open(session, modified // 1_000_000, stat.st_size)
            number = self._put_file(row, summary, stat)
            for node in session.tree.nodes():
                # A line that was torn when it was last read began before the end of the file then.
                if node.type in _KINDS and node.offset + node.length > grown_from:
                    self._put_entry(number, session, node.id)

    def _put_file(
        self,
        row: _Known | None,
        summary: SessionSummary,
        stat: os.stat_result,
    ) -> int:
        import msgspec

        number = row.number if row is not None else None
        # A lone surrogate in a name would stop SQLite.
        text = msgspec.json.encode(_clean(msgspec.to_builtins(summary))).decode()
        cursor = self._connection.execute(
            "INSERT OR REPLACE INTO files (id, path, inode, size, modified, tail, cwd, summary)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number,
                str(summary.path),
                stat.st_ino,
                stat.st_size,
                stat.st_mtime_ns,
                _tail(Path(summary.path), stat.st_size),
                _clean(summary.cwd),
                text,
            ),
        )
        return number if number is not None else int(cursor.lastrowid or 0)

    def _put_entry(self, file: int, session: Session, entry_id: str) -> None:
        entry = session.entry(entry_id)
        if isinstance(entry, SessionInfoEntry):
            role, text = "name", entry.name or ""
        else:
            role, text = entry_role(entry), entry_text(entry)[:_TEXT_LIMIT]
        if not text.strip():
            return
        row = (file, _clean(entry.id), _clean(role), _clean(entry.timestamp))
        cursor = self._connection.execute(
            "INSERT INTO entries (file, entry, role, stamp) VALUES (?, ?, ?, ?)", row
        )
        self._connection.execute(
            "INSERT INTO texts (rowid, body) VALUES (?, ?)", (cursor.lastrowid, searchable(text))
        )

    def _forget(self, file: int) -> None:
        self._connection.execute(
            "DELETE FROM texts WHERE rowid IN (SELECT id FROM entries WHERE file = ?)", (file,)
        )
        self._connection.execute("DELETE FROM entries WHERE file = ?", (file,))
        self._connection.execute("DELETE FROM files WHERE id = ?", (file,))


def _tail(path: Path, end: int) -> bytes:
    """The bytes before a place in a file: a file that only grew still has them there."""
    try:
        with path.open("rb") as file:
            file.seek(max(end - _TAIL, 0))
            return file.read(min(end, _TAIL))
    except OSError:
        return b""


def _prepare(connection: sqlite3.Connection) -> None:
    import sqlite3

    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in (0, SCHEMA_VERSION):
        raise sqlite3.DatabaseError(f"the index has version {version}")
    # It is a cache: after a power failure it is made anew.
    connection.execute("PRAGMA synchronous = OFF")
    if version == 0:
        connection.executescript(SCHEMA)


def _is_busy(error: Exception) -> bool:
    return getattr(error, "sqlite_errorname", "") in ("SQLITE_BUSY", "SQLITE_LOCKED")


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    return value


def _summary(text: str) -> SessionSummary:
    import msgspec

    return msgspec.json.decode(text, type=SessionSummary)
