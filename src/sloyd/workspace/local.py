"""This machine as a workspace: its files and processes.

System calls run in worker threads, so a slow disk or a dead network mount never stops the event
loop. A hop to a thread costs about 0.1 ms, many times a system call, so each method makes one hop
and does all of its work there. On local disks (see `sloyd.workspace.mounts`) what takes less than
that is done in place: `stat`, `realpath`, and to read or replace a small file.
"""

from __future__ import annotations

import asyncio
import os
import stat as modes
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress

from anyio.to_thread import run_sync

from sloyd.errors import WorkspaceError
from sloyd.workspace.atomic import (
    SMALL_FILE,
    finish_interrupted,
    remove_file,
    replace_file,
    replace_promptly,
)
from sloyd.workspace.base import (
    Absent,
    DirEntry,
    Exit,
    FileStat,
    FileVersion,
    Listing,
    OnOutput,
    ProcessRequest,
    ReplaceResult,
)
from sloyd.workspace.facts import facts, kind_of, version_of
from sloyd.workspace.mounts import is_prompt
from sloyd.workspace.problems import file_problem, reported, workspace_error

__all__ = ["LocalWorkspace"]

_PIECE = 1 << 21  # of 1 to 4 MiB the fastest: 960 MB in 0.39 s, lines counted


class LocalWorkspace:
    """The files and processes of this machine.

    Args:
        cwd: where relative paths start; None means the process's own working directory.
        home: what ``~`` means; None means the user's home directory.
        environment: what commands inherit; None means a copy of the process's own environment.
        durable: wait until each replaced file has reached the disk. Without it, what this class
            promises holds for killed processes, and for a loss of power as far as the file system
            orders a rename after its data (ext4 and btrfs do). It costs 0.3 ms and more a call.
    """

    def __init__(
        self,
        cwd: str | None = None,
        *,
        home: str | None = None,
        environment: Mapping[str, str] | None = None,
        durable: bool = False,
    ) -> None:
        self._cwd = os.path.abspath(cwd) if cwd is not None else os.getcwd()
        self._home = home if home is not None else os.path.expanduser("~")
        self._environment = dict(os.environ if environment is None else environment)
        self._durable = durable

    @property
    def cwd(self) -> str:
        return self._cwd

    @property
    def home(self) -> str:
        return self._home

    @property
    def environment(self) -> Mapping[str, str]:
        return self._environment

    async def stat(self, path: str, *, follow_symlinks: bool = True) -> FileStat:
        if is_prompt(path):
            return _stat(path, follow_symlinks)
        return await run_sync(_stat, path, follow_symlinks)

    async def realpath(self, path: str) -> str:
        if is_prompt(path):
            return _realpath(path)
        return await run_sync(_realpath, path)

    async def read(
        self, path: str, *, start: int = 0, chunk_size: int = _PIECE
    ) -> AsyncGenerator[bytes, None]:
        chunk, descriptor = await run_sync(_open_and_read, path, start, chunk_size)
        if descriptor is None:
            if chunk:
                yield chunk
            return
        # While the caller works on one chunk, a thread already reads the next one.
        loop = asyncio.get_running_loop()
        ahead: asyncio.Future[bytes] | None = None
        try:
            while chunk:
                start += len(chunk)
                ahead = loop.run_in_executor(None, _read_at, path, descriptor, start, chunk_size)
                yield chunk
                chunk = await ahead
        finally:
            _close_after(ahead, descriptor)

    async def read_file(self, path: str, *, limit: int | None = None) -> tuple[bytes, FileVersion]:
        if is_prompt(path):
            found = _read_promptly(path, limit)
            if found is not None:
                return found
        return await run_sync(_read_file, path, limit)

    async def replace(
        self,
        path: str,
        data: bytes | Sequence[bytes],
        *,
        expect: FileVersion | Absent | None = None,
    ) -> ReplaceResult:
        pieces = (data,) if isinstance(data, bytes) else data
        if expect is not None and not self._durable and is_prompt(path):
            done = replace_promptly(path, pieces, expect)
            if done is not None:
                return done
        return await run_sync(replace_file, path, pieces, expect, self._durable)

    async def remove(self, path: str, *, expect: FileVersion | None = None) -> None:
        await run_sync(remove_file, path, expect)

    async def make_dirs(self, path: str) -> list[str]:
        return await run_sync(_make_dirs, path)

    async def remove_dirs(self, paths: Sequence[str]) -> None:
        await run_sync(_remove_dirs, paths)

    async def list(self, path: str) -> list[DirEntry]:
        return await run_sync(_list, path)

    async def list_many(self, paths: Sequence[str]) -> Sequence[Listing]:
        return await run_sync(lambda: [_listing(path) for path in paths])

    async def run(self, request: ProcessRequest, on_output: OnOutput | None = None) -> Exit:
        from sloyd.workspace.processes import run_process

        return await run_process(request, on_output, self._environment)

    async def which(self, program: str) -> str | None:
        from sloyd.workspace.processes import which

        return await run_sync(which, program, self._environment, self._cwd)


def _stat(path: str, follow_symlinks: bool) -> FileStat:
    with reported(path):
        return facts(path, os.stat(path, follow_symlinks=follow_symlinks))


def _realpath(path: str) -> str:
    with reported(path):
        real = os.path.realpath(path)
        try:
            found = os.lstat(real)
        except OSError:
            # Links under /proc say in words where they lead ("pipe:[1]", "/tmp/x (deleted)").
            if os.path.exists(path):
                raise file_problem("not-regular", path) from None
            return real
        if modes.S_ISLNK(found.st_mode):  # only a cycle leaves a link at the end
            os.stat(real)
        return real


def _open_regular(path: str) -> tuple[int, os.stat_result]:
    """Open a regular file for reading; never waits for a FIFO's writer, never consumes."""
    with reported(path):
        descriptor = os.open(path, os.O_RDONLY | _OPEN_FLAGS)
        try:
            found = os.fstat(descriptor)
            if not modes.S_ISREG(found.st_mode):
                raise _not_regular(path, found)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor, found


_OPEN_FLAGS = (
    getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


def _not_regular(path: str, found: os.stat_result) -> WorkspaceError:
    is_directory = kind_of(found.st_mode) == "directory"
    return file_problem("is-directory" if is_directory else "not-regular", path)


def _open_and_read(path: str, start: int, size: int) -> tuple[bytes, int | None]:
    """The first chunk, and the open file unless the chunk is all there is."""
    descriptor, found = _open_regular(path)
    try:
        chunk = _read_at(path, descriptor, start, size)
    except BaseException:
        os.close(descriptor)
        raise
    # Files under /proc say that their size is 0 and give their content in pieces.
    if not chunk or (len(chunk) < size and 0 < found.st_size <= start + len(chunk)):
        os.close(descriptor)
        return chunk, None
    return chunk, descriptor


def _read_at(path: str, descriptor: int, start: int, size: int) -> bytes:
    try:
        return os.pread(descriptor, size, start)
    except OSError as error:
        raise workspace_error(error, path) from error


def _close_after(ahead: asyncio.Future[bytes] | None, descriptor: int) -> None:
    """Close the file when the read that is under way, if any, has ended."""
    if ahead is None or ahead.done():
        os.close(descriptor)
        if ahead is not None and not ahead.cancelled():
            ahead.exception()  # looked at, so that asyncio does not complain
        return
    ahead.add_done_callback(lambda _: os.close(descriptor))


def _read_promptly(path: str, limit: int | None) -> tuple[bytes, FileVersion] | None:
    """`_read_file` of a small file; None for one that may take time, as those of size 0 do."""
    finish_interrupted()
    descriptor, found = _open_regular(path)
    with reported(path):
        try:
            if 0 < found.st_size <= SMALL_FILE:
                return _read_all(descriptor, found.st_size, limit), version_of(found)
            return None
        finally:
            os.close(descriptor)


def _read_file(path: str, limit: int | None) -> tuple[bytes, FileVersion]:
    finish_interrupted()
    descriptor, found = _open_regular(path)
    with reported(path):
        try:
            # The version is the one from before the read: a change in between makes it stale.
            return _read_all(descriptor, found.st_size, limit), version_of(found)
        finally:
            os.close(descriptor)


def _read_all(descriptor: int, size: int, limit: int | None) -> bytes:
    """Read to the end or the limit. Files under /proc say that their size is 0 and have content."""
    wanted = size + 1 if limit is None else min(limit, size + 1)
    pieces: list[bytes] = []
    total = 0
    while limit is None or total < limit:
        piece = os.read(descriptor, max(wanted - total, _PIECE if limit is None else 1))
        if not piece:
            break
        pieces.append(piece)
        total += len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _make_dirs(path: str) -> list[str]:
    made: list[str] = []
    missing: list[str] = []
    current = path.rstrip(os.sep) or path
    with reported(path):
        while not os.path.isdir(current):
            missing.append(current)
            parent = os.path.dirname(current)
            if parent == current:
                break
            current = parent
        try:
            for directory in reversed(missing):
                try:
                    os.mkdir(directory)
                except FileExistsError:
                    if not os.path.isdir(directory):
                        raise file_problem("not-directory", path) from None
                else:
                    made.append(directory)
        except BaseException:
            _remove_dirs(made)
            raise
    return made


def _remove_dirs(directories: Sequence[str]) -> None:
    for directory in reversed(directories):
        with suppress(OSError, ValueError):
            os.rmdir(directory)


def _list(path: str) -> list[DirEntry]:
    with reported(path), os.scandir(path) as entries:
        return [_entry(entry) for entry in entries]


def _listing(path: str) -> Listing:
    try:
        return _list(path)
    except WorkspaceError as error:
        return error


def _entry(entry: os.DirEntry[str]) -> DirEntry:
    if entry.is_file(follow_symlinks=False):
        return DirEntry(entry.name, "file")
    if entry.is_dir(follow_symlinks=False):
        return DirEntry(entry.name, "directory")
    try:
        kind = kind_of(entry.stat(follow_symlinks=False).st_mode)
    except OSError:
        return DirEntry(entry.name, "other")
    if kind != "symlink":
        return DirEntry(entry.name, kind)
    try:
        return DirEntry(entry.name, kind, kind_of(entry.stat().st_mode))
    except OSError:
        return DirEntry(entry.name, kind)
