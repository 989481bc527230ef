"""What every workspace must do. A back end's test module subclasses `Conformance` and gets it all.

The subclass provides the fixture ``rig``: a workspace, a root directory of its own in it, and the
few things that the contract has no method for (links, modes, special files).
"""

from __future__ import annotations

from contextlib import aclosing
from typing import Protocol

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.errors import FileChanged, FileProblem, WorkspaceError
from sloyd.workspace.base import ABSENT, DirEntry, Workspace

__all__ = ["Conformance", "Rig", "reason_of"]


class Rig(Protocol):
    """A workspace, and how to prepare it."""

    @property
    def workspace(self) -> Workspace: ...

    @property
    def root(self) -> str:
        """An empty directory, absolute and real."""

    def write(self, path: str, data: bytes) -> None:
        """Write a file in place, as another program would."""

    def symlink(self, path: str, target: str) -> None: ...

    def hard_link(self, path: str, existing: str) -> None: ...

    def fifo(self, path: str) -> None: ...

    def chmod(self, path: str, mode: int) -> None: ...


async def reason_of(rig: Rig, call: str, path: str) -> FileProblem:
    """Why a call on a path fails."""
    with pytest.raises(WorkspaceError) as caught:
        await _call(rig.workspace, call, path)
    assert caught.value.path == path
    return caught.value.reason


async def _call(workspace: Workspace, call: str, path: str) -> None:
    with anyio.fail_after(5):
        if call == "read":
            await read_all(workspace, path)
        elif call == "replace":
            await workspace.replace(path, b"x")
        else:
            await getattr(workspace, call)(path)


async def read_all(workspace: Workspace, path: str, start: int = 0, size: int = 1 << 20) -> bytes:
    return b"".join([chunk async for chunk in workspace.read(path, start=start, chunk_size=size)])


class Conformance:
    """The contract of `sloyd.workspace.base.Workspace`, as far as files go."""

    async def names(self, rig: Rig, directory: str = "") -> list[str]:
        entries = await rig.workspace.list(f"{rig.root}/{directory}".rstrip("/"))
        return sorted(entry.name for entry in entries)

    async def test_replace_creates_a_file(self, rig: Rig) -> None:
        path = f"{rig.root}/new.txt"
        result = await rig.workspace.replace(path, b"one\n")
        assert result.created
        assert await rig.workspace.read_file(path) == (b"one\n", result.version)
        facts = await rig.workspace.stat(path)
        assert (facts.kind, facts.size, facts.mode) == ("file", 4, 0o644)
        assert facts.version == result.version
        assert await self.names(rig) == ["new.txt"]

    async def test_replace_writes_pieces_one_after_the_other(self, rig: Rig) -> None:
        path = f"{rig.root}/f"
        await rig.workspace.replace(path, [b"one", b"", b"two", b"x" * 3_000_000])
        assert await read_all(rig.workspace, path) == b"onetwo" + b"x" * 3_000_000
        await rig.workspace.replace(path, ())
        assert (await rig.workspace.read_file(path))[0] == b""

    async def test_replace_keeps_the_mode(self, rig: Rig) -> None:
        for mode in (0o755, 0o640, 0o600):
            path = f"{rig.root}/f{mode:o}"
            rig.write(path, b"old")
            rig.chmod(path, mode)
            result = await rig.workspace.replace(path, b"new")
            assert not result.created
            assert (await rig.workspace.stat(path)).mode == mode

    async def test_expect_refuses_a_file_that_is_not_what_was_read(self, rig: Rig) -> None:
        path = f"{rig.root}/f"
        rig.write(path, b"one")
        _, version = await rig.workspace.read_file(path)
        rig.write(path, b"two")
        with pytest.raises(FileChanged) as caught:
            await rig.workspace.replace(path, b"mine", expect=version)
        assert caught.value.reason == "changed"
        with pytest.raises(FileChanged):
            await rig.workspace.remove(path, expect=version)
        assert (await rig.workspace.read_file(path))[0] == b"two"
        assert await self.names(rig) == ["f"]

    async def test_expect_accepts_the_version_of_each_read_and_replace(self, rig: Rig) -> None:
        path = f"{rig.root}/f"
        result = await rig.workspace.replace(path, b"0", expect=ABSENT)
        for number in range(5):
            result = await rig.workspace.replace(path, str(number).encode(), expect=result.version)
        version = (await rig.workspace.stat(path)).version
        await rig.workspace.remove(path, expect=version)
        assert await self.names(rig) == []

    async def test_expect_absent_never_touches_an_existing_file(self, rig: Rig) -> None:
        path = f"{rig.root}/f"
        rig.write(path, b"theirs")
        with pytest.raises(FileChanged):
            await rig.workspace.replace(path, b"mine", expect=ABSENT)
        assert (await rig.workspace.read_file(path))[0] == b"theirs"

    async def test_expect_a_version_does_not_create(self, rig: Rig) -> None:
        path = f"{rig.root}/f"
        rig.write(path, b"one")
        _, version = await rig.workspace.read_file(path)
        await rig.workspace.remove(path)
        with pytest.raises(FileChanged):
            await rig.workspace.replace(path, b"two", expect=version)
        assert await self.names(rig) == []

    async def test_versions_of_quick_replacements_differ(self, rig: Rig) -> None:
        path = f"{rig.root}/f"
        versions = [(await rig.workspace.replace(path, b"same")).version for _ in range(20)]
        assert len(set(versions)) == 20

    async def test_symlinks_are_followed_and_kept(self, rig: Rig) -> None:
        rig.write(f"{rig.root}/real.md", b"sky is red\n")
        rig.symlink(f"{rig.root}/link.md", "real.md")
        rig.symlink(f"{rig.root}/chain.md", f"{rig.root}/link.md")
        for name in ("link.md", "chain.md"):
            await rig.workspace.replace(f"{rig.root}/{name}", name.encode())
            assert (await rig.workspace.read_file(f"{rig.root}/real.md"))[0] == name.encode()
            facts = await rig.workspace.stat(f"{rig.root}/{name}", follow_symlinks=False)
            assert facts.kind == "symlink"
            assert await rig.workspace.realpath(f"{rig.root}/{name}") == f"{rig.root}/real.md"

    async def test_a_dangling_symlink_creates_its_target(self, rig: Rig) -> None:
        rig.symlink(f"{rig.root}/dangling.md", "later.md")
        assert await rig.workspace.realpath(f"{rig.root}/dangling.md") == f"{rig.root}/later.md"
        result = await rig.workspace.replace(f"{rig.root}/dangling.md", b"z\n")
        assert result.created
        assert (await rig.workspace.read_file(f"{rig.root}/later.md"))[0] == b"z\n"
        facts = await rig.workspace.stat(f"{rig.root}/dangling.md", follow_symlinks=False)
        assert facts.kind == "symlink"

    @pytest.mark.parametrize("call", ["stat", "realpath", "read_file", "read", "replace", "list"])
    async def test_a_cycle_of_symlinks_is_refused(self, rig: Rig, call: str) -> None:
        rig.symlink(f"{rig.root}/a", "b")
        rig.symlink(f"{rig.root}/b", "a")
        assert await reason_of(rig, call, f"{rig.root}/a") == "link-cycle"

    async def test_removing_a_symlink_leaves_its_target(self, rig: Rig) -> None:
        rig.write(f"{rig.root}/real", b"x")
        rig.symlink(f"{rig.root}/link", "real")
        await rig.workspace.remove(f"{rig.root}/link")
        assert await self.names(rig) == ["real"]

    async def test_hard_links_see_the_change(self, rig: Rig) -> None:
        rig.write(f"{rig.root}/one", b"old content")
        rig.hard_link(f"{rig.root}/two", f"{rig.root}/one")
        for data in (b"k=new\n", b"longer than before " * 9, b""):
            await rig.workspace.replace(f"{rig.root}/one", data)
            assert (await rig.workspace.read_file(f"{rig.root}/two"))[0] == data
        assert await self.names(rig) == ["one", "two"]

    @pytest.mark.parametrize("call", ["read_file", "read", "replace"])
    async def test_a_fifo_is_refused_at_once(self, rig: Rig, call: str) -> None:
        rig.fifo(f"{rig.root}/fifo")
        assert await reason_of(rig, call, f"{rig.root}/fifo") == "not-regular"
        assert (await rig.workspace.stat(f"{rig.root}/fifo")).kind == "fifo"

    @pytest.mark.parametrize("call", ["read_file", "read", "replace", "remove"])
    async def test_a_directory_is_not_a_file(self, rig: Rig, call: str) -> None:
        await rig.workspace.make_dirs(f"{rig.root}/dir")
        assert await reason_of(rig, call, f"{rig.root}/dir") == "is-directory"
        assert await self.names(rig) == ["dir"]

    @pytest.mark.parametrize("call", ["stat", "read_file", "read", "remove", "list"])
    async def test_what_is_missing_is_missing(self, rig: Rig, call: str) -> None:
        assert await reason_of(rig, call, f"{rig.root}/nothing") == "missing"

    @pytest.mark.parametrize("call", ["stat", "read_file", "replace", "list", "make_dirs"])
    async def test_a_file_is_not_a_directory(self, rig: Rig, call: str) -> None:
        rig.write(f"{rig.root}/file", b"x")
        assert await reason_of(rig, call, f"{rig.root}/file/below") == "not-directory"

    async def test_replace_needs_a_parent(self, rig: Rig) -> None:
        assert await reason_of(rig, "replace", f"{rig.root}/nowhere/f") == "missing"

    async def test_a_trailing_slash_names_no_file(self, rig: Rig) -> None:
        assert await reason_of(rig, "replace", f"{rig.root}/newdir/") == "is-directory"
        assert await self.names(rig) == []

    @pytest.mark.parametrize("call", ["stat", "read_file", "replace", "list", "make_dirs"])
    async def test_a_name_too_long(self, rig: Rig, call: str) -> None:
        assert await reason_of(rig, call, f"{rig.root}/{'n' * 300}") == "name-too-long"

    @pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
    @pytest.mark.parametrize(
        "call", ["stat", "realpath", "read_file", "read", "replace", "remove", "list", "make_dirs"]
    )
    async def test_what_cannot_be_a_path(self, rig: Rig, call: str, name: str) -> None:
        assert await reason_of(rig, call, f"{rig.root}/{name}") == "invalid-path"

    async def test_a_name_of_bytes_that_are_not_utf8(self, rig: Rig) -> None:
        path = f"{rig.root}/caf\udce9"
        await rig.workspace.replace(path, b"x")
        assert await self.names(rig) == ["caf\udce9"]
        assert (await rig.workspace.read_file(path))[0] == b"x"

    async def test_realpath_of_what_does_not_exist_yet(self, rig: Rig) -> None:
        await rig.workspace.make_dirs(f"{rig.root}/dir")
        rig.symlink(f"{rig.root}/alias", "dir")
        for spelling in ("dir/new/f", "alias/new/f", "alias/../dir/new/f", "./dir//new/f"):
            assert await rig.workspace.realpath(f"{rig.root}/{spelling}") == f"{rig.root}/dir/new/f"

    async def test_make_dirs_names_what_it_made(self, rig: Rig) -> None:
        wanted = [f"{rig.root}/a", f"{rig.root}/a/b", f"{rig.root}/a/b/c"]
        assert await rig.workspace.make_dirs(wanted[-1]) == wanted
        assert await rig.workspace.make_dirs(wanted[-1]) == []
        assert await rig.workspace.make_dirs(f"{rig.root}/a/x/") == [f"{rig.root}/a/x"]

    async def test_remove_dirs_takes_back_what_is_empty(self, rig: Rig) -> None:
        made = await rig.workspace.make_dirs(f"{rig.root}/a/b/c")
        rig.write(f"{rig.root}/a/kept", b"x")
        await rig.workspace.remove_dirs([*made, f"{rig.root}/nowhere"])
        assert await self.names(rig) == ["a"]
        assert [entry.name for entry in await rig.workspace.list(f"{rig.root}/a")] == ["kept"]
        assert (await rig.workspace.read_file(f"{rig.root}/a/kept"))[0] == b"x"

    async def test_list_tells_kinds_and_where_links_lead(self, rig: Rig) -> None:
        rig.write(f"{rig.root}/file", b"x")
        await rig.workspace.make_dirs(f"{rig.root}/dir")
        rig.symlink(f"{rig.root}/to-file", "file")
        rig.symlink(f"{rig.root}/to-dir", "dir")
        rig.symlink(f"{rig.root}/dangling", "nowhere")
        rig.symlink(f"{rig.root}/self", "self")
        rig.fifo(f"{rig.root}/fifo")
        entries = await rig.workspace.list(rig.root)
        assert sorted(entries, key=lambda entry: entry.name) == [
            DirEntry("dangling", "symlink"),
            DirEntry("dir", "directory"),
            DirEntry("fifo", "fifo"),
            DirEntry("file", "file"),
            DirEntry("self", "symlink"),
            DirEntry("to-dir", "symlink", "directory"),
            DirEntry("to-file", "symlink", "file"),
        ]

    async def test_many_directories_are_listed_in_one_visit(self, rig: Rig) -> None:
        for file in ("a/x", "b/y"):
            await rig.workspace.make_dirs(f"{rig.root}/{file[0]}")
            rig.write(f"{rig.root}/{file}", b"")
        paths = [f"{rig.root}/{name}" for name in ("a", "missing", "b", "b/y")]
        first, missing, second, not_one = await rig.workspace.list_many(paths)
        assert first == [DirEntry("x", "file")]
        assert second == [DirEntry("y", "file")]
        assert isinstance(missing, WorkspaceError)
        assert missing.reason == "missing"
        assert isinstance(not_one, WorkspaceError)
        assert not_one.reason == "not-directory"

    async def test_read_from_an_offset_in_chunks(self, rig: Rig) -> None:
        path = f"{rig.root}/f"
        data = bytes(range(256)) * 100
        rig.write(path, data)
        chunks = [chunk async for chunk in rig.workspace.read(path, start=100, chunk_size=1000)]
        assert b"".join(chunks) == data[100:]
        assert {len(chunk) for chunk in chunks[:-1]} == {1000}
        assert await read_all(rig.workspace, path, start=len(data)) == b""
        assert await read_all(rig.workspace, path, start=len(data) + 7) == b""

    async def test_read_may_be_left_early(self, rig: Rig) -> None:
        path = f"{rig.root}/f"
        rig.write(path, b"x" * 10_000)
        async with aclosing(rig.workspace.read(path, chunk_size=10)) as chunks:
            async for chunk in chunks:
                assert chunk == b"x" * 10
                break
        await rig.workspace.remove(path)

    async def test_read_file_with_a_limit(self, rig: Rig) -> None:
        path = f"{rig.root}/f"
        rig.write(path, b"0123456789")
        assert (await rig.workspace.read_file(path, limit=4))[0] == b"0123"
        assert (await rig.workspace.read_file(path, limit=0))[0] == b""
        assert (await rig.workspace.read_file(path, limit=99))[0] == b"0123456789"

    async def test_parallel_replacements_each_come_out_whole(self, rig: Rig) -> None:
        path = f"{rig.root}/f"
        contents = [bytes([65 + number]) * 5000 for number in range(8)]
        async with anyio.create_task_group() as tasks:
            for content in contents:
                tasks.start_soon(rig.workspace.replace, path, content)
        assert (await rig.workspace.read_file(path))[0] in contents
        assert await self.names(rig) == ["f"]

    async def test_one_of_two_who_expect_the_same_version_wins(self, rig: Rig) -> None:
        path = f"{rig.root}/f"
        version = (await rig.workspace.replace(path, b"start")).version
        won: list[bytes] = []

        async def attempt(data: bytes) -> None:
            try:
                await rig.workspace.replace(path, data, expect=version)
            except FileChanged:
                return
            won.append(data)

        async with anyio.create_task_group() as tasks:
            for number in range(6):
                tasks.start_soon(attempt, str(number).encode())
        assert len(won) == 1
        assert (await rig.workspace.read_file(path))[0] == won[0]

    async def test_a_cancelled_replace_is_whole_or_not_at_all(self, rig: Rig) -> None:
        path = f"{rig.root}/f"
        rig.write(path, b"old")
        with anyio.move_on_after(0):
            await rig.workspace.replace(path, b"new" * 1_000_000)
        assert (await rig.workspace.read_file(path))[0] in (b"old", b"new" * 1_000_000)
        assert await self.names(rig) == ["f"]

    @given(old=st.binary(max_size=300), new=st.lists(st.binary(max_size=200), max_size=4))
    async def test_what_was_written_is_read(self, rig: Rig, old: bytes, new: list[bytes]) -> None:
        path = f"{rig.root}/f"
        first = await rig.workspace.replace(path, old)
        second = await rig.workspace.replace(path, new, expect=first.version)
        data, version = await rig.workspace.read_file(path)
        assert data == b"".join(new)
        assert version == second.version
        assert await read_all(rig.workspace, path, size=7) == data
        assert await self.names(rig) == ["f"]
