"""This machine as a workspace: the contract, and what only real files have."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import anyio
import pytest

from sloyd.workspace.base import ABSENT, ProcessRequest, Workspace
from sloyd.workspace.guard import guarded
from sloyd.workspace.local import LocalWorkspace
from tests.workspace.conformance import Conformance, Rig, read_all, reason_of


class LocalRig:
    def __init__(self, root: Path, *, durable: bool) -> None:
        self._root = str(root)
        self._workspace = LocalWorkspace(self._root, durable=durable)

    @property
    def workspace(self) -> Workspace:
        return self._workspace

    @property
    def root(self) -> str:
        return self._root

    def write(self, path: str, data: bytes) -> None:
        Path(path).write_bytes(data)

    def symlink(self, path: str, target: str) -> None:
        Path(path).symlink_to(target)

    def hard_link(self, path: str, existing: str) -> None:
        Path(path).hardlink_to(existing)

    def fifo(self, path: str) -> None:
        os.mkfifo(path)

    def chmod(self, path: str, mode: int) -> None:
        Path(path).chmod(mode)


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return LocalRig(_fresh(tmp_path), durable=False)


def _fresh(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "root"
    root.mkdir()
    return root


class TestLocal(Conformance):
    """The contract without waiting for the disk."""


class TestDurable(Conformance):
    """The contract with waiting for the disk."""

    @pytest.fixture
    def rig(self, tmp_path: Path) -> Rig:
        return LocalRig(_fresh(tmp_path), durable=True)


async def test_files_of_proc_have_content_although_their_size_is_zero(rig: Rig) -> None:
    status, _ = await rig.workspace.read_file("/proc/self/status")
    assert status.startswith(b"Name:")
    assert b"\nThreads:" in status
    assert (await read_all(rig.workspace, "/proc/self/status")).startswith(b"Name:")


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/full", "/dev/tty"])
@pytest.mark.parametrize("call", ["read_file", "read", "replace"])
async def test_devices_are_refused(rig: Rig, call: str, path: str) -> None:
    assert await reason_of(rig, call, path) in ("not-regular", "permission")


async def test_sockets_are_refused(rig: Rig, tmp_path: Path) -> None:
    path = str(tmp_path / "sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        for call in ("read_file", "read", "replace"):
            assert await reason_of(rig, call, path) == "not-regular"


async def test_standard_input_is_not_eaten(rig: Rig) -> None:
    reader, writer = os.pipe()
    try:
        os.write(writer, b"protocol")
        assert await reason_of(rig, "read", f"/proc/self/fd/{reader}") == "not-regular"
        assert os.read(reader, 100) == b"protocol"
    finally:
        os.close(reader)
        os.close(writer)


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


async def test_a_file_that_grows_while_it_is_read(rig: Rig) -> None:
    path = f"{rig.root}/log"
    rig.write(path, b"1234")
    got = []
    async for chunk in rig.workspace.read(path, chunk_size=4):
        got.append(chunk)
        if len(got) < 4:
            append(Path(path), b"more")
    assert b"".join(got)[:4] == b"1234"
    assert b"".join(got) in (b"1234" + b"more" * count for count in range(4))


async def test_a_directory_that_cannot_be_made_leaves_none_of_its_parents(rig: Rig) -> None:
    deep = f"{rig.root}/a/b/{'n' * 300}"
    assert await reason_of(rig, "make_dirs", deep) == "name-too-long"
    assert os.listdir(rig.root) == []


async def test_no_descriptor_is_left_open(rig: Rig) -> None:
    path = f"{rig.root}/f"
    rig.write(path, b"x" * 5000)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        await rig.workspace.replace(path, b"y" * 5000)
        await rig.workspace.read_file(path)
        async for _chunk in rig.workspace.read(path, chunk_size=100):
            break
        await reason_of(rig, "read_file", rig.root)
    async for _chunk in rig.workspace.read(path):
        pass
    assert len(os.listdir("/proc/self/fd")) <= before + 1


async def test_run_and_which_reach_real_programs(rig: Rig) -> None:
    output: list[bytes] = []
    done = await rig.workspace.run(ProcessRequest(["echo", "hi"], rig.root), output.append)
    assert (done.code, b"".join(output)) == (0, b"hi\n")
    assert await rig.workspace.which("sh") is not None
    assert await rig.workspace.which("no-such-program-at-all") is None


async def test_a_lock_that_is_taken_never_stops_the_loop(tmp_path: Path) -> None:
    workspace = LocalWorkspace(str(tmp_path))
    path = str(tmp_path / "f")
    await workspace.replace(path, b"1", expect=ABSENT)
    _, version = await workspace.read_file(path)
    taken, free = threading.Event(), threading.Event()

    def hold() -> None:
        with guarded(str(tmp_path), lambda _: None):
            taken.set()
            free.wait(10)

    async def replace() -> None:
        await workspace.replace(path, b"2", expect=version)

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait(10)
    ticks = 0
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(replace)
        while ticks < 20:
            await anyio.sleep(0.005)
            ticks += 1
        assert (await workspace.read_file(path))[0] == b"1"
        free.set()
    holder.join()
    assert (await workspace.read_file(path))[0] == b"2"
