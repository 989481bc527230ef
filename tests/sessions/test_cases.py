"""The handed cases: damaged session files and what must still load."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sloyd.errors import SessionError
from sloyd.sessions.session import Session
from tests.sessions.builders import CASES, texts, user

_CASES = {case["file"]: case for case in json.loads((CASES / "session_cases.json").read_text())}
_WHOLE = ["first question", "first answer", "second question", "second answer"]


def _copy(name: str, tmp_path: Path) -> Path:
    return Path(shutil.copy(CASES / "sessions" / name, tmp_path / name))


def _continued(path: Path) -> list[str]:
    """Append one message, and read everything back from the file."""
    with Session.open(path) as session:
        session.append_message(user("and now"))
        shown = texts(session)
    with Session.open(path) as again:
        assert texts(again) == shown
    return shown


def test_every_handed_case_is_tested_here() -> None:
    source = Path(__file__).read_text()
    assert [name for name in _CASES if f'"{name}"' not in source] == []


@pytest.mark.parametrize("name", ["torn_tail.jsonl", "torn_tail_blank_line.jsonl"])
def test_torn_tail_loses_only_the_torn_entry(name: str, tmp_path: Path) -> None:
    path = _copy(name, tmp_path)
    before = path.read_bytes()
    assert _continued(path) == [*_WHOLE[:3], "and now"]
    assert path.read_bytes().startswith(before), "the torn line stays where it is"
    with Session.open(path) as session:
        assert [problem.line for problem in session.problems] == [5]


@pytest.mark.parametrize("name", ["valid_no_newline.jsonl", "crlf.jsonl", "bom.jsonl"])
def test_odd_but_whole_files_load_completely(name: str, tmp_path: Path) -> None:
    path = _copy(name, tmp_path)
    assert _continued(path) == [*_WHOLE, "and now"]
    with Session.open(path) as session:
        assert session.problems == ()


def test_fused_lines_are_one_bad_line(tmp_path: Path) -> None:
    path = _copy("fused.jsonl", tmp_path)
    assert _continued(path) == [*_WHOLE[:3], "and now"]
    with Session.open(path) as session:
        assert [problem.line for problem in session.problems] == [5]
        assert session.bad_line(session.problems[0]).count(b'"00000004"') == 2


def test_entries_behind_a_bad_line_are_linked_and_told_about(tmp_path: Path) -> None:
    path = _copy("bad_middle.jsonl", tmp_path)
    assert _continued(path) == ["first question", "second question", "second answer", "and now"]
    with Session.open(path) as session:
        told = [str(problem) for problem in session.problems]
        assert [problem.line for problem in session.problems] == [3, 4]
        assert "00000002" in told[1]


def test_unicode_line_separators_are_text(tmp_path: Path) -> None:
    path = _copy("u2028.jsonl", tmp_path)
    assert _continued(path)[3] == "sec\u2028ond\u0085 ans\u2029wer"


def test_lone_surrogate_loads_saves_and_forks(tmp_path: Path) -> None:
    path = _copy("lone_surrogate.jsonl", tmp_path)
    with Session.open(path) as session:
        assert texts(session)[3] == "bad \ud99c end"
        session.append_message(user("again \ud99c"))
    with Session.open(path) as session:
        assert texts(session)[4] == "again \ud99c"


def test_empty_file_is_refused_in_words(tmp_path: Path) -> None:
    path = _copy("empty.jsonl", tmp_path)
    with pytest.raises(SessionError, match="is empty"):
        Session.open(path)


def test_header_only_has_no_messages(tmp_path: Path) -> None:
    path = _copy("header_only.jsonl", tmp_path)
    assert _continued(path) == ["and now"]


def test_duplicate_ids_end_and_one_is_used(tmp_path: Path) -> None:
    path = _copy("duplicate_ids.jsonl", tmp_path)
    assert _continued(path) == [*_WHOLE, "and now"]
    with Session.open(path) as session:
        assert [problem.line for problem in session.problems] == [6]


def test_wrong_json_kinds_are_skipped_with_their_lines(tmp_path: Path) -> None:
    path = _copy("wrong_json_kind.jsonl", tmp_path)
    assert _continued(path) == [*_WHOLE, "and now"]
    with Session.open(path) as session:
        assert [problem.line for problem in session.problems] == [5, 6, 7]


def test_session_of_a_directory_that_is_gone_opens_and_moves(tmp_path: Path) -> None:
    path = _copy("cwd_gone.jsonl", tmp_path)
    with Session.open(path) as session:
        assert session.cwd == "/nonexistent/gone"
        session.move_to(str(tmp_path))
    with Session.open(path) as session:
        assert session.cwd == str(tmp_path)
        assert texts(session) == _WHOLE


def test_parent_cycle_ends(tmp_path: Path) -> None:
    path = tmp_path / "cycle.jsonl"
    lines = [
        {"type": "session", "version": 3, "id": "s", "timestamp": "", "cwd": "/"},
        {
            "type": "message",
            "id": "a",
            "parentId": "b",
            "message": {"role": "user", "content": "1"},
        },
        {
            "type": "message",
            "id": "b",
            "parentId": "a",
            "message": {"role": "user", "content": "2"},
        },
        {
            "type": "message",
            "id": "c",
            "parentId": "c",
            "message": {"role": "user", "content": "3"},
        },
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert _continued(path) == ["1", "2", "3", "and now"]


def test_a_file_that_is_no_session_is_left_untouched(tmp_path: Path) -> None:
    for name, content in {
        "notes.txt": b"some notes\nmore\n",
        "other.json": b'{"type": "other"}\n',
        "list.json": b"[1, 2]\n",
        "zeros.bin": bytes(3 << 20),
    }.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(SessionError, match="not a session file"):
            Session.open(path)
        assert path.read_bytes() == content
    assert not list(tmp_path.glob("*.lock"))
