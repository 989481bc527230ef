"""Branches: from a tree of entries to a context, and new sessions from old ones."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.errors import SessionError
from sloyd.llm.messages import AssistantMessage
from sloyd.sessions.entries import (
    BashExecution,
    BranchSummaryEntry,
    CompactionEntry,
    CustomMessageEntry,
    ModelChangeEntry,
    SystemMessage,
    ThinkingLevelChangeEntry,
)
from sloyd.sessions.forks import clone, fork
from sloyd.sessions.session import Session
from tests.sessions.builders import answer, lines_of, texts, user


def _talk(session: Session, *said: str) -> list[str]:
    ids = []
    for place, text in enumerate(said):
        message = answer(text) if place % 2 else user(text)
        ids.append(session.append_message(message).id)
    return ids


def test_navigation_makes_branches_and_survives_reopening(tmp_path: Path) -> None:
    with Session.create(tmp_path, "/w") as session:
        ids = _talk(session, "q1", "a1", "q2", "a2")
        session.navigate(ids[1])
        assert texts(session) == ["q1", "a1"]
        path = session.path
    assert path is not None
    with Session.open(path) as session:
        assert texts(session) == ["q1", "a1"]
        _talk(session, "other q2", "other a2")
        assert texts(session) == ["q1", "a1", "other q2", "other a2"]
        assert len(session.tree.children(ids[1])) == 2
        assert session.tree.common_ancestor(ids[3], session.leaf_id) == ids[1]
        assert set(session.tree.leaves()) == {ids[3], session.leaf_id}
        session.navigate(None)
        assert texts(session) == []
        _talk(session, "from the start")
        assert len(session.tree.children(None)) == 2
        with pytest.raises(SessionError, match="no entry nowhere"):
            session.navigate("nowhere")


def test_compaction_comes_first_then_what_was_kept_then_the_rest() -> None:
    session = Session.in_memory("/w")
    ids = _talk(session, "q1", "a1", "q2", "a2")
    session.append(CompactionEntry(summary="all so far", first_kept_entry_id=ids[2]))
    _talk(session, "q3")
    shown = texts(session)
    assert "all so far" in shown[0]
    assert shown[1:] == ["q2", "a2", "q3"]
    session.append(CompactionEntry(summary="newest", first_kept_entry_id="nothing"))
    shown = texts(session)
    assert "newest" in shown[0]
    assert len(shown) == 1


def test_usage_counts_only_for_the_context_that_it_measured() -> None:
    session = Session.in_memory("/w")
    ids = _talk(session, "q1", "a1", "q2", "a2")
    session.append(CompactionEntry(summary="s", first_kept_entry_id=ids[2]))
    _talk(session, "q3", "a3")
    assert [
        item.measured
        for item in session.context().items
        if isinstance(item.message, AssistantMessage)
    ] == [False, True]


def test_pi_s_roles_become_messages_for_the_model() -> None:
    session = Session.in_memory("/w")
    session.append_message(SystemMessage(content="prompt"))
    session.append_message(BashExecution(command="ls", output="a\nb", exit_code=2))
    session.append_message(BashExecution(command="secret", exclude_from_context=True))
    session.append(CustomMessageEntry(custom_type="note", content="remember"))
    session.append(BranchSummaryEntry(summary="tried x", from_id="gone"))
    shown = texts(session)
    assert len(shown) == 3
    assert "Ran `ls`" in shown[0]
    assert "Command exited with code 2" in shown[0]
    assert shown[1] == "remember"
    assert "<summary>\ntried x\n</summary>" in shown[2]


def test_model_and_thinking_level_are_those_of_the_branch() -> None:
    session = Session.in_memory("/w")
    session.append(ModelChangeEntry(provider="p", model_id="first"))
    session.append(ThinkingLevelChangeEntry(thinking_level="high"))
    (question,) = _talk(session, "q")
    session.append(ModelChangeEntry(provider="p", model_id="second"))
    session.append(ThinkingLevelChangeEntry(thinking_level="low"))
    context = session.context()
    assert (context.model_id, context.thinking_level) == ("second", "low")
    session.navigate(question)
    context = session.context()
    assert (context.model_id, context.thinking_level) == ("first", "high")


def test_labels_name_and_state(tmp_path: Path) -> None:
    with Session.create(tmp_path, "/w") as session:
        ids = _talk(session, "q1", "a1")
        session.set_label(ids[0], "here")
        session.set_label(ids[1], "gone")
        session.set_label(ids[1], None)
        session.set_name("  My\nsession ")
        session.set_state("ext.counter", {"n": 1})
        session.set_state("ext.counter", {"n": 2})
        path = session.path
    assert path is not None
    with Session.open(path) as session:
        assert session.labels == {ids[0]: "here"}
        assert session.name == "My session"
        assert session.state("ext.counter") == {"n": 2}
        assert session.state("ext.other") is None
        session.navigate(ids[1])
        assert session.state("ext.counter") is None


def test_fork_ends_before_the_user_message_and_gives_its_text(tmp_path: Path) -> None:
    with Session.create(tmp_path, "/w") as session:
        ids = _talk(session, "q1", "a1", "q2", "a2")
        session.set_label(ids[0], "kept")
        session.set_label(ids[3], "left")
        session.set_name("named")
        new, text = fork(session, ids[2], sessions=tmp_path)
        with new:
            assert text == "q2"
            assert texts(new) == ["q1", "a1"]
            assert new.labels == {ids[0]: "kept"}
            assert new.name == "named"
            assert new.path != session.path
            assert new.header.parent_session == str(session.path)
        first, text = fork(session, ids[0], sessions=tmp_path)
        with first:
            assert (text, texts(first)) == ("q1", [])


def test_fork_copies_bad_neighbours_nothing_and_relinks(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(
        '{"type":"session","version":3,"id":"s","timestamp":"","cwd":"/"}\n'
        '{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"1"}}\n'
        '{"broken\n'
        '{"type":"message","id":"c","parentId":"b","message":{"role":"user","content":"3"},"x":1}\n'
    )
    with Session.open(path) as session, clone(session) as copy:
        assert copy.problems == ()
        assert copy.path is not None
        lines = lines_of(copy.path)
        assert [line.get("parentId") for line in lines[1:]] == [None, "a"]
        assert lines[2]["x"] == 1
    with Session.open(copy.path) as copy:
        assert texts(copy) == ["1", "3"]


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=25))
def test_every_walk_through_a_tree_ends_at_its_root(moves: list[tuple[int, bool]]) -> None:
    session = Session.in_memory("/w")
    ids: list[str] = []
    parents: dict[str, str | None] = {}
    for place, jump in moves:
        if jump and ids:
            session.navigate(ids[place % len(ids)])
        entry = session.append_message(user(f"{len(ids)}"))
        parents[entry.id] = entry.parent_id
        ids.append(entry.id)
    for entry_id in ids:
        path = [node.id for node in session.tree.path(entry_id)]
        assert path[-1] == entry_id
        assert session.tree.node(path[0]).parent_id is None
        assert all(
            session.tree.node(after).parent_id == before
            for before, after in itertools.pairwise(path)
        )
    counted = sum(len(session.tree.children(node.id)) for node in session.tree.nodes())
    assert counted + len(session.tree.children(None)) == sum(1 for _ in session.tree.nodes())
    assert clone_texts(session) == texts(session)


def clone_texts(session: Session) -> list[str]:
    return texts(clone(session))


def test_copies_of_a_session_in_memory_stay_in_memory(tmp_path: Path) -> None:
    """Whoever says --no-session wants nothing on the disk, also after /clone and /fork."""
    session = Session.in_memory("/tmp")
    entry = session.append_message(user("secret"))
    with clone(session, sessions=tmp_path) as copy:
        copy.append_message(user("more"))
        assert copy.path is None
    fork(session, entry.id, sessions=tmp_path)[0].append_message(user("other"))
    assert list(tmp_path.iterdir()) == []
