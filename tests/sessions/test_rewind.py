"""Rewind: files and conversation go back together, after the person has seen the diff."""

from __future__ import annotations

from pathlib import Path

import pytest

from sloyd.errors import SessionError
from sloyd.sessions.forks import clone
from sloyd.sessions.journal import Journal
from sloyd.sessions.rewind import calls_after, plan_rewind, rewind
from sloyd.sessions.session import Session
from sloyd.tools.environment import PlannedChange
from sloyd.workspace.local import LocalWorkspace
from tests.sessions.builders import answer, call, result, texts, user


class _World:
    """A directory, a session and a journal, and changes that go through all three."""

    def __init__(self, root: Path) -> None:
        (root / "work").mkdir()
        self.root = root / "work"
        self.workspace = LocalWorkspace(str(self.root))
        self.session = Session.create(root / "sessions", str(self.root))
        self.journal = Journal(
            root / "journal", max_bytes=1 << 20, session_id=self.session.id, cwd=str(self.root)
        )
        self._calls = 0

    async def request(self, text: str) -> str:
        return self.session.append_message(user(text)).id

    async def change(self, name: str, content: str, call_id: str | None = None) -> None:
        self._calls += 1
        call_id = call_id or f"call{self._calls}"
        path = self.root / name
        self.session.append_message(answer("", call(call_id, "write", path=name)))
        before = path.read_bytes() if path.exists() else None
        planned = PlannedChange(str(path), "write", call_id, before, (content.encode(),))
        change_id = await self.journal.begin(planned)
        await self.workspace.replace(str(path), content.encode())
        await self.journal.commit(change_id)
        self.session.append_message(result(call_id, "written", name="write"))

    def files(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self.root.iterdir()}


async def test_files_and_conversation_go_back_together(tmp_path: Path) -> None:
    world = _World(tmp_path)
    await world.request("first")
    await world.change("a.txt", "one\n")
    second = await world.request("second")
    await world.change("a.txt", "one\ntwo\n")
    await world.change("b.txt", "new\n")
    await world.change("a.txt", "one\ntwo\nthree\n")
    world.session.append_message(answer("", call("x", "bash", command="make all")))

    plan = await plan_rewind(world.session, second, world.journal, world.workspace)
    assert plan.text == "second"
    assert plan.problems == ()
    assert plan.commands == ("make all",)
    assert world.files()["a.txt"] == "one\ntwo\nthree\n", "a plan changes nothing"
    by_name = {Path(file.path).name: file for file in plan.files}
    assert len(by_name["a.txt"].changes) == 2
    assert "two" in by_name["a.txt"].diff
    assert "three" in by_name["a.txt"].diff
    assert by_name["b.txt"].removed
    assert str(world.root / "b.txt") in plan.diff

    await rewind(plan, world.session, world.journal, world.workspace)
    assert world.files() == {"a.txt": "one\n"}
    assert texts(world.session) == ["first", "", "written"]
    again = await plan_rewind(world.session, calls_first(world), world.journal, world.workspace)
    assert [Path(file.path).name for file in again.files] == ["a.txt"]


def calls_first(world: _World) -> str:
    return next(world.session.branch()).id


async def test_a_file_that_changed_since_is_not_overwritten(tmp_path: Path) -> None:
    world = _World(tmp_path)
    first = await world.request("go")
    await world.change("a.txt", "made\n")
    await world.change("b.txt", "made\n")
    (world.root / "a.txt").write_text("by hand\n")
    plan = await plan_rewind(world.session, first, world.journal, world.workspace)
    assert len(plan.problems) == 1
    with pytest.raises(SessionError, match=r"a\.txt has changed since"):
        await rewind(plan, world.session, world.journal, world.workspace)
    assert world.files() == {"a.txt": "by hand\n", "b.txt": "made\n"}
    await rewind(plan, world.session, world.journal, world.workspace, force=True)
    assert world.files() == {}
    assert texts(world.session) == []


async def test_a_change_in_between_is_a_problem(tmp_path: Path) -> None:
    world = _World(tmp_path)
    first = await world.request("go")
    await world.change("a.txt", "1\n")
    (world.root / "a.txt").write_text("by hand\n")
    await world.change("a.txt", "2\n")
    plan = await plan_rewind(world.session, first, world.journal, world.workspace)
    assert "in between" in plan.problems[0]


async def test_a_session_that_went_on_needs_a_new_plan(tmp_path: Path) -> None:
    world = _World(tmp_path)
    first = await world.request("go")
    await world.change("a.txt", "1\n")
    plan = await plan_rewind(world.session, first, world.journal, world.workspace)
    await world.request("more")
    with pytest.raises(SessionError, match="gone on"):
        await rewind(plan, world.session, world.journal, world.workspace)
    assert world.files() == {"a.txt": "1\n"}


async def test_the_same_call_id_of_another_session_is_not_ours(tmp_path: Path) -> None:
    world = _World(tmp_path)
    first = await world.request("go")
    await world.change("ours.txt", "1\n", call_id="call_0")
    other = Journal(tmp_path / "journal", max_bytes=1 << 20, session_id="another")
    path = world.root / "theirs.txt"
    change = await other.begin(PlannedChange(str(path), "write", "call_0", None, (b"2\n",)))
    path.write_text("2\n")
    await other.commit(change)
    plan = await plan_rewind(world.session, first, world.journal, world.workspace)
    assert [Path(file.path).name for file in plan.files] == ["ours.txt"]


async def test_a_copy_can_go_back_to_before_it_was_copied(tmp_path: Path) -> None:
    world = _World(tmp_path)
    first = await world.request("go")
    await world.change("a.txt", "1\n")
    with clone(world.session) as copy:
        plan = await plan_rewind(copy, first, world.journal, world.workspace)
        await rewind(plan, copy, world.journal, world.workspace)
        assert world.files() == {}
        assert texts(copy) == []


async def test_calls_after_an_entry(tmp_path: Path) -> None:
    world = _World(tmp_path)
    await world.request("go")
    await world.change("a.txt", "1\n")
    second = await world.request("again")
    await world.change("a.txt", "2\n")
    assert [c.id for c in calls_after(world.session, second)] == ["call2"]
    assert [c.id for c in calls_after(world.session, None)] == ["call1", "call2"]
    world.session.navigate(second)
    assert calls_after(world.session, second) == ()
    with pytest.raises(SessionError, match="no entry nope"):
        calls_after(world.session, "nope")
