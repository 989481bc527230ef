"""The workspace in memory: the contract, and what only it has."""

from __future__ import annotations

import anyio
import pytest

from sloyd.errors import WorkspaceError
from sloyd.workspace.base import OnOutput, ProcessRequest, Workspace
from sloyd.workspace.memory import MemoryWorkspace
from tests.workspace.conformance import Conformance, Rig, reason_of


class MemoryRig:
    def __init__(self) -> None:
        self.memory = MemoryWorkspace()

    @property
    def workspace(self) -> Workspace:
        return self.memory

    @property
    def root(self) -> str:
        return "/code"

    def write(self, path: str, data: bytes) -> None:
        self.memory.add_file(path, data)

    def symlink(self, path: str, target: str) -> None:
        self.memory.add_symlink(path, target)

    def hard_link(self, path: str, existing: str) -> None:
        self.memory.add_hard_link(path, existing)

    def fifo(self, path: str) -> None:
        self.memory.add_special(path, "fifo")

    def chmod(self, path: str, mode: int) -> None:
        self.memory.set_mode(path, mode)


@pytest.fixture
def rig() -> Rig:
    return MemoryRig()


class TestMemory(Conformance):
    async def test_a_write_protected_file_is_refused(self, rig: Rig) -> None:
        rig.write("/code/f", b"old")
        rig.chmod("/code/f", 0o444)
        assert not (await rig.workspace.stat("/code/f")).writable
        assert await reason_of(rig, "replace", "/code/f") == "read-only"
        rig.chmod("/code/f", 0)
        assert await reason_of(rig, "read_file", "/code/f") == "permission"


async def test_its_directories_exist() -> None:
    workspace = MemoryWorkspace("/project", "/home/me")
    assert (workspace.cwd, workspace.home) == ("/project", "/home/me")
    for directory in ("/project", "/home/me", "/"):
        assert (await workspace.stat(directory)).kind == "directory"
    assert workspace.environment["HOME"] == "/home/me"


async def test_programs_are_callables() -> None:
    workspace = MemoryWorkspace()

    def greet(request: ProcessRequest, write: OnOutput) -> int:
        write(b"hello " + request.argv[1].encode())
        return 3

    async def sleep(request: ProcessRequest, write: OnOutput) -> int:
        await anyio.sleep(10)
        return 0

    workspace.commands.update(greet=greet, sleep=sleep)
    output: list[bytes] = []
    done = await workspace.run(ProcessRequest(["greet", "you"], "/code"), output.append)
    assert (done.code, b"".join(output)) == (3, b"hello you")
    stopped = await workspace.run(ProcessRequest(["sleep"], "/code", timeout=0.01))
    assert (stopped.code, stopped.timed_out) == (None, True)
    assert await workspace.which("greet") == "/bin/greet"
    assert await workspace.which("nothing") is None


async def test_an_unknown_program_and_a_missing_directory() -> None:
    workspace = MemoryWorkspace()
    workspace.commands["true"] = lambda request, write: 0
    for request in (ProcessRequest(["nope"], "/code"), ProcessRequest(["true"], "/nowhere")):
        with pytest.raises(WorkspaceError) as caught:
            await workspace.run(request)
        assert caught.value.reason == "missing"
