"""Files that `edit` and `write` change: links, modes, other writers, cancellation, the journal."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from sloyd.agent.tool import ToolCallContext
from sloyd.errors import ToolError
from sloyd.sessions.journal import Journal
from sloyd.tools.edit import EditParameters, OneEdit, edit_tool
from sloyd.tools.environment import PlannedChange, ToolEnvironment
from sloyd.tools.write import WriteParameters, write_tool
from sloyd.workspace.memory import MemoryWorkspace
from tests.tools.file_calls import FileTools


@dataclass
class Recorder:
    """A recorder that keeps what it is told, and does something before each change."""

    before: list[object] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    planned: list[PlannedChange] = field(default_factory=list)

    async def begin(self, change: PlannedChange) -> str:
        self.planned.append(change)
        self.log.append("begin")
        if self.before:
            action = self.before.pop(0)
            assert callable(action)
            action()
            await anyio.lowlevel.checkpoint()
        return str(len(self.planned))

    async def commit(self, change_id: str) -> None:
        self.log.append(f"commit {change_id}")

    async def discard(self, change_id: str) -> None:
        self.log.append(f"discard {change_id}")


async def test_a_link_stays_a_link(tmp_path: Path) -> None:
    tools = FileTools.at(tmp_path)
    real = tools.put(b"sky is red\n", "real.md")
    (tmp_path / "link.md").symlink_to("real.md")
    assert (await tools.edit("link.md", ("red", "blue"))).ok
    assert (tmp_path / "link.md").is_symlink()
    assert real.read_bytes() == b"sky is blue\n"


async def test_mode_and_hard_links_stay(tmp_path: Path) -> None:
    """Case E36."""
    tools = FileTools.at(tmp_path)
    script = tools.put(b"echo a\n", "run.sh")
    script.chmod(0o755)
    (tmp_path / "twin").hardlink_to(script)
    assert (await tools.edit("run.sh", ("a", "b"))).ok
    assert script.stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "twin").read_bytes() == b"echo b\n"


@pytest.mark.parametrize(
    "name", ["nope/x.txt", "", "dir", "dir/", "f/x", "a\0b", "n" * 300, "loop"]
)
async def test_places_that_cannot_be_edited(tmp_path: Path, name: str) -> None:
    tools = FileTools.at(tmp_path)
    tools.put(b"a\n")
    (tmp_path / "dir").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    outcome = await tools.edit(name, ("a", "b"))
    assert not outcome.ok
    assert outcome.text.startswith("Could not edit file: ")
    assert "Error code: E" in outcome.text


async def test_a_missing_file_is_named_as_pi_names_it(tmp_path: Path) -> None:
    """Case E34."""
    outcome = await FileTools.at(tmp_path).edit("nope/x.txt", ("a", "b"))
    assert outcome.text.startswith("Could not edit file: nope/x.txt. Error code: ENOENT.")


@pytest.mark.parametrize("tool", ["edit", "write"])
async def test_special_files_are_refused_at_once(tmp_path: Path, tool: str) -> None:
    tools = FileTools.at(tmp_path)
    os.mkfifo(tmp_path / "fifo")
    with anyio.fail_after(1):
        for path in ("fifo", "/dev/zero", "/dev/full"):
            call = {"path": path, "content": "x", "edits": [{"oldText": "a", "newText": "b"}]}
            outcome = await tools.call(tool, call)
            assert "not a regular file" in outcome.text


async def test_a_write_protected_file_is_refused() -> None:
    workspace = MemoryWorkspace()
    await workspace.replace("/code/f", b"old\n")
    workspace.set_mode("/code/f", 0o444)
    environment = ToolEnvironment(workspace)
    call = ToolCallContext("call")
    with pytest.raises(ToolError, match="write-protected"):
        await edit_tool(environment).execute(call, EditParameters("f", (OneEdit("old", "new"),)))
    with pytest.raises(ToolError, match="write-protected"):
        await write_tool(environment).execute(call, WriteParameters("f", "new"))
    assert (await workspace.read_file("/code/f"))[0] == b"old\n"


async def test_names_are_found_in_every_spelling(tmp_path: Path) -> None:
    """Cases E45 and W18."""
    tools = FileTools.at(tmp_path)
    path = tools.put(b"a\n", "Shot 1.00\u202fPM.txt")
    assert (await tools.edit("Shot 1.00 PM.txt", ("a", "b"))).ok
    assert (await tools.write("Shot 1.00 PM.txt", "c\n")).ok
    assert path.read_bytes() == b"c\n"
    assert os.listdir(tmp_path) == [path.name]


async def test_parallel_edits_of_one_file_all_count(tmp_path: Path) -> None:
    tools = FileTools.at(tmp_path)
    path = tools.put("".join(f"line {number};\n" for number in range(20)).encode())
    (tmp_path / "d").symlink_to(".")
    names = ["f", "d/f", "./d/d/f", str(path)]
    async with anyio.create_task_group() as group:
        for number in range(20):
            name = names[number % len(names)]
            group.start_soon(tools.edit, name, (f"line {number};", f"LINE {number};"))
    assert path.read_text() == "".join(f"LINE {number};\n" for number in range(20))


async def test_a_change_of_somebody_else_is_kept(tmp_path: Path) -> None:
    """Case E42: the file changes between the read and the commit."""
    path = tmp_path / "f"
    path.write_bytes(b"one\ntwo\n")
    recorder = Recorder([lambda: path.write_bytes(b"zero\none\ntwo\n")])
    outcome = await FileTools.at(tmp_path, recorder).edit("f", ("two", "2"))
    assert path.read_bytes() == b"zero\none\n2\n"
    assert "had changed meanwhile" in outcome.text
    assert recorder.log == ["begin", "discard 1", "begin", "commit 2"]


async def test_a_change_that_takes_the_place_away_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"one\ntwo\n")
    recorder = Recorder([lambda: path.write_bytes(b"three\n")])
    outcome = await FileTools.at(tmp_path, recorder).edit("f", ("two", "2"))
    assert outcome.text.startswith("Could not find the exact text in f.")
    assert path.read_bytes() == b"three\n"


async def test_a_file_that_appears_meanwhile_is_replaced_knowingly(tmp_path: Path) -> None:
    path = tmp_path / "f"
    recorder = Recorder([lambda: path.write_bytes(b"theirs\n")])
    outcome = await FileTools.at(tmp_path, recorder).write("f", "ours\n")
    assert "replaced, 5 bytes, 7 before" in outcome.text
    assert recorder.planned[-1].before == b"theirs\n"


async def test_a_commit_that_has_begun_is_completed_and_reported(tmp_path: Path) -> None:
    """Cases E44 and W16: a cancellation between the record and the commit."""
    path = tmp_path / "f"
    path.write_bytes(b"a\n")
    with anyio.CancelScope() as scope:
        recorder = Recorder([scope.cancel])
        outcome = await FileTools.at(tmp_path, recorder).edit("f", ("a", "b"))
    assert outcome.text.startswith("Successfully replaced")
    assert path.read_bytes() == b"b\n"
    assert recorder.log == ["begin", "commit 1"]


async def hold_for(tools: FileTools, path: Path, seconds: float) -> None:
    async with tools.environment.mutations.hold(tools.environment.workspace, str(path)):
        await anyio.sleep(seconds)


async def test_a_call_cancelled_while_it_waits_changes_nothing(tmp_path: Path) -> None:
    tools = FileTools.at(tmp_path)
    path = tools.put(b"a\n")
    async with anyio.create_task_group() as group:
        group.start_soon(hold_for, tools, path, 0.2)
        await anyio.sleep(0.05)
        with anyio.move_on_after(0.05) as scope:
            await tools.edit("f", ("a", "b"))
    assert scope.cancelled_caught
    assert path.read_bytes() == b"a\n"
    assert (await tools.edit("f", ("a", "c"))).ok


async def test_changes_can_be_undone(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal", max_bytes=1 << 20)
    tools = FileTools.at(tmp_path / "work", journal)
    path = tools.put(b"caf\xe9\r\nb\r\n")
    await tools.edit("f", ("b", "c"))
    await tools.write("f", "whole\n")
    await tools.write("new/g", "new\n")
    workspace = tools.environment.workspace
    for expected in (b"whole\n", b"caf\xe9\r\nc\r\n", b"caf\xe9\r\nb\r\n"):
        await journal.undo(workspace, None)
        assert path.read_bytes() == expected
    assert not (tmp_path / "work/new/g").exists()


async def test_a_refused_edit_leaves_no_entry(tmp_path: Path) -> None:
    recorder = Recorder()
    tools = FileTools.at(tmp_path, recorder)
    tools.put(b"a\n")
    assert not (await tools.edit("f", ("zz", "b"))).ok
    assert (await tools.write("f", "a\n")).ok
    assert recorder.log == []


WORKER = """
import asyncio, sys
from pathlib import Path
from tests.tools.file_calls import FileTools

async def main():
    tools = FileTools.at(Path(sys.argv[1]))
    for number in range(12):
        name = f"{sys.argv[2]}-{number};"
        outcome = await tools.edit("f", (f"todo {name}", f"done {name}"))
        assert outcome.ok, outcome.text

asyncio.run(main())
"""


async def test_processes_that_edit_one_file_lose_nothing(tmp_path: Path) -> None:
    names = [f"{worker}-{number};" for worker in "abcd" for number in range(12)]
    (tmp_path / "f").write_text("".join(f"todo {name}\n" for name in names))
    running = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", WORKER, str(tmp_path), worker, cwd=Path(__file__).parents[2]
        )
        for worker in "abcd"
    ]
    assert [await process.wait() for process in running] == [0, 0, 0, 0]
    assert (tmp_path / "f").read_text() == "".join(f"done {name}\n" for name in names)
    assert os.listdir(tmp_path) == ["f"]
