"""Running a process on this machine to its end, and being sure of that end.

The call returns when the process has exited, whatever still holds its output. What it left in the
pipe is read to the last byte; output that background jobs are just writing is waited for as long
as it keeps coming, at most half a second. After that such jobs run on, and their later output goes
to a file (see `sloyd.workspace.left_behind`). On timeout, on cancellation and when ``on_output``
fails, the whole tree is stopped (see `sloyd.workspace.process_tree`) before the call ends.

Nothing polls while a command runs: its exit and its output are events of the loop.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final, TypeAlias

import anyio

from sloyd.errors import WorkspaceError
from sloyd.workspace.base import Exit, OnOutput, OutputFile, ProcessRequest
from sloyd.workspace.process_tree import STOP_GRACE, group_is_alive
from sloyd.workspace.pump import PipePump
from sloyd.workspace.spawning import Started, start

__all__ = ["run_process", "stop_all_nowait", "which"]

_QUIET: Final = 0.1
"""Seconds without output after which jobs that hold the pipe are left to themselves (pi's)."""

_LONGEST_DRAIN: Final = 0.5
"""Seconds after the exit for which output of such jobs is taken in, however much they write."""

_PIPE_CAPACITY: Final = 1024 * 1024
_STDERR_KEPT: Final = 64 * 1024

_OnLeftBehind: TypeAlias = Callable[[], OutputFile | None] | None

_running: set[_Running] = set()
"""The commands of this process that run now, for `stop_all_nowait`."""


async def run_process(
    request: ProcessRequest,
    on_output: OnOutput | None = None,
    environment: Mapping[str, str] | None = None,
) -> Exit:
    """Run a process to its end; see `ProcessRequest` and `Workspace.run`.

    Args:
        on_output: gets each chunk, in order, on the event loop. While it runs, the process waits.
            What it raises stops the process and is raised from here.
        environment: what the process gets where the request does not say; None means our own.

    Raises `WorkspaceError` when the process cannot be started.
    """
    running = _Running(request, on_output, os.environ if environment is None else environment)
    try:
        if await running.wait(request.timeout):
            await running.drain()
            left_behind = await running.leave(request.on_left_behind)
            timed_out = False
        else:
            await running.stop()
            await running.drain()
            left_behind, timed_out = (), True
        running.raise_failure()
        return running.exit(timed_out, left_behind)
    except BaseException:
        await running.stop()
        raise
    finally:
        running.close()


def stop_all_nowait(grace: float = 0.3) -> None:
    """Stop every command that this process runs, before it ends itself; blocks up to the grace.

    For signal handlers and exits, where nothing can be awaited any more. Jobs that earlier
    commands left behind on purpose are not touched.
    """
    commands = [(running.started, running.started.tree.terminate()) for running in _running]
    deadline = time.monotonic() + grace
    for started, members in commands:
        remaining = max(deadline - time.monotonic(), 0.0)
        started.tree.outlast(members, started.process.poll, remaining)


def which(program: str, environment: Mapping[str, str], cwd: str | None = None) -> str | None:
    """The absolute path of an executable program, or None.

    A name with a separator is taken relative to ``cwd``; any other is looked up on the PATH of
    ``environment``.
    """
    import shutil

    if os.path.dirname(program):
        found = shutil.which(os.path.join(cwd or os.getcwd(), os.path.expanduser(program)))
    else:
        found = shutil.which(program, path=environment.get("PATH", os.defpath))
    return os.path.abspath(found) if found is not None else None


class _Running:
    """One command from its start to its end."""

    def __init__(
        self, request: ProcessRequest, on_output: OnOutput | None, environment: Mapping[str, str]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._exited: asyncio.Future[None] = self._loop.create_future()
        self._all_read: asyncio.Future[None] = self._loop.create_future()
        self._began = self._ended = time.monotonic()
        self._exit_descriptor = -1
        self._errors = bytearray()
        self.started: Started = start(request, environment)
        _running.add(self)
        try:
            self._output = PipePump(
                self.started.output, on_output or _discard, self._on_end_of_output
            )
        except NotImplementedError:
            self.started.process.kill()
            self.started.process.wait()
            os.close(self.started.output)
            self.close()
            raise WorkspaceError(
                "this event loop cannot watch pipes", path=request.argv[0], reason="unsupported"
            ) from None
        self._pumps = [self._output]
        if self.started.errors is not None:
            self._pumps.append(
                PipePump(self.started.errors, self._keep_errors, self._on_end_of_output)
            )
        self._watch_exit()

    async def wait(self, timeout: float | None) -> bool:
        """Wait for the exit; False when it did not come in time. A failed reader ends the wait."""
        await asyncio.wait({self._exited}, timeout=timeout)
        self.raise_failure()
        return self._exited.done()

    async def drain(self) -> None:
        """Read what the process wrote before it exited, and what its jobs are just writing."""
        for pump in self._pumps:
            taken = 0
            while taken < _PIPE_CAPACITY and (size := pump.read_once()):
                taken += size
        deadline = time.monotonic() + _LONGEST_DRAIN
        while not self._all_read.done():
            before = self._chunks()
            await asyncio.wait({self._all_read}, timeout=_QUIET)
            if self._chunks() == before or time.monotonic() > deadline:
                break

    async def leave(self, on_left_behind: _OnLeftBehind) -> tuple[int, ...]:
        """Find the jobs that run on, and give them a reader; returns their process ids."""
        if self._all_read.done() and not group_is_alive(self.started.tree.root):
            return ()
        members = await self._loop.run_in_executor(None, self.started.tree.members)
        for pump in self._pumps:
            if pump.ended:
                continue
            pump.detach()
            file = on_left_behind() if on_left_behind and pump is self._output else None
            # Where no reader can be started the jobs get SIGPIPE, which is theirs to survive.
            with suppress(OSError):
                await self._loop.run_in_executor(None, _start_drain, pump.descriptor, file)
        return tuple(process.pid for process in members)

    async def stop(self) -> None:
        """Stop the whole tree, whoever cancels meanwhile; a cancellation goes on afterwards."""
        cancelled: asyncio.CancelledError | None = None
        with anyio.CancelScope(shield=True):
            stopping = self._loop.run_in_executor(None, self._stop_blocking)
            while not stopping.done():
                try:
                    await asyncio.wait({stopping})
                except asyncio.CancelledError as error:
                    cancelled = error
        stopping.result()
        if cancelled is not None:
            raise cancelled

    def exit(self, timed_out: bool, left_behind: tuple[int, ...]) -> Exit:
        code = self.started.process.poll()
        killed = code is not None and code < 0
        return Exit(
            code=None if killed else code,
            signal=-code if code is not None and killed else None,
            timed_out=timed_out,
            duration=self._ended - self._began,
            stderr=bytes(self._errors),
            left_behind=left_behind,
        )

    def raise_failure(self) -> None:
        """Raise what ``on_output`` raised, if it did."""
        for pump in self._pumps:
            if pump.failure is not None:
                raise pump.failure

    def close(self) -> None:
        _running.discard(self)
        for pump in getattr(self, "_pumps", ()):
            pump.close()
        self._unwatch_exit()

    def _chunks(self) -> int:
        return sum(pump.chunks for pump in self._pumps)

    def _keep_errors(self, data: bytes) -> None:
        self._errors += data
        del self._errors[:-_STDERR_KEPT]

    def _on_end_of_output(self) -> None:
        if all(pump.ended for pump in self._pumps) and not self._all_read.done():
            self._all_read.set_result(None)
        if any(pump.failure for pump in self._pumps):
            self._set_exited()

    def _watch_exit(self) -> None:
        """Have `_on_exit` called when the process ends: by its pidfd, else from a thread."""
        try:
            self._exit_descriptor = os.pidfd_open(self.started.process.pid)
        except (AttributeError, OSError):
            threading.Thread(target=self._wait_in_thread, daemon=True).start()
        else:
            self._loop.add_reader(self._exit_descriptor, self._on_exit)

    def _wait_in_thread(self) -> None:
        self.started.process.wait()
        with suppress(RuntimeError):  # the loop is closed, so nobody waits any more
            self._loop.call_soon_threadsafe(self._on_exit)

    def _on_exit(self) -> None:
        self.started.process.poll()
        self._unwatch_exit()
        self._set_exited()

    def _set_exited(self) -> None:
        if not self._exited.done():
            self._ended = time.monotonic()
            self._exited.set_result(None)

    def _unwatch_exit(self) -> None:
        if self._exit_descriptor >= 0:
            self._loop.remove_reader(self._exit_descriptor)
            os.close(self._exit_descriptor)
            self._exit_descriptor = -1

    def _stop_blocking(self) -> None:
        import subprocess

        self.started.tree.stop(self.started.process.poll, STOP_GRACE)
        with suppress(subprocess.TimeoutExpired):
            self.started.process.wait(STOP_GRACE)


def _discard(data: bytes) -> None:
    """Take output that nobody asked for, so that the process does not wait for ever."""


def _start_drain(descriptor: int, file: OutputFile | None) -> None:
    from sloyd.workspace.left_behind import start_drain

    start_drain(descriptor, file)
