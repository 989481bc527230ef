"""The plain conversation: a line in, an answer out, for any terminal and for screen readers.

Ctrl-C stops the run; twice, or at the prompt, it leaves. Ctrl-D leaves. A line that ends in a
backslash goes on in the next one.
"""

from __future__ import annotations

import codecs
import signal
from collections.abc import Sequence

import anyio
from rich.console import Console

from sloyd import __version__
from sloyd.errors import SloydError
from sloyd.harness.coding_agent import CodingAgent
from sloyd.harness.commands import parse_shell, submit_message
from sloyd.harness.user_shell import UserShell
from sloyd.llm.messages import UserMessage
from sloyd.modes.line_reader import LineReader
from sloyd.modes.output import Output
from sloyd.modes.plain_door import PlainDoor
from sloyd.modes.plain_view import PlainView

__all__ = ["plain_door"]


async def plain_door(agent: CodingAgent, prompts: Sequence[UserMessage]) -> int:
    """Talk until the person leaves. Returns the exit code."""
    out = Output("stdout")
    console = Console(soft_wrap=False, highlight=False)
    view = PlainView(agent, console)
    agent.subscribe(view.show)
    view.note(f"Sloyd {__version__}, {agent.model.info.id}, in {agent.workspace.cwd}; /help helps")
    async with LineReader() as lines, anyio.create_task_group() as tasks:
        door = PlainDoor(view, lines, out)
        agent.door = door
        await agent.tell_notices()
        conversation = _Conversation(agent, view, out, door)
        tasks.start_soon(conversation.watch_interrupts, tasks.cancel_scope)
        for prompt in prompts:
            await conversation.take(prompt)
        await conversation.talk(lines)
        tasks.cancel_scope.cancel()
    return conversation.exit_code


class _Conversation:
    def __init__(self, agent: CodingAgent, view: PlainView, out: Output, door: PlainDoor) -> None:
        self._agent = agent
        self._door = door
        self._left = False
        self._shell = UserShell(agent)
        door.on_quit = self._leave
        self._view = view
        self._out = out
        self._running = False
        self._warned = False
        self.exit_code = 0

    async def talk(self, lines: LineReader) -> None:
        while not self._left and (text := await self._read(lines)) is not None:
            self._warned = False
            if text.strip():
                await self.take(UserMessage(content=text))

    async def take(self, entered: UserMessage) -> None:
        """Do what was entered: run a command, or say it to the model."""
        self._running = True
        try:
            shell = parse_shell(entered.content) if isinstance(entered.content, str) else None
            if shell is not None:
                await self._run_shell(*shell)
                return
            message = await submit_message(self._agent, entered, self._door)
            if message is not None:
                await self._agent.prompt(message)
        except SloydError as error:
            await self._door.notify(str(error), "error")
        finally:
            self._running = False

    async def _run_shell(self, command: str, excluded: bool) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")

        def show(data: bytes) -> None:
            self._view.stream(decoder.decode(data))

        ran = await self._shell.run(command, exclude_from_context=excluded, on_output=show)
        if ran.cancelled:
            self._view.note("stopped")
        elif ran.exit_code != 0:
            self._view.note(f"exit code {ran.exit_code}")
        self._view.end_line()

    def _leave(self) -> None:
        self._left = True

    async def watch_interrupts(self, scope: anyio.CancelScope) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                if number == signal.SIGTERM or self._warned:
                    self.exit_code = 128 + number
                    self._agent.abort()
                    scope.cancel()
                    return
                self._warned = True
                if self._running:
                    self._shell.stop()
                    self._agent.abort()
                else:
                    self._view.note("Ctrl-C again leaves")

    async def _read(self, lines: LineReader) -> str | None:
        """A message of one or more lines, or None at the end of input."""
        self._out.write("\n> ")
        parts: list[str] = []
        while (line := await lines.read()) is not None:
            if not line.endswith("\\"):
                return "\n".join([*parts, line])
            parts.append(line[:-1])
            self._out.write(". ")
        self._out.line()
        return "\n".join(parts) or None
