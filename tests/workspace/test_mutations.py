"""Turns to change a file: in the order of asking, one at a time for one file."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from sloyd.errors import WorkspaceError
from sloyd.workspace.base import Workspace
from sloyd.workspace.local import LocalWorkspace
from sloyd.workspace.memory import MemoryWorkspace
from sloyd.workspace.mutations import MutationQueue


class SlowLinks(MemoryWorkspace):
    """A workspace that takes longer to find out about some paths than about others."""

    async def realpath(self, path: str) -> str:
        await anyio.sleep(0.03 if "slow" in path else 0)
        return await super().realpath(path)


async def order_of(
    workspace: Workspace, paths: list[str], *, by_argument: bool = False
) -> list[str]:
    """The starts and ends of jobs that hold these paths, asked for in this order."""
    queue = MutationQueue()
    log: list[str] = []

    async def job(number: int, path: str) -> None:
        holding = queue.hold_argument if by_argument else queue.hold
        async with holding(workspace, path):
            log.append(f"{number}+")
            await anyio.sleep(0.02)
            log.append(f"{number}-")

    async with anyio.create_task_group() as tasks:
        for number, path in enumerate(paths):
            tasks.start_soon(job, number, path)
    return log


SERIAL = ["0+", "0-", "1+", "1-", "2+", "2-"]


async def test_one_file_is_changed_in_the_order_of_calls(tmp_path: Path) -> None:
    path = str(tmp_path / "f")
    (tmp_path / "f").write_bytes(b"x")
    assert await order_of(LocalWorkspace(), [path, path, path]) == SERIAL


async def test_spellings_of_one_file_share_a_turn(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to("real")
    (tmp_path / "real" / "f").write_bytes(b"x")
    (tmp_path / "link").symlink_to("alias/f")
    names = ["link", "real/../real/f", "alias/f"]
    paths = [f"{tmp_path}/{name}" for name in names]
    assert await order_of(LocalWorkspace(), paths) == SERIAL
    assert await order_of(LocalWorkspace(str(tmp_path)), names, by_argument=True) == SERIAL


async def test_a_new_file_below_a_symlinked_directory_has_one_turn(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to("real")
    paths = [f"{tmp_path}/{name}/new/file" for name in ("real", "alias", "real")]
    assert await order_of(LocalWorkspace(), paths) == SERIAL


async def test_different_files_are_changed_at_once() -> None:
    log = await order_of(MemoryWorkspace(), ["/code/a", "/code/b", "/code/c"])
    assert log[:3] == ["0+", "1+", "2+"]


async def test_a_path_that_takes_long_to_find_keeps_its_place() -> None:
    workspace = SlowLinks()
    workspace.add_file("/code/f")
    workspace.add_symlink("/code/slow", "f")
    assert await order_of(workspace, ["/code/slow", "/code/f", "/code/slow"]) == SERIAL
    assert await order_of(workspace, ["slow", "f", "slow"], by_argument=True) == SERIAL


async def test_a_failed_job_gives_its_turn_back() -> None:
    queue = MutationQueue()
    workspace = MemoryWorkspace()
    with pytest.raises(ZeroDivisionError):
        async with queue.hold(workspace, "/code/f"):
            raise ZeroDivisionError
    with anyio.fail_after(1):
        async with queue.hold(workspace, "/code/f") as real:
            assert real == "/code/f"


async def test_who_is_cancelled_while_waiting_holds_nobody_up() -> None:
    queue = MutationQueue()
    workspace = MemoryWorkspace()
    order: list[str] = []

    async def job(name: str, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            async with queue.hold(workspace, "/code/f"):
                order.append(name)
                await anyio.sleep(0.05)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(job, "first", 5)
        tasks.start_soon(job, "impatient", 0.01)
        tasks.start_soon(job, "last", 5)
    assert order == ["first", "last"]


async def test_a_turn_ends_only_when_the_body_has_settled(tmp_path: Path) -> None:
    queue = MutationQueue()
    workspace = LocalWorkspace()
    path = str(tmp_path / "f")
    (tmp_path / "f").write_bytes(b"")
    scope = anyio.CancelScope()

    async def aborted() -> None:
        with scope:
            async with queue.hold(workspace, path):
                await workspace.replace(path, [b"x" * 1_000_000] * 10)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(aborted)
        await anyio.sleep(0.001)
        scope.cancel()
        async with queue.hold(workspace, path):
            data, _ = await workspace.read_file(path)
            assert len(data) in (0, 10_000_000)
            version = (await workspace.stat(path)).version
            await anyio.sleep(0.02)
            assert (await workspace.stat(path)).version == version


async def test_a_cycle_is_no_file_to_wait_for() -> None:
    workspace = MemoryWorkspace()
    workspace.add_symlink("/code/a", "a")
    queue = MutationQueue()
    with pytest.raises(WorkspaceError) as caught:
        async with queue.hold(workspace, "/code/a"):
            raise AssertionError
    assert caught.value.reason == "link-cycle"
    async with queue.hold_argument(workspace, "b") as turn:
        assert (turn.real, turn.resolved.exists) == ("/code/b", False)
