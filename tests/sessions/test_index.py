"""Search over all sessions, and the index that is only a cache."""

from __future__ import annotations

import sqlite3
import stat
import time
from pathlib import Path

import pytest

from sloyd.errors import SessionError
from sloyd.sessions.catalogue import delete_session
from sloyd.sessions.fts import match_expression
from sloyd.sessions.index import SessionIndex
from sloyd.sessions.session import Session
from tests.sessions.builders import answer, call, result, user


def _make(sessions: Path, cwd: str, *texts: str, name: str | None = None) -> Path:
    with Session.create(sessions, cwd) as session:
        for place, text in enumerate(texts):
            session.append_message(answer(text) if place % 2 else user(text))
        if name:
            session.set_name(name)
        assert session.path is not None
        return session.path


def _found(index: SessionIndex, query: str, cwd: str | None = None) -> list[str]:
    return sorted({Path(hit.session.path).stem for hit in index.search(query, cwd=cwd)})


def test_words_are_found_in_all_projects_and_in_one(tmp_path: Path) -> None:
    one = _make(tmp_path, "/a", "Fix the Résumé parser", "The parser works now")
    two = _make(tmp_path, "/b", "Parser for dates", "done")
    with SessionIndex(tmp_path) as index:
        assert _found(index, "parser") == sorted([one.stem, two.stem])
        assert _found(index, "resume") == [one.stem]
        assert _found(index, "parser", cwd="/b") == [two.stem]
        assert _found(index, '"parser works"') == [one.stem]
        assert _found(index, '"works parser"') == []
        assert _found(index, "pars dat") == []
        assert _found(index, "parser dat") == [two.stem]
        hit = index.search("works")[0]
        assert hit.role == "assistant"
        start, end = hit.marks[0]
        assert hit.excerpt[start:end] == "works"
        assert hit.session.cwd == "/a"


def test_calls_results_names_and_ideographs_are_found(tmp_path: Path) -> None:
    with Session.create(tmp_path, "/a") as session:
        session.append_message(user("修复解析器里的错误"))
        session.append_message(answer("", call("c", path="src/lexer.py")))
        session.append_message(result("c", "def tokenise(): ..."))
        session.set_name("grammar work")
    with SessionIndex(tmp_path) as index:
        for query in ("lexer.py", "tokenise", "grammar", "解析器", "错误"):
            assert len(index.search(query)) == 1, query
        assert index.search("器析") == []
        assert index.search("解析器")[0].excerpt == "修复解析器里的错误"


@pytest.mark.parametrize(
    "query", ['"', '""', "*", "AND", "a OR", "NEAR(", "-x", "body:x", "^", "(", "", " ", "a\0b"]
)
def test_no_query_is_an_error(tmp_path: Path, query: str) -> None:
    _make(tmp_path, "/a", "something")
    with SessionIndex(tmp_path) as index:
        assert index.search(query) == []


def test_a_query_is_data() -> None:
    assert match_expression('a" OR "b c') == '"a" AND " OR " AND "b" AND "c" *'
    assert match_expression("x AND y") == '"x" AND "AND" AND "y" *'


def test_what_was_added_changed_or_deleted_is_noticed(tmp_path: Path) -> None:
    path = _make(tmp_path, "/a", "alpha")
    with SessionIndex(tmp_path) as index:
        assert _found(index, "alpha") == [path.stem]
        with Session.open(path) as session:
            session.append_message(user("beta"))
        assert len(index.search("beta")) == 1
        assert len(index.search("alpha")) == 1, "not indexed a second time"
        other = _make(tmp_path, "/b", "beta too")
        assert len(index.search("beta")) == 2
        delete_session(other)
        assert len(index.search("beta")) == 1
        path.write_text(path.read_text().replace("alpha", "gamma"))
        assert index.search("alpha") == []
        assert _found(index, "gamma") == [path.stem]
        path.write_text(path.read_text().replace("gamma", "a longer delta"))
        assert index.search("gamma") == []
        assert len(index.search("beta")) == 1


def test_a_torn_line_is_found_when_it_is_whole(tmp_path: Path) -> None:
    path = _make(tmp_path, "/a", "alpha", "omega")
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with SessionIndex(tmp_path) as index:
        assert index.search("omega") == []
        with path.open("r+b") as file:
            file.write(whole)
        assert len(index.search("omega")) == 1
        assert len(index.search("alpha")) == 1


def test_a_damaged_index_is_made_anew(tmp_path: Path) -> None:
    path = _make(tmp_path, "/a", "alpha")
    database = tmp_path / "index.sqlite"
    for damage in (b"no database at all" * 100, b"", None):
        if damage is None:
            database.unlink()
        else:
            database.write_bytes(damage)
        with SessionIndex(tmp_path) as index:
            assert _found(index, "alpha") == [path.stem]
    with SessionIndex(tmp_path) as index:
        assert _found(index, "alpha") == [path.stem]
        data = database.read_bytes()
        database.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
        with Session.open(path) as session:
            session.append_message(user("beta"))
        assert _found(index, "beta") == [path.stem]


def test_an_index_of_another_version_is_made_anew(tmp_path: Path) -> None:
    path = _make(tmp_path, "/a", "alpha")
    with SessionIndex(tmp_path) as index:
        assert _found(index, "alpha") == [path.stem]
    with sqlite3.connect(tmp_path / "index.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with SessionIndex(tmp_path) as index:
        assert _found(index, "alpha") == [path.stem]
    assert stat.S_IMODE((tmp_path / "index.sqlite").stat().st_mode) == 0o600


def test_a_busy_index_is_an_error_in_words(tmp_path: Path) -> None:
    path = _make(tmp_path, "/a", "alpha")
    with SessionIndex(tmp_path) as index:
        index.refresh()
        index._connection.execute("PRAGMA busy_timeout = 50")
        with Session.open(path) as session:
            session.append_message(user("beta"))
        blocker = sqlite3.connect(tmp_path / "index.sqlite", isolation_level=None)
        blocker.execute("BEGIN EXCLUSIVE")
        with pytest.raises(SessionError, match="busy"):
            index.search("alpha")
        blocker.execute("ROLLBACK")
        blocker.close()
        assert _found(index, "beta") == [path.stem]


def test_the_list_tells_what_a_session_is(tmp_path: Path) -> None:
    _make(tmp_path, "/a", "first words\nof it", "yes", name="Named")
    time.sleep(0.01)
    _make(tmp_path, "/b", "other \ud800")
    (tmp_path / "--b--" / "junk.jsonl").write_text("junk\n")
    with SessionIndex(tmp_path) as index:
        junk, other, named = index.sessions()
        assert "not a session file" in (junk.problem or "")
        assert (named.title, named.first_message) == ("Named", "first words of it")
        assert (named.messages, named.cwd) == (2, "/a")
        assert other.title.startswith("other")
        assert [summary.cwd for summary in index.sessions("/b")] == ["/b"]
