"""The queue for changes to one file: serial for one real file, parallel for different files.

Turns are given in the order in which they were asked for, although finding out which file a path
leads to takes time: asking is itself queued. The key is the real path, so every spelling of a file
(through symlinks, ``..``, a symlinked parent of a file that does not exist yet) shares one queue.

A turn ends when the body of the ``async with`` has settled, also under cancellation, because
workspace calls that have begun to commit are completed before the cancellation goes on. Other
processes are kept apart by `Workspace.replace` and its ``expect``, not by this queue.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from sloyd.workspace.base import Workspace
from sloyd.workspace.paths import ResolvedPath, resolve

__all__ = ["MutationQueue", "Turn"]


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn on the file that a path argument means; ``real`` is its real path."""

    resolved: ResolvedPath
    real: str


@dataclass(slots=True)
class _Line:
    """The turns of one real path. ``people`` counts who holds or waits."""

    lock: anyio.Lock = field(default_factory=lambda: anyio.Lock(fast_acquire=True))
    people: int = 0


class MutationQueue:
    """Gives out turns to change a file, in the order in which they are asked for.

    Everything that changes files of one workspace shares one queue.
    """

    def __init__(self) -> None:
        self._asking = anyio.Lock(fast_acquire=True)
        self._lines: dict[str, _Line] = {}

    @asynccontextmanager
    async def hold(self, workspace: Workspace, path: str) -> AsyncIterator[str]:
        """Wait for a turn on the file that ``path`` leads to, and hold it; yields its real path.

        Raises `WorkspaceError` when the path has no meaning (``link-cycle``, ``invalid-path``).
        """
        async with self._asking:
            real = await workspace.realpath(path)
            line = self._join(real)
        async with self._turn(real, line):
            yield real

    @asynccontextmanager
    async def hold_argument(
        self, workspace: Workspace, argument: str, *, cwd: str | None = None
    ) -> AsyncIterator[Turn]:
        """Like `hold` for a tool's path argument, which `resolve` gives its meaning.

        Entered before anything else is awaited, it keeps calls in the order in which they were
        made, however long it takes to find out what each argument means.
        """
        async with self._asking:
            resolved = await resolve(workspace, argument, cwd=cwd)
            real = await workspace.realpath(resolved.path)
            line = self._join(real)
        async with self._turn(real, line):
            yield Turn(resolved, real)

    def _join(self, real: str) -> _Line:
        line = self._lines.setdefault(real, _Line())
        line.people += 1
        return line

    @asynccontextmanager
    async def _turn(self, real: str, line: _Line) -> AsyncIterator[None]:
        # Nothing is awaited between giving up the right to ask and this, and a lock queues its
        # callers at once, so the order of asking is the order of turns.
        try:
            async with line.lock:
                yield
        finally:
            line.people -= 1
            if line.people == 0:
                del self._lines[real]
