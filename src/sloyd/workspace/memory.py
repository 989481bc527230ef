"""A workspace in memory: for tests, for dry runs, and as proof that the contract is enough.

It behaves like a POSIX file system with one user who is not root: symlinks, hard links, modes,
FIFOs, sockets and devices are there, and a write-protected file is refused. Its programs are Python
callables.
"""

from __future__ import annotations

import posixpath
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from inspect import isawaitable
from time import perf_counter
from typing import TypeAlias

import anyio

from sloyd.errors import WorkspaceError
from sloyd.workspace.base import (
    ABSENT,
    Absent,
    DirEntry,
    Exit,
    FileKind,
    FileStat,
    FileVersion,
    Listing,
    OnOutput,
    ProcessRequest,
    ReplaceResult,
)
from sloyd.workspace.memory_tree import Node, Place, Tree
from sloyd.workspace.problems import file_changed, file_problem

__all__ = ["MemoryCommand", "MemoryWorkspace"]

MemoryCommand: TypeAlias = Callable[[ProcessRequest, OnOutput], int | Awaitable[int]]
"""A program of a `MemoryWorkspace`: gets the request, writes output, returns its exit code."""

_ENVIRONMENT = {"PATH": "/bin"}


class MemoryWorkspace:
    """Files and programs that live as long as this object.

    Args:
        cwd: where relative paths start; made, with its parents.
        home: what ``~`` means; made, with its parents.
        environment: what commands inherit; None means just a ``PATH`` and ``HOME``.

    Attributes:
        commands: the programs, by name.
    """

    def __init__(
        self,
        cwd: str = "/code",
        home: str = "/home/user",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._tree = Tree()
        self._cwd = cwd
        self._home = home
        given = {**_ENVIRONMENT, "HOME": home} if environment is None else environment
        self._environment = dict(given)
        self.commands: dict[str, MemoryCommand] = {}
        for directory in (cwd, home):
            self._make_dirs(directory)

    @property
    def cwd(self) -> str:
        return self._cwd

    @property
    def home(self) -> str:
        return self._home

    @property
    def environment(self) -> Mapping[str, str]:
        return self._environment

    # What tests prepare.

    def add_file(self, path: str, data: bytes = b"", *, mode: int = 0o644) -> None:
        """Put a file there, parents made; an old file keeps its identity but not its version."""
        place = self._new_place(path)
        if place.node is None:
            self._tree.add(place, Node("file", mode=mode, data=data))
        else:
            self._tree.write(place.node, data)
            place.node.mode = mode

    def add_symlink(self, path: str, target: str) -> None:
        """Put a symlink there, parents made; ``target`` need not exist."""
        self._tree.add(self._new_place(path), Node("symlink", mode=0o777, target=target))

    def add_hard_link(self, path: str, existing: str) -> None:
        """Give an existing file a second name."""
        node = self._tree.find(existing).existing()
        node.links += 1
        self._tree.add(self._new_place(path), node)

    def add_special(self, path: str, kind: FileKind) -> None:
        """Put a FIFO, socket or device there, parents made."""
        self._tree.add(self._new_place(path), Node(kind))

    def set_mode(self, path: str, mode: int) -> None:
        """What ``chmod`` does."""
        node = self._tree.find(path).existing()
        node.mode = mode
        node.ctime_ns = self._tree.now()

    def _new_place(self, path: str) -> Place:
        self._make_dirs(posixpath.dirname(path))
        return self._tree.find(path, follow=False)

    # The contract.

    async def stat(self, path: str, *, follow_symlinks: bool = True) -> FileStat:
        node = self._tree.find(path, follow=follow_symlinks).existing()
        version = node.version()
        writable = node.kind == "symlink" or bool(node.mode & 0o200)
        return FileStat(node.kind, version.size, node.mode, node.mtime_ns, version, writable)

    async def realpath(self, path: str) -> str:
        return self._tree.realpath(path)

    async def read(
        self, path: str, *, start: int = 0, chunk_size: int = 1 << 20
    ) -> AsyncGenerator[bytes, None]:
        data = self._regular(path).data
        for offset in range(start, len(data), chunk_size):
            yield data[offset : offset + chunk_size]

    async def read_file(self, path: str, *, limit: int | None = None) -> tuple[bytes, FileVersion]:
        node = self._regular(path)
        return node.data[:limit], node.version()

    async def replace(
        self,
        path: str,
        data: bytes | Sequence[bytes],
        *,
        expect: FileVersion | Absent | None = None,
    ) -> ReplaceResult:
        place = self._tree.find(path)
        node = place.node
        if node is not None:
            _need_regular(node, path)
        _compare(node, expect, path)
        content = data if isinstance(data, bytes) else b"".join(data)
        if node is None:
            if path.endswith("/"):
                raise file_problem("is-directory", path)
            made = Node("file", data=content)
            self._tree.add(place, made)
            return ReplaceResult(made.version(), created=True)
        if not node.mode & 0o200:
            raise file_problem("read-only", path)
        self._tree.write(node, content)
        return ReplaceResult(node.version(), created=False)

    async def remove(self, path: str, *, expect: FileVersion | None = None) -> None:
        place = self._tree.find(path, follow=False)
        node = place.existing()
        if node.kind == "directory":
            raise file_problem("is-directory", path)
        _compare(node, expect, path)
        self._tree.remove(place)

    async def make_dirs(self, path: str) -> list[str]:
        return self._make_dirs(path)

    async def remove_dirs(self, paths: Sequence[str]) -> None:
        for path in reversed(paths):
            with suppress(WorkspaceError):
                place = self._tree.find(path, follow=False)
                node = place.existing()
                if node.kind == "directory" and not node.children:
                    self._tree.remove(place)

    def _make_dirs(self, path: str) -> list[str]:
        missing: list[str] = []
        current = path.rstrip("/") or "/"
        while not self._tree.is_directory(current):
            missing.append(current)
            current = posixpath.dirname(current)
        places: list[Place] = []
        try:
            for directory in reversed(missing):
                place = self._tree.find(directory, follow=False)
                if place.node is not None:
                    raise file_problem("not-directory", path)
                self._tree.add(place, Node("directory", mode=0o755))
                places.append(place)
        except WorkspaceError:
            for place in reversed(places):
                self._tree.remove(place)
            raise
        return missing[::-1]

    async def list(self, path: str) -> list[DirEntry]:
        node = self._tree.find(path).existing()
        if node.kind != "directory":
            raise file_problem("not-directory", path)
        return [self._entry(path, name, child) for name, child in node.children.items()]

    async def list_many(self, paths: Sequence[str]) -> Sequence[Listing]:
        return [await self._listing(path) for path in paths]

    async def _listing(self, path: str) -> Listing:
        try:
            return await self.list(path)
        except WorkspaceError as error:
            return error

    def _entry(self, directory: str, name: str, node: Node) -> DirEntry:
        if node.kind != "symlink":
            return DirEntry(name, node.kind)
        try:
            target = self._tree.find(posixpath.join(directory, name)).node
        except WorkspaceError:
            target = None
        return DirEntry(name, node.kind, None if target is None else target.kind)

    async def run(self, request: ProcessRequest, on_output: OnOutput | None = None) -> Exit:
        command = self.commands.get(posixpath.basename(request.argv[0]))
        if command is None:
            raise file_problem("missing", request.argv[0])
        if not self._tree.is_directory(request.cwd):
            raise file_problem("missing", request.cwd)
        started = perf_counter()
        code: int | None = None
        with anyio.move_on_after(request.timeout) as scope:
            result = command(request, on_output or _ignored)
            code = await result if isawaitable(result) else result
        duration = perf_counter() - started
        return Exit(code, timed_out=scope.cancelled_caught, duration=duration)

    async def which(self, program: str) -> str | None:
        name = posixpath.basename(program)
        return posixpath.join("/bin", name) if name in self.commands else None

    def _regular(self, path: str) -> Node:
        node = self._tree.find(path).existing()
        _need_regular(node, path)
        if not node.mode & 0o400:
            raise file_problem("permission", path)
        return node


def _ignored(_: bytes) -> None:
    return


def _need_regular(node: Node, path: str) -> None:
    if node.kind != "file":
        raise file_problem("is-directory" if node.kind == "directory" else "not-regular", path)


def _compare(node: Node | None, expect: FileVersion | Absent | None, path: str) -> None:
    if expect is not None and (ABSENT if node is None else node.version()) != expect:
        raise file_changed(path)
