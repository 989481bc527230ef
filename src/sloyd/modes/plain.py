"""The plain conversation: a line in, an answer out, for any terminal and for screen readers.

Ctrl-C stops the run; twice, or at the prompt, it leaves. Ctrl-D leaves. A line that ends in a
backslash goes on in the next one.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence

import anyio
from rich.console import Console

from sloyd import __version__
from sloyd.agent.result import RunResult
from sloyd.harness.coding_agent import CodingAgent
from sloyd.llm.messages import UserMessage
from sloyd.modes.line_reader import LineReader
from sloyd.modes.output import Output
from sloyd.modes.plain_view import PlainView

__all__ = ["plain_door"]

_HELP = """\
Type what you want done. A line that ends in \\ goes on in the next one.
/help   this text
/tools  the tools that the model has
/quit   leave (or Ctrl-D)
Ctrl-C stops a run; pressed twice, it leaves."""


async def plain_door(agent: CodingAgent, prompts: Sequence[UserMessage]) -> int:
    """Talk until the person leaves. Returns the exit code."""
    out = Output("stdout")
    console = Console(soft_wrap=False, highlight=False)
    view = PlainView(agent, console)
    agent.subscribe(view.show)
    view.note(f"Sloyd {__version__}, {agent.model.info.id}, in {agent.workspace.cwd}; /help helps")
    conversation = _Conversation(agent, view, out)
    async with LineReader() as lines, anyio.create_task_group() as tasks:
        tasks.start_soon(conversation.watch_interrupts, tasks.cancel_scope)
        for prompt in prompts:
            await conversation.run(prompt)
        await conversation.talk(lines)
        tasks.cancel_scope.cancel()
    return conversation.exit_code


class _Conversation:
    def __init__(self, agent: CodingAgent, view: PlainView, out: Output) -> None:
        self._agent = agent
        self._view = view
        self._out = out
        self._running = False
        self._warned = False
        self.exit_code = 0

    async def talk(self, lines: LineReader) -> None:
        while (text := await self._read(lines)) is not None:
            self._warned = False
            match text.strip():
                case "":
                    continue
                case "/quit" | "/exit":
                    return
                case "/help":
                    self._out.line(_HELP)
                case "/tools":
                    for tool in self._agent.registry.active:
                        self._out.line(f"{tool.name}: {tool.prompt_snippet or tool.label}")
                case command if command.startswith("/") and " " not in command:
                    self._out.line(f"there is no command {command}; /help lists them")
                case _:
                    await self.run(UserMessage(content=text))

    async def run(self, prompt: UserMessage) -> RunResult:
        self._running = True
        try:
            return await self._agent.prompt(prompt)
        finally:
            self._running = False

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
