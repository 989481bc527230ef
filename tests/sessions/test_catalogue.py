"""Finding sessions and what can be done to one from outside."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from sloyd.errors import SessionError
from sloyd.sessions.catalogue import (
    delete_session,
    find_session,
    list_sessions,
    moved_sessions,
    newest_session,
    relocate_session,
    rename_session,
    session_files,
)
from sloyd.sessions.session import Session
from tests.sessions.builders import texts, user


def _make(sessions: Path, cwd: str, text: str, session_id: str | None = None) -> Path:
    with Session.create(sessions, cwd, session_id=session_id) as session:
        session.append_message(user(text))
        assert session.path is not None
        return session.path


def test_the_newest_session_of_a_directory(tmp_path: Path) -> None:
    assert newest_session(tmp_path / "none", "/a/b") is None
    old = _make(tmp_path, "/a/b", "old")
    new = _make(tmp_path, "/a/b", "new")
    os.utime(old, ns=(1, 1))
    assert newest_session(tmp_path, "/a/b") == new
    other = _make(tmp_path, "/a-b", "another directory, the same folder")
    assert other.parent == new.parent
    os.utime(other, ns=(time.time_ns() * 2, time.time_ns() * 2))
    assert newest_session(tmp_path, "/a/b") == new
    (new.parent / "junk.jsonl").write_text("junk")
    assert newest_session(tmp_path, "/a/b") == new


def test_a_session_is_found_by_path_id_prefix_and_name(tmp_path: Path) -> None:
    first = _make(tmp_path, "/a", "one", "aaaa-1111")
    second = _make(tmp_path, "/b", "two", "aaaa-2222")
    rename_session(second, "my session")
    assert find_session(tmp_path, str(first)) == first
    assert find_session(tmp_path, "aaaa-1111") == first
    assert find_session(tmp_path, "aaaa-2") == second
    assert find_session(tmp_path, "my session") == second
    assert find_session(tmp_path, "aaaa", cwd="/a") == first
    with pytest.raises(SessionError, match="2 sessions fit aaaa"):
        find_session(tmp_path, "aaaa")
    with pytest.raises(SessionError, match="no session has the id or name zzz"):
        find_session(tmp_path, "zzz")
    with pytest.raises(SessionError, match="no session file"):
        find_session(tmp_path, "gone.jsonl")


def test_a_directory_that_cannot_be_read_is_not_an_empty_one(tmp_path: Path) -> None:
    blocked = tmp_path / "sessions"
    blocked.write_text("a file where the directory should be")
    with pytest.raises(SessionError, match="cannot look for sessions"):
        session_files(blocked)


def test_renaming_and_deleting_respect_the_lease(tmp_path: Path) -> None:
    with Session.create(tmp_path, "/a") as session:
        session.append_message(user("busy"))
        path = session.path
        assert path is not None
        with pytest.raises(SessionError, match="in use"):
            rename_session(path, "x")
        with pytest.raises(SessionError, match="in use"):
            delete_session(path)
    rename_session(path, "free")
    assert next(list_sessions(tmp_path)).name == "free"
    delete_session(path)
    assert list(tmp_path.rglob("*.jsonl*")) == []


def test_a_moved_directory_finds_its_sessions_again(tmp_path: Path) -> None:
    sessions, before, after = tmp_path / "sessions", tmp_path / "before", tmp_path / "after"
    before.mkdir()
    path = _make(sessions, str(before), "where am I")
    assert moved_sessions(sessions, str(before)) == []
    before.rename(after)
    assert newest_session(sessions, str(after)) is None
    assert moved_sessions(sessions, str(after)) == [path]
    moved = relocate_session(path, sessions, str(after))
    assert not path.exists()
    assert newest_session(sessions, str(after)) == moved
    with Session.open(moved) as session:
        assert session.cwd == str(after)
        assert texts(session) == ["where am I"]


def test_a_file_that_is_no_session_is_not_deleted(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("precious")
    with pytest.raises(SessionError, match="not a session"):
        delete_session(path)
    assert path.read_text() == "precious"


@pytest.mark.parametrize("nothing", ["", " "])
def test_nothing_means_no_session(tmp_path: Path, nothing: str) -> None:
    """Every id begins with nothing, but an empty variable of a script means none."""
    with Session.create(tmp_path, "/a") as session:
        session.append_message(user("the only one"))
    with pytest.raises(SessionError, match="say which session"):
        find_session(tmp_path, nothing, cwd="/a")
