"""The RPC command that runs a shell command, and its output on the way."""

from __future__ import annotations

import codecs

import anyio

from sloyd.errors import SloydError
from sloyd.modes import rpc_commands as commands
from sloyd.modes.rpc_context import Handling, RpcContext
from sloyd.modes.rpc_protocol import BashExecutionUpdate
from sloyd.modes.rpc_results import BashResult

__all__ = ["HANDLERS"]

_MOST_WAITING = 1 << 20
"""Bytes of output that wait for the client; of more, the oldest are left out."""


async def _bash(context: RpcContext, command: commands.Bash) -> BashResult:
    stream = _Stream(context, command.id)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stream.write)
            try:
                ran = await context.shell.run(
                    command.command,
                    exclude_from_context=command.exclude_from_context,
                    on_output=stream.feed,
                )
            finally:
                stream.end()
    except BaseExceptionGroup as group:
        refused, _ = group.split(SloydError)
        raise (group if refused is None else refused.exceptions[0]) from None
    return BashResult(
        output=ran.output,
        exit_code=ran.exit_code,
        cancelled=ran.cancelled,
        truncated=ran.truncated,
        full_output_path=ran.full_output_path,
    )


class _Stream:
    """Output on its way to the client. The command does not wait for a slow client."""

    def __init__(self, context: RpcContext, identity: commands.CommandId | None) -> None:
        self._context = context
        self._id = identity
        self._waiting = bytearray()
        self._left_out = 0
        self._ended = False
        self._woken = anyio.Event()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> None:
        self._waiting += data
        over = len(self._waiting) - _MOST_WAITING
        if over > 0:
            del self._waiting[:over]
            self._left_out += over
        self._woken.set()

    def end(self) -> None:
        self._ended = True
        self._woken.set()

    async def write(self) -> None:
        while not self._ended or self._waiting:
            await self._woken.wait()
            self._woken = anyio.Event()
            notice = f"\n[{self._left_out} bytes left out]\n" if self._left_out else ""
            text = notice + self._decoder.decode(bytes(self._waiting), self._ended)
            self._waiting.clear()
            self._left_out = 0
            if text:
                await self._context.output.write(BashExecutionUpdate(text, self._id))
            if self._ended:
                self._woken.set()


async def _abort(context: RpcContext, _command: commands.AbortBash) -> None:
    context.shell.stop()


HANDLERS: dict[type[commands.Command], Handling] = {
    commands.Bash: Handling(_bash, slow=True),
    commands.AbortBash: Handling(_abort),
}
