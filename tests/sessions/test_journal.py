"""The journal of changed files: undo, redo, what is refused, what a kill leaves, its bound."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.errors import FileChanged, SessionError, UsageError
from sloyd.sessions.journal import Journal, JournalEntry
from sloyd.tools.environment import ChangeRecorder, PlannedChange
from sloyd.workspace.base import ABSENT, Absent, FileVersion
from sloyd.workspace.local import LocalWorkspace
from sloyd.workspace.memory import MemoryWorkspace

ROOT = Path(__file__).parents[2]
KILLS = 300 if os.environ.get("SLOYD_TEST_PROFILE") == "fuzz" else 25


class Desk:
    """A workspace with a journal, and changes made in the way tools make them."""

    def __init__(self, directory: Path, max_bytes: int = 1 << 20) -> None:
        self.directory = directory
        self.workspace = MemoryWorkspace("/code")
        self.journal = Journal(directory, max_bytes=max_bytes, session_id="s1", cwd="/code")

    async def change(self, path: str, *pieces: bytes, commit: bool = True) -> str:
        """Replace a file; without ``commit`` the process ends before it can say so."""
        path = f"/code/{path}"
        before: bytes | None = None
        version: FileVersion | Absent = ABSENT
        if path in {f"/code/{entry.name}" for entry in await self.workspace.list("/code")}:
            before, version = await self.workspace.read_file(path)
        change = PlannedChange(path, "write", "call_1", before, pieces)
        change_id = await self.journal.begin(change)
        await self.workspace.replace(path, pieces, expect=version)
        if commit:
            await self.journal.commit(change_id)
        return change_id

    async def content(self, path: str) -> bytes:
        return (await self.workspace.read_file(f"/code/{path}"))[0]

    async def undo(self, change_id: str | None = None, *, force: bool = False) -> JournalEntry:
        return await self.journal.undo(self.workspace, change_id, force=force)

    async def names(self) -> list[str]:
        return sorted(entry.name for entry in await self.workspace.list("/code"))

    def size(self) -> int:
        return sum(path.stat().st_size for path in self.directory.rglob("*") if path.is_file())


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "journal")


async def test_an_entry_says_what_happened(desk: Desk) -> None:
    recorder: ChangeRecorder = desk.journal
    assert recorder is desk.journal
    created = await desk.change("f", b"one\n", b"two\n")
    changed = await desk.change("f", b"three\n")
    first, second = desk.journal.entries()
    assert (first.id, second.id) == (created, changed)
    assert first.before is None
    assert first.after is not None
    assert first.after.size == 8
    assert second.before is not None
    assert second.before.sha256 == first.after.sha256
    assert (second.tool, second.call_id, second.path) == ("write", "call_1", "/code/f")
    assert (second.made, second.undone, second.undoes) == (True, False, None)
    assert (second.session_id, second.cwd) == ("s1", "/code")


async def test_undo_walks_back_to_before_the_file_existed(desk: Desk) -> None:
    for content in (b"one", b"two", b"three"):
        await desk.change("f", content)
    for content in (b"two", b"one"):
        await desk.undo()
        assert await desk.content("f") == content
    await desk.undo()
    assert await desk.names() == []
    with pytest.raises(UsageError, match="no change to undo"):
        await desk.undo()


async def test_undo_of_an_undo_is_a_redo(desk: Desk) -> None:
    await desk.change("f", b"one")
    changed = await desk.change("f", b"two")
    await desk.undo()
    undo = next(entry for entry in desk.journal.entries() if entry.undoes == changed)
    await desk.undo(undo.id)
    assert await desk.content("f") == b"two"
    assert not next(entry for entry in desk.journal.entries() if entry.id == changed).undone
    await desk.undo()
    assert await desk.content("f") == b"one"


async def test_redo_of_a_removed_file(desk: Desk) -> None:
    created = await desk.change("deep", b"content")
    await desk.undo()
    assert await desk.names() == []
    undo = next(entry for entry in desk.journal.entries() if entry.undoes == created)
    await desk.undo(undo.id)
    assert await desk.content("deep") == b"content"


async def test_a_chosen_change_is_undone_and_others_stay(desk: Desk) -> None:
    await desk.change("a", b"a1")
    changed = await desk.change("a", b"a2")
    await desk.change("b", b"b1")
    entry = await desk.undo(changed[:6])
    assert entry.id == changed
    assert (await desk.content("a"), await desk.content("b")) == (b"a1", b"b1")


async def test_an_earlier_change_waits_for_the_later_ones(desk: Desk) -> None:
    await desk.change("f", b"one")
    second = await desk.change("f", b"two")
    third = await desk.change("f", b"three")
    with pytest.raises(FileChanged, match=third):
        await desk.undo(second)
    assert await desk.content("f") == b"three"


async def test_a_file_that_others_changed_is_left_alone_unless_forced(desk: Desk) -> None:
    await desk.change("f", b"one")
    changed = await desk.change("f", b"two")
    desk.workspace.add_file("/code/f", b"theirs")
    with pytest.raises(FileChanged, match="force"):
        await desk.undo(changed)
    assert await desk.content("f") == b"theirs"
    await desk.undo(changed, force=True)
    assert await desk.content("f") == b"one"
    # Their content went into the journal too.
    undo = desk.journal.entries()[-1]
    await desk.undo(undo.id)
    assert await desk.content("f") == b"theirs"


async def test_a_file_that_others_removed_comes_back_when_forced(desk: Desk) -> None:
    desk.workspace.add_file("/code/f", b"one")
    changed = await desk.change("f", b"two")
    await desk.workspace.remove("/code/f")
    with pytest.raises(FileChanged):
        await desk.undo(changed)
    await desk.undo(changed, force=True)
    assert await desk.content("f") == b"one"


async def test_what_cannot_be_undone_says_why(desk: Desk) -> None:
    changed = await desk.change("f", b"one")
    given_up = await desk.journal.begin(PlannedChange("/code/f", "edit", "c", b"one", [b"x"]))
    await desk.journal.discard(given_up)
    for change_id, words in ((given_up, "given up"), ("zzz", "no change"), ("", "no change")):
        with pytest.raises(UsageError, match=words):
            await desk.undo(change_id)
    await desk.undo(changed)
    with pytest.raises(UsageError, match="already"):
        await desk.undo(changed)


async def test_a_change_that_a_kill_left_open(desk: Desk) -> None:
    await desk.change("f", b"one")
    made = await desk.change("f", b"two", commit=False)
    never_made = await desk.journal.begin(PlannedChange("/code/f", "edit", "c", b"two", [b"x"]))
    assert [entry.made for entry in desk.journal.entries()] == [True, None, None]
    assert (await desk.undo()).id == made
    assert await desk.content("f") == b"one"
    with pytest.raises(FileChanged):
        await desk.undo(never_made)


async def test_diff_shows_what_a_change_did(desk: Desk) -> None:
    first = await desk.change("f", b"a\nb\nc\n")
    second = await desk.change("f", b"a\nB\nc\n")
    third = await desk.change("f", b"a\nB\nc\nd\n")
    assert await desk.journal.diff(desk.workspace, second) == " 1 a\n-2 b\n+2 B\n 3 c"
    assert "+4 d" in await desk.journal.diff(desk.workspace, third)
    assert "+1 a" in await desk.journal.diff(desk.workspace, first)
    desk.workspace.add_file("/code/f", b"other")
    assert "has changed since" in await desk.journal.diff(desk.workspace, third)


@pytest.mark.parametrize("size", [0, 1, 16_384, 16_385, 200_000])
async def test_contents_of_every_size_come_back(desk: Desk, size: int) -> None:
    content = bytes(range(256)) * (size // 256 + 1)
    desk.workspace.add_file("/code/f", content[:size])
    await desk.change("f", b"new")
    await desk.undo()
    assert await desk.content("f") == content[:size]


async def test_everything_is_private(desk: Desk) -> None:
    desk.workspace.add_file("/code/f", b"secret" * 10_000)
    await desk.change("f", b"new")
    for path in [desk.directory, *desk.directory.rglob("*")]:
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path


async def test_names_that_are_not_utf8(desk: Desk) -> None:
    await desk.change("caf\udce9", b"one")
    await desk.change("caf\udce9", b"two")
    assert desk.journal.entries()[0].path == "/code/caf\udce9"
    await desk.undo()
    assert await desk.content("caf\udce9") == b"one"


async def test_its_size_is_bounded_and_the_newest_are_kept(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "journal", max_bytes=300_000)
    contents = [bytes([65 + number % 26]) * (30_000 + number) for number in range(40)]
    for content in contents:
        await desk.change("big", content)
        await desk.change("small", content[:100])
        assert desk.size() <= 300_000
    entries = desk.journal.entries()
    assert 8 <= len(entries) < 80
    for content in reversed(contents[-4:-1]):
        await desk.undo()
        await desk.undo()
        assert await desk.content("big") == content


async def test_many_small_changes_are_bounded_too(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "journal", max_bytes=50_000)
    for number in range(300):
        await desk.change("f", b"%d" % number)
    assert desk.size() <= 55_000
    await desk.undo()
    assert await desk.content("f") == b"298"


async def test_a_content_beyond_the_bound_is_noted(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "journal", max_bytes=10_000)
    desk.workspace.add_file("/code/f", b"x" * 9_000)
    changed = await desk.change("f", b"new")
    entry = desk.journal.entries()[-1]
    assert not entry.can_be_undone
    assert entry.before is not None
    assert entry.before.size == 9_000
    with pytest.raises(SessionError, match="too large"):
        await desk.undo(changed)
    assert await desk.content("f") == b"new"


async def test_a_torn_line_costs_nothing_but_itself(desk: Desk) -> None:
    await desk.change("f", b"one")
    log = desk.directory / "journal.jsonl"
    log.write_bytes(log.read_bytes() + b'{"type":"begun","id":"dead')
    await desk.change("f", b"two")
    assert len(desk.journal.entries()) == 2
    await desk.undo()
    assert await desk.content("f") == b"one"


@given(cut=st.floats(0, 1), noise=st.binary(max_size=30))
async def test_a_damaged_log_never_breaks_the_journal(
    cut: float, noise: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    desk = Desk(tmp_path_factory.mktemp("journal") / "j")
    for content in (b"one", b"two", b"three"):
        await desk.change("f", content)
    log = desk.directory / "journal.jsonl"
    data = log.read_bytes()
    at = int(len(data) * cut)
    log.write_bytes(data[:at] + noise + data[at + len(noise) :])
    for entry in desk.journal.entries():
        assert entry.path == "/code/f"
    await desk.change("f", b"four")
    assert (await desk.undo()).tool == "write"
    assert await desk.content("f") == b"three"


async def test_a_damaged_content_is_not_put_back(desk: Desk) -> None:
    desk.workspace.add_file("/code/f", b"old" * 20_000)
    await desk.change("f", b"new")
    (kept,) = (desk.directory / "contents").iterdir()
    kept.write_bytes(b"bad" * 20_000)
    with pytest.raises(SessionError, match="damaged"):
        await desk.undo()
    kept.unlink()
    with pytest.raises(SessionError, match="no longer"):
        await desk.undo()
    assert await desk.content("f") == b"new"


async def test_a_journal_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("a file is in the way")
    desk = Desk(tmp_path / "journal")
    with pytest.raises(SessionError, match="cannot write the journal"):
        await desk.change("f", b"x")
    assert await desk.names() == []


async def test_reading_makes_nothing(desk: Desk) -> None:
    assert desk.journal.entries() == []
    with pytest.raises(UsageError):
        await desk.undo()
    assert not desk.directory.exists()


async def test_a_journal_may_be_tidied_away_and_goes_on(desk: Desk) -> None:
    await desk.change("f", b"one")
    (desk.directory / "journal.jsonl").unlink()
    await desk.change("f", b"two")
    assert len(desk.journal.entries()) == 1
    desk.journal.close()
    await desk.undo()
    assert await desk.content("f") == b"one"


async def test_changes_at_once_are_all_recorded(desk: Desk) -> None:
    async with anyio.create_task_group() as tasks:
        for number in range(30):
            tasks.start_soon(desk.change, f"f{number}", b"x" * number * 1000)
    assert {entry.path for entry in desk.journal.entries()} == {f"/code/f{n}" for n in range(30)}


def run(arguments: Sequence[object]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tests.sessions.journal_killing", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_several_processes_share_a_journal(tmp_path: Path) -> None:
    assert run(["share", tmp_path, 6, 20]) == ""


@pytest.mark.kills
def test_a_kill_at_any_instant_leaves_a_journal_that_tells_the_truth(tmp_path: Path) -> None:
    assert run(["kill", tmp_path, KILLS, 1]) == ""


async def test_it_works_on_this_machine(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_bytes(b"#!/bin/sh\necho old\n")
    path.chmod(0o755)
    workspace = LocalWorkspace(str(tmp_path))
    journal = Journal(tmp_path / "journal", max_bytes=1 << 20)
    new = [b"#!/bin/sh\n", b"echo new\n"]
    before, version = await workspace.read_file(str(path))
    change_id = await journal.begin(PlannedChange(str(path), "edit", "c", before, new))
    await workspace.replace(str(path), new, expect=version)
    await journal.commit(change_id)
    await journal.undo(workspace)
    assert path.read_bytes() == b"#!/bin/sh\necho old\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
