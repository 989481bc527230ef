"""The RPC door: commands as lines of JSON on standard input, responses and events on standard
output.

Every command gets one response, every bad line one that says what is wrong with it. Commands are
taken in their order; one that takes long does not keep the next from being taken, save for those
that must not overlap with it. See ``docs/rpc.md``.
"""

from __future__ import annotations

import logging
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint

from sloyd.errors import SloydError, UsageError
from sloyd.harness.coding_agent import AgentOptions, CodingAgent
from sloyd.harness.events import Notice
from sloyd.modes import rpc_models, rpc_prompting, rpc_sessions, rpc_shell
from sloyd.modes.byte_lines import LONGEST_LINE, ByteLines, LineTooLong
from sloyd.modes.protocol_output import ProtocolOutput
from sloyd.modes.rpc_commands import Command
from sloyd.modes.rpc_context import Handling, RpcContext
from sloyd.modes.rpc_protocol import BadLine, Response, UiResponse, decode_line
from sloyd.modes.session_remarks import session_remarks
from sloyd.modes.signals import stopping_on_signals

__all__ = ["HANDLERS", "rpc_door"]

HANDLERS: dict[type[Command], Handling] = {
    **rpc_prompting.HANDLERS,
    **rpc_models.HANDLERS,
    **rpc_sessions.HANDLERS,
    **rpc_shell.HANDLERS,
}

_MOST_WAITING = 64
"""Commands that may be under way at once; a client that sends more gets errors."""

_PATIENCE = 1.0
"""Seconds that the next command waits for one that is slower than expected."""

_log = logging.getLogger(__name__)


async def rpc_door(options: AgentOptions) -> int:
    """Open an agent and serve a client until it closes standard input. Returns the exit code.

    Raises as `CodingAgent.open` does, and `ReaderGone` or `OutputFailed` when the client cannot
    be written to.
    """
    # Before anything is loaded that might print, or read.
    output = ProtocolOutput.claim()
    lines = ByteLines.claim_standard_input()
    async with CodingAgent.open(options) as agent:
        if agent.arguments:
            word = agent.arguments[0]
            raise UsageError(f"--mode rpc takes no prompt on the command line, such as {word}")
        closing = anyio.Event()

        def stop() -> None:
            closing.set()
            output.give_up_soon()

        output.on_failure = closing.set
        async with (
            stopping_on_signals(stop) as interruption,
            anyio.create_task_group() as tasks,
            lines,
        ):
            await _Server(agent, output, tasks, closing).serve(lines)
        if interruption.exit_code is None:
            output.raise_failure()
        return interruption.exit_code or 0


class _Server:
    def __init__(
        self, agent: CodingAgent, output: ProtocolOutput, tasks: TaskGroup, closing: anyio.Event
    ) -> None:
        self._context = RpcContext(agent, output, tasks)
        self._output = output
        self._tasks = tasks
        self._closing = closing
        self._turn = anyio.Semaphore(1, max_value=1)
        self._under_way = 0
        self._taken = anyio.Event()

    async def serve(self, lines: ByteLines) -> None:
        """Take commands until there are no more, or until we are to close; then end in order."""
        context, agent = self._context, self._context.agent
        context.door.on_question = self._stop_waiting
        context.door.on_quit = self._closing.set
        agent.door = context.door
        agent.subscribe(context.hear)
        remarks = session_remarks(agent.session)
        agent.notices += [Notice(message=remark, level="warning") for remark in remarks]
        async with anyio.create_task_group() as reading:
            # An extension that begins may ask the person, whose answer must be read.
            reading.start_soon(agent.tell_notices)
            reading.start_soon(self._read, lines)
            await self._closing.wait()
            reading.cancel_scope.cancel()
        context.door.close()
        context.shell.stop()
        await context.abort()
        with anyio.move_on_after(_PATIENCE):
            while self._under_way:
                await self._taken.wait()
                self._taken = anyio.Event()
        self._tasks.cancel_scope.cancel()

    def _stop_waiting(self) -> None:
        """A command asks the person at the client, whose answer must be read."""
        self._taken.set()

    async def _read(self, lines: ByteLines) -> None:
        async for line in lines:
            # A response that has begun is written to its end.
            with anyio.CancelScope(shield=True):
                await self._take(line)
            if self._closing.is_set():
                return
        self._closing.set()

    async def _take(self, line: bytes | LineTooLong) -> None:
        try:
            if isinstance(line, LineTooLong):
                raise BadLine(f"The line is longer than {LONGEST_LINE} bytes")
            if not line.strip():
                return
            command = decode_line(line)
            if isinstance(command, UiResponse):
                self._context.door.answer(command)
                return
            if self._under_way >= _MOST_WAITING:
                raise BadLine("Too many commands are under way", _name(command), command.id)
        except BadLine as error:
            await self._output.write(error.response)
            return
        await self._begin(command)

    async def _begin(self, command: Command) -> None:
        handling = HANDLERS[type(command)]
        if not handling.alone and not handling.slow:
            await self._carry_out(command, handling)
            return
        self._under_way += 1
        taken = self._taken = anyio.Event()
        self._tasks.start_soon(self._carry_out_apart, command, handling, taken)
        if handling.slow:
            # It begins before the next command does.
            await checkpoint()
        else:
            with anyio.move_on_after(_PATIENCE):
                await taken.wait()

    async def _carry_out_apart(
        self, command: Command, handling: Handling, taken: anyio.Event
    ) -> None:
        try:
            if handling.alone:
                async with self._turn:
                    if not self._closing.is_set():
                        await self._carry_out(command, handling)
            else:
                await self._carry_out(command, handling)
        finally:
            self._under_way -= 1
            taken.set()
            self._taken.set()

    async def _carry_out(self, command: Command, handling: Handling) -> None:
        data: Any = None
        failure: str | None = None
        try:
            data = await handling.run(self._context, command)
        except SloydError as error:
            failure = str(error)
        except Exception as error:  # noqa: BLE001 - told to the client, and to the log
            _log.exception("the command %s failed", _name(command))
            failure = f"{type(error).__name__}: {error}"
        await self._output.write(
            Response(
                id=command.id,
                command=_name(command),
                success=failure is None,
                data=msgspec.UNSET if failure is not None or not command.result else data,
                error=failure,
            )
        )
        self._context.launch()


def _name(command: Command) -> str:
    return str(type(command).__struct_config__.tag)
