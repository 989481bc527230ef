"""The contract between tools and the place where they act.

A `Workspace` is the only door to files and processes. Tools are written against this protocol and
nothing else, so the same tool works on this machine, in memory, and later in a sandbox, over SSH
or in a container. One conformance suite (``tests/workspace/conformance.py``) runs against every
implementation.

Paths are absolute strings in the workspace's own spelling. Bytes of a name that are not UTF-8
travel as surrogate escapes (PEP 383), as `os.fsdecode` makes them. What a path *argument* of a tool
means is decided in `sloyd.workspace.paths`, not here.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Final, Literal, Protocol, TypeAlias

import msgspec

from sloyd.errors import WorkspaceError

__all__ = [
    "ABSENT",
    "Absent",
    "DirEntry",
    "Exit",
    "FileKind",
    "FileStat",
    "FileVersion",
    "Listing",
    "OnOutput",
    "OutputFile",
    "ProcessRequest",
    "ReplaceResult",
    "Workspace",
]

FileKind: TypeAlias = Literal["file", "directory", "symlink", "fifo", "socket", "device", "other"]


class FileVersion(msgspec.Struct, frozen=True):
    """What a regular file was at one moment; equal versions mean an unchanged file.

    Local files are told apart by device, inode, size and the two clocks of the inode. ``ctime_ns``
    makes a rewrite with a forged ``mtime_ns`` visible.
    """

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


class Absent(msgspec.Struct, frozen=True):
    """The version of a file that does not exist: ``replace(..., expect=ABSENT)`` only creates."""


ABSENT: Final = Absent()


class FileStat(msgspec.Struct, frozen=True):
    """One file's facts. ``mode`` is the permission bits only (``0o7777``)."""

    kind: FileKind
    size: int
    mode: int
    mtime_ns: int
    version: FileVersion
    writable: bool = True
    """Whether the file's mode lets this user write it. Atomic replacement would bypass the mode of
    the file itself, so writers must ask. Always true for root."""


class DirEntry(msgspec.Struct, frozen=True, gc=False):
    """One name of a directory; a struct, because a tree may have a million of them.

    ``kind`` is the entry's own kind; for a symlink ``target_kind`` is what it leads to, or None
    where it dangles, cycles or cannot be looked at.
    """

    name: str
    kind: FileKind
    target_kind: FileKind | None = None


class ReplaceResult(msgspec.Struct, frozen=True):
    """What `Workspace.replace` did."""

    version: FileVersion
    created: bool


OnOutput: TypeAlias = Callable[[bytes], None]
"""Gets each chunk of a process's output, in order, on the event loop. It must not block."""


class OutputFile(msgspec.Struct, frozen=True):
    """An existing private file, to which at most ``limit`` more bytes of output may be appended."""

    path: str
    limit: int


class ProcessRequest(msgspec.Struct, frozen=True):
    """A process to run: an argument vector (never shell text), and what surrounds it.

    Attributes:
        argv: program and arguments; the program is looked up on PATH when it has no separator.
        cwd: absolute working directory.
        environment: the whole environment, or None for the workspace's own (see
            `Workspace.environment`).
        stdin: bytes to feed, then end of file. None means an empty standard input.
        timeout: seconds until the process tree is stopped; None means no limit.
        merge_stderr: one pipe for stdout and stderr, so that their order is the true one. When
            false, stderr is kept apart and returned in `Exit.stderr` (its last 64 KiB).
        on_left_behind: called once, after the last output, when the process has exited but others
            that it started still hold its output. They run on, and what they write later is
            appended to the file that this gives; without one it is thrown away.
    """

    argv: Sequence[str]
    cwd: str
    environment: Mapping[str, str] | None = None
    stdin: bytes | None = None
    timeout: float | None = None
    merge_stderr: bool = True
    on_left_behind: Callable[[], OutputFile | None] | None = None


class Exit(msgspec.Struct, frozen=True):
    """How a process ended.

    Attributes:
        code: the exit code; None when a signal ended it.
        signal: the signal's number, when one ended it (also when we sent it).
        timed_out: whether the timeout stopped it.
        duration: seconds from start to the shell's exit.
        stderr: the end of stderr, when it was kept apart.
        left_behind: process ids that still ran, on purpose (background jobs), when it exited.
    """

    code: int | None
    signal: int | None = None
    timed_out: bool = False
    duration: float = 0.0
    stderr: bytes = b""
    left_behind: Sequence[int] = msgspec.field(default_factory=tuple)


Listing: TypeAlias = "list[DirEntry] | WorkspaceError"
"""What `Workspace.list_many` says of one directory."""


class Workspace(Protocol):
    """Files and processes in one place. Every method may raise `WorkspaceError`.

    All implementations keep these promises:

    - a failed call changes nothing and leaves no litter;
    - `replace` is atomic: a reader, or a kill at any instant, sees the old or the new content;
    - cancellation is safe at every await; a `replace` that has begun to commit is completed.
    """

    @property
    def cwd(self) -> str:
        """The absolute directory that relative path arguments start from."""

    @property
    def home(self) -> str:
        """The absolute home directory that ``~`` means."""

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment that commands inherit."""

    async def stat(self, path: str, *, follow_symlinks: bool = True) -> FileStat:
        """Facts of one file. Never opens it, so FIFOs and devices are safe to ask about."""

    async def realpath(self, path: str) -> str:
        """The path with every symlink resolved, as far as it exists.

        Of a path that does not exist (yet) the deepest existing parent is resolved, so that a new
        file has one identity through whichever spelling it is reached. A dangling symlink
        resolves to its target. Raises ``link-cycle`` for a cycle.
        """

    def read(
        self, path: str, *, start: int = 0, chunk_size: int = 1 << 20
    ) -> AsyncGenerator[bytes, None]:
        """The bytes of a regular file from an offset on, in chunks of at most ``chunk_size``.

        Who stops before the end closes the generator, and with it the file.

        Raises ``not-regular`` for anything but a regular file, within a second and without
        consuming from it.
        """

    async def read_file(self, path: str, *, limit: int | None = None) -> tuple[bytes, FileVersion]:
        """The bytes of a regular file (its first ``limit``), and the version they belong to.

        The version is taken such that a change during the read makes a later
        ``replace(expect=version)`` fail.
        """

    async def replace(
        self,
        path: str,
        data: bytes | Sequence[bytes],
        *,
        expect: FileVersion | Absent | None = None,
    ) -> ReplaceResult:
        """Put ``data`` in the place of the file's content, in one step; create it if absent.

        ``data`` may come in pieces, which are written one after the other. Symlinks are followed
        and kept; hard links, mode and owner are kept; parents must exist. ``expect`` is the version
        that the caller read; when the file is any other by now, `FileChanged` is raised and
        nothing happens. The comparison and the commit are guarded against other processes that
        use this method.
        """

    async def remove(self, path: str, *, expect: FileVersion | None = None) -> None:
        """Remove one file (not a directory). ``expect`` as in `replace`."""

    async def make_dirs(self, path: str) -> list[str]:
        """Make a directory and its parents; the list names those it made, outermost first."""

    async def remove_dirs(self, paths: Sequence[str]) -> None:
        """Take a `make_dirs` back: remove those directories that are still empty, the last first.

        Never raises; a directory that holds something by now stays.
        """

    async def list(self, path: str) -> list[DirEntry]:
        """The entries of a directory, unsorted, without ``.`` and ``..``."""

    async def list_many(self, paths: Sequence[str]) -> Sequence[Listing]:
        """`list` of several directories in one visit; an error takes the place of its listing.

        A walk of a large tree asks for many small directories, and a visit costs more than one.
        """

    async def run(self, request: ProcessRequest, on_output: OnOutput | None = None) -> Exit:
        """Run a process to its end.

        The process gets a session of its own, no terminal, and a closed or given standard input.
        The call returns when the process has exited, whatever still holds its output open. On
        timeout and on cancellation the whole tree is stopped, TERM first and then KILL, before
        the call returns or the cancellation goes on.
        """

    async def which(self, program: str) -> str | None:
        """The absolute path of a program on PATH, or None."""
