"""Programs of the user's own beside the agent: text in, output out, and an end in time."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import NamedTuple

import anyio
from anyio.abc import ByteReceiveStream, Process

from sloyd.errors import WorkspaceError

__all__ = ["ProgramResult", "run_program"]

_MOST_BYTES = 1_000_000


class ProgramResult(NamedTuple):
    """How a program ended and what it wrote, each stream up to a megabyte."""

    exit_code: int
    output: bytes
    errors: bytes


async def run_program(command: str, text: bytes, *, cwd: str, timeout: float) -> ProgramResult:
    """Run a shell command on this machine with ``text`` on its standard input.

    When it takes longer than ``timeout`` seconds, or the caller is cancelled, the program and all
    that it has started in its process group are killed. Raises `TimeoutError`, and
    `WorkspaceError` when it cannot be started.
    """
    try:
        process = await anyio.open_process(
            command,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise WorkspaceError(str(error.strerror), path=cwd, reason="io") from error
    output, errors = bytearray(), bytearray()
    try:
        with anyio.fail_after(timeout):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_feed, process, text)
                tasks.start_soon(_drain, process.stdout, output)
                tasks.start_soon(_drain, process.stderr, errors)
            exit_code = await process.wait()
    except BaseException:
        _kill(process)
        raise
    finally:
        with anyio.CancelScope(shield=True):
            await process.aclose()
    return ProgramResult(exit_code, bytes(output), bytes(errors))


async def _feed(process: Process, text: bytes) -> None:
    assert process.stdin is not None
    try:
        await process.stdin.send(text)
        await process.stdin.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        # It does not read what it is told; that is its own affair.
        return


async def _drain(stream: ByteReceiveStream | None, into: bytearray) -> None:
    assert stream is not None
    async for chunk in stream:
        into += chunk[: _MOST_BYTES - len(into)]


def _kill(process: Process) -> None:
    """Kill the program and what it has started."""
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        elif process.returncode is None:
            process.kill()
    except (ProcessLookupError, PermissionError):
        return
