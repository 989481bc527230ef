"""A session that pi 1.6.0 wrote against a scripted model, continued here."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from sloyd.llm.messages import AssistantMessage, ToolResultMessage, UserMessage
from sloyd.sessions.entries import MessageEntry, SystemMessage
from sloyd.sessions.forks import clone
from sloyd.sessions.session import Session
from tests.sessions.builders import DATA, answer, lines_of, texts, user


def _pi_session(tmp_path: Path) -> Path:
    return Path(shutil.copy(DATA / "pi_session.jsonl", tmp_path / "pi.jsonl"))


def test_every_entry_is_read(tmp_path: Path) -> None:
    with Session.open(_pi_session(tmp_path)) as session:
        assert session.problems == ()
        context = session.context()
        assert [type(m) for m in context.messages] == [
            UserMessage,
            AssistantMessage,
            ToolResultMessage,
            AssistantMessage,
            ToolResultMessage,
            ToolResultMessage,
            AssistantMessage,
            UserMessage,
            AssistantMessage,
        ]
        assert (context.provider, context.model_id) == ("mock", "mock")
        assert context.thinking_level == "off"
        failed = context.messages[5]
        assert isinstance(failed, ToolResultMessage)
        assert failed.is_error
        edited = context.messages[4]
        assert isinstance(edited, ToolResultMessage)
        assert "+print('Hello')" in edited.details["patch"]


def test_pi_system_message_is_kept_but_not_sent(tmp_path: Path) -> None:
    with Session.open(_pi_session(tmp_path)) as session:
        messages = [e.message for e in session.branch() if isinstance(e, MessageEntry)]
        assert sum(isinstance(m, SystemMessage) for m in messages) == 1


def test_continuing_appends_lines_of_pi_s_shape(tmp_path: Path) -> None:
    path = _pi_session(tmp_path)
    before = path.read_bytes()
    with Session.open(path) as session:
        session.append_message(user("one more"))
        session.append_message(answer("gladly"))
    assert path.read_bytes().startswith(before)
    old_answer, new_user, new_answer = lines_of(path)[-3:]
    assert new_user["parentId"] == old_answer["id"]
    assert new_answer["parentId"] == new_user["id"]
    assert set(new_answer) == set(old_answer)
    # pi reads these without asking whether they are there.
    assert {"content", "api", "provider", "model", "usage", "stopReason", "timestamp"} <= set(
        new_answer["message"]
    )
    assert set(old_answer["message"]["usage"]) - {"reasoning"} == set(
        new_answer["message"]["usage"]
    )


def test_a_copy_keeps_fields_that_we_do_not_know(tmp_path: Path) -> None:
    path = _pi_session(tmp_path)
    with Session.open(path) as session, clone(session) as copy:
        assert texts(copy) == texts(session)
        assert copy.path is not None
        assert lines_of(copy.path)[1:] == lines_of(path)[1:]
        assert lines_of(copy.path)[0]["parentSession"] == str(path)


def test_a_file_of_version_one_is_migrated_when_it_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    old = [
        {"type": "session", "id": "s", "timestamp": "2025-01-01T00:00:00.000Z", "cwd": "/old"},
        {"type": "message", "message": {"role": "user", "content": "one"}, "kept": 1},
        {"type": "message", "message": {"role": "assistant", "content": None, "usage": None}},
        {"type": "message", "message": {"role": "user", "content": "two"}},
        {"type": "compaction", "summary": "so far", "firstKeptEntryIndex": 3, "tokensBefore": 9},
        {"type": "message", "message": {"role": "hookMessage", "content": "from a hook"}},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in old) + "broken\n")
    before = path.read_bytes()
    with Session.open(path) as session:
        assert texts(session)[1:] == ["two", "from a hook"]
        assert "so far" in texts(session)[0]
        assert path.read_bytes() == before, "opening changes nothing"
        session.append_message(user("three"))
    assert b"\nbroken\n" in path.read_bytes()
    with Session.open(path) as session:
        assert session.header.version == 3
        assert texts(session)[1:] == ["two", "from a hook", "three"]
        assert b'"kept":1' in session.raw(next(session.entries()).id)
