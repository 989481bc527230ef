"""Messages and results can be dropped from the context and restored; calls keep their results."""

from __future__ import annotations

from pathlib import Path

import pytest

from sloyd.errors import SessionError
from sloyd.llm.messages import AssistantMessage, Image, Message, Text, ToolResultMessage
from sloyd.sessions.edits import drop, dropped, hide, restore
from sloyd.sessions.session import Session
from tests.sessions.builders import answer, call, lines_of, result, texts, user


def _session(tmp_path: Path) -> tuple[Session, list[str]]:
    session = Session.create(tmp_path, "/w")
    messages: list[Message] = [
        user("q"),
        answer("looking", call("c1"), call("c2")),
        result("c1", "first file"),
        result("c2", "second file"),
        answer("done"),
    ]
    return session, [session.append_message(message).id for message in messages]


def test_a_dropped_result_leaves_a_note_and_comes_back(tmp_path: Path) -> None:
    session, ids = _session(tmp_path)
    with session:
        assert drop(session, ids[2]) == (ids[2],)
        shown = texts(session)
        assert ids[2] in shown[2]
        assert "first file" not in shown[2]
        assert set(dropped(session)) == {ids[2]}
        assert restore(session, ids[2]) == (ids[2],)
        assert texts(session) == ["q", "looking", "first file", "second file", "done"]
        assert dropped(session) == {}
        assert restore(session, ids[2]) == ()


def test_an_answer_goes_with_the_results_of_its_calls(tmp_path: Path) -> None:
    session, ids = _session(tmp_path)
    with session:
        assert drop(session, ids[1]) == (ids[1], ids[2], ids[3])
        assert texts(session) == ["q", "done"]
        path = session.path
    assert path is not None
    with Session.open(path) as session:
        assert texts(session) == ["q", "done"]
        assert restore(session, ids[3]) == (ids[1], ids[2], ids[3])
        assert texts(session) == ["q", "looking", "first file", "second file", "done"]


def test_no_call_is_ever_without_its_result(tmp_path: Path) -> None:
    session, ids = _session(tmp_path)
    with session:
        for target in ids:
            drop(session, target)
            asked = {
                c.id
                for m in session.context().messages
                if isinstance(m, AssistantMessage)
                for c in m.tool_calls
            }
            answered = {
                m.tool_call_id
                for m in session.context().messages
                if isinstance(m, ToolResultMessage)
            }
            assert asked == answered


def test_edits_belong_to_their_branch(tmp_path: Path) -> None:
    session, ids = _session(tmp_path)
    with session:
        hide(session, ids[4])
        assert texts(session)[-1] == "second file"
        session.navigate(ids[4])
        assert texts(session)[-1] == "done"


def test_readers_that_do_not_know_our_field_see_the_content_again(tmp_path: Path) -> None:
    session, _ids = _session(tmp_path)
    with session:
        picture = session.append_message(
            ToolResultMessage(
                tool_call_id="c9",
                tool_name="read",
                content=(Text("a picture"), Image("QUJD", "image/png")),
            )
        )
        drop(session, picture.id)
        restore(session, picture.id)
        assert session.path is not None
        edit = lines_of(session.path)[-1]
    assert edit["type"] == "context_edit"
    assert edit["replacement"]["content"] == [
        {"type": "text", "text": "a picture"},
        {"type": "image", "data": "QUJD", "mimeType": "image/png"},
    ]


def test_what_gives_no_message_cannot_be_dropped(tmp_path: Path) -> None:
    session, ids = _session(tmp_path)
    with session:
        label = session.set_label(ids[0], "x")
        with pytest.raises(SessionError, match="gives no message"):
            drop(session, label.id)
        with pytest.raises(SessionError, match="no entry nope"):
            drop(session, "nope")
