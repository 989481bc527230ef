"""The tree of a session: its rows, folding and filters, and what may be done with an entry."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sloyd.llm.messages import AssistantMessage, Text, ToolCall, ToolResultMessage, UserMessage
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.messages import TreeAction
from sloyd.modes.tui.tree_rows import FILTERS, entry_line, tree_rows
from sloyd.modes.tui.tree_screen import TreeScreen
from sloyd.sessions.session import Session
from tests.tui.composing import open_agent
from tests.tui.picking import labels, picking, press, type_text

KEYS = KeyMap()


def talk(session: Session) -> dict[str, str]:
    """A conversation with two branches; ids by what was said."""
    ids = {}

    def say(text: str) -> None:
        ids[text] = session.append_message(UserMessage(content=text)).id

    def answer(text: str) -> None:
        ids[text] = session.append_message(AssistantMessage(content=(Text(text),))).id

    say("first")
    answer("one")
    say("try a")
    call = ToolCall("1", "read", {"path": "a.py"})
    ids["call"] = session.append_message(AssistantMessage(content=(call,))).id
    result = ToolResultMessage(tool_call_id="1", tool_name="read", content=(Text("text of a"),))
    ids["result"] = session.append_message(result).id
    answer("did a")
    session.navigate(ids["one"])
    say("try b")
    answer("did b")
    return ids


def drawn(session: Session, chosen: str = "default", folded: set[str] | None = None) -> list[str]:
    found = tree_rows(session, chosen, folded or set())  # type: ignore[arg-type]
    return [f"{row.guides}{entry_line(session.entry(row.entry_id))[1]}" for row in found]


def test_the_active_branch_comes_first() -> None:
    session = Session.in_memory("/w")
    talk(session)
    assert drawn(session) == [
        "first",
        "one",
        "├─ try b",
        "│  did b",
        "└─ try a",
        '   read(path="a.py")',
        "   text of a",
        "   did a",
    ]
    rows = tree_rows(session, "default")
    assert [row.is_leaf for row in rows] == [False] * 3 + [True] + [False] * 4
    assert [row.is_active for row in rows] == [True] * 4 + [False] * 4


def test_filters() -> None:
    session = Session.in_memory("/w")
    ids = talk(session)
    assert drawn(session, "user") == ["first", "├─ try b", "└─ try a"]
    assert drawn(session, "no-tools")[-2:] == ["└─ try a", "   did a"]
    session.set_label(ids["did a"], "good")
    assert drawn(session, "labelled") == ["did a"]
    assert len(drawn(session, "all")) > 8


def test_folding_hides_what_follows() -> None:
    session = Session.in_memory("/w")
    ids = talk(session)
    assert drawn(session, folded={ids["try a"]})[-1] == "└─ try a"
    (row,) = tree_rows(session, "default", {ids["first"]})
    assert row.folds == 7


@given(st.lists(st.integers(0, 30), max_size=30), st.sampled_from(FILTERS))
def test_each_entry_has_one_row_and_parents_come_first(places: list[int], chosen: str) -> None:
    session = Session.in_memory("/w")
    ids: list[str] = []
    for number, place in enumerate(places):
        if ids:
            session.navigate(ids[place % len(ids)])
        message = UserMessage(content=str(number))
        ids.append(session.append_message(message).id)
    rows = tree_rows(session, chosen)  # type: ignore[arg-type]
    shown = [row.entry_id for row in rows]
    assert len(shown) == len(set(shown))
    if chosen in ("default", "user"):
        assert set(shown) == set(ids)
    for row in rows:
        above = [node.id for node in session.tree.path(row.entry_id)][:-1]
        assert all(shown.index(each) < shown.index(row.entry_id) for each in above if each in shown)


async def test_going_somewhere_else(home: Path) -> None:
    async with open_agent(home) as agent:
        ids = talk(agent.session)
        async with picking(lambda: TreeScreen(agent, KEYS)) as (app, pilot):
            assert "● │  assistant: did b" in labels(app)
            await type_text(app, pilot, "try a")
            await press(app, pilot, "enter")
            assert app.result == TreeAction("navigate", ids["try a"])
        async with picking(lambda: TreeScreen(agent, KEYS)) as (app, pilot):
            await press(app, pilot, "up", "ctrl+f")
            assert app.result == TreeAction("fork", ids["try b"])


async def test_filters_folds_and_labels_by_keys(home: Path) -> None:
    async with open_agent(home) as agent:
        ids = talk(agent.session)
        async with picking(lambda: TreeScreen(agent, KEYS)) as (app, pilot):
            await press(app, pilot, "ctrl+u")
            assert [label.lstrip("●• ") for label in labels(app)] == [
                "user: first", "├─ user: try b", "└─ user: try a"
            ]  # fmt: skip
            await press(app, pilot, "ctrl+d", "left")
            assert "• ├─ ▸ user: try b" in labels(app)
            await press(app, pilot, "right", "L")
            await type_text(app, pilot, "mark")
            await press(app, pilot, "enter")
            assert agent.session.labels == {ids["try b"]: "mark"}
            assert any("[mark] user: try b" in label for label in labels(app))
            await press(app, pilot, "ctrl+l")
            assert len(labels(app)) == 1
            await press(app, pilot, "ctrl+s")
            assert app.result == TreeAction("summarise", ids["try b"])
