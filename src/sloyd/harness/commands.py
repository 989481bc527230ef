"""Slash commands: what a line that begins with ``/`` means, the same at every door.

A command does something and says nothing to the model, or it gives a text that is said to the
model: prompt templates and skills are commands of the second kind.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from sloyd.errors import AgentBusy, UsageError
from sloyd.harness.door import Door
from sloyd.llm.messages import UserMessage
from sloyd.text.suggestion import suggestion

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = [
    "Command",
    "CommandHandler",
    "CommandTable",
    "expand_prompt",
    "parse_command",
    "parse_shell",
    "submit",
    "submit_message",
]

CommandHandler: TypeAlias = "Callable[[CodingAgent, str, Door], Awaitable[str | None]]"
_Completions: TypeAlias = "Callable[[CodingAgent], Sequence[str]]"

# A path such as /etc/hosts at the beginning of a prompt is no command: it has a second slash.
_LINE = re.compile(r"/([A-Za-z0-9][\w.:-]*)(?:\s+(.*))?", re.DOTALL)


class Command(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One command.

    Attributes:
        name: without the slash.
        doc: one line for lists.
        run: gets the agent, the text behind the name and the door. A text that it returns is said
            to the model. Raises `SloydError` to fail.
        hint: the arguments, as help shows them.
        source: where it comes from: ``sloyd``, ``template``, ``skill`` or an extension's file.
        is_prompt: whether all that it does is to give a text for the model.
        while_running: whether it may be used during a run.
        complete: what the argument may be, for completion.
    """

    name: str
    doc: str
    run: CommandHandler
    hint: str = ""
    source: str = "sloyd"
    is_prompt: bool = False
    while_running: bool = False
    complete: _Completions | None = None

    @property
    def usage(self) -> str:
        """The command with its arguments, as it is typed."""
        return f"/{self.name} {self.hint}".rstrip()


class CommandTable:
    """All commands by name.

    The names of Sloyd's own commands are theirs alone. Of other commands with a name that is taken,
    or that several want, each gets a number behind it: ``name:1``, ``name:2``. ``added`` are those
    of a door, which take any name.
    """

    def __init__(
        self,
        own: Iterable[Command] = (),
        others: Iterable[Command] = (),
        added: dict[str, Command] | None = None,
    ) -> None:
        self._commands = {command.name: command for command in own}
        others = list(others)
        names = [command.name for command in others]
        count: dict[str, int] = {}
        for command in others:
            if command.name in self._commands or names.count(command.name) > 1:
                count[command.name] = count.get(command.name, 0) + 1
                command = msgspec.structs.replace(
                    command, name=f"{command.name}:{count[command.name]}"
                )
            self._commands[command.name] = command
        self._added = {} if added is None else added
        self._commands.update(self._added)

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands.values())

    def add(self, command: Command) -> None:
        """Add a command of a door's own, or put it in the place of the one of that name.

        It stays when the table is made anew.
        """
        self._added[command.name] = command
        self._commands[command.name] = command

    def get(self, name: str) -> Command | None:
        """The command of that name."""
        return self._commands.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in the order of the table."""
        return tuple(self._commands)


def parse_command(text: str) -> tuple[str, str] | None:
    """The name and the arguments of a text that may be a command; None for any other text."""
    found = _LINE.fullmatch(text.lstrip(" \t").rstrip())
    return (found.group(1), found.group(2) or "") if found else None


def parse_shell(text: str) -> tuple[str, bool] | None:
    """The command of ``!command``, and whether it is ``!!`` and so kept from the model."""
    line = text.lstrip(" \t").rstrip()
    if not line.startswith("!"):
        return None
    command = line.lstrip("!").strip() if line.startswith("!!") else line[1:].strip()
    return (command, line.startswith("!!")) if command else None


async def submit(agent: CodingAgent, text: str, door: Door) -> str | None:
    """Take what a person has entered: run a command, or give back what to say to the model.

    None means that nothing is left to say. An unknown command is an error where a person can mend
    it, and a text for the model where nobody can. Raises `SloydError` when the command fails.
    """
    parsed = parse_command(text)
    command = agent.commands.get(parsed[0]) if parsed else None
    if parsed is not None and command is not None and not command.is_prompt:
        if agent.is_running and not command.while_running:
            raise AgentBusy(f"/{command.name} has to wait until the agent is idle; stop it first")
        return await command.run(agent, parsed[1], door)
    text = await agent.transform_input(text)
    if parsed is not None and command is None and door.can_ask:
        raise _unknown(parsed[0], agent.commands.names)
    return await expand_prompt(agent, text)


async def submit_message(
    agent: CodingAgent, message: UserMessage, door: Door
) -> UserMessage | None:
    """`submit` for a whole message. What stands in one with files is no command."""
    if not isinstance(message.content, str):
        return message
    text = await submit(agent, message.content, door)
    return None if text is None else msgspec.structs.replace(message, content=text)


async def expand_prompt(agent: CodingAgent, text: str) -> str:
    """The text that ``/skill:name`` or the name of a template stands for; any other as it is."""
    parsed = parse_command(text)
    command = agent.commands.get(parsed[0]) if parsed else None
    if parsed is None or command is None or not command.is_prompt:
        return text
    return await command.run(agent, parsed[1], agent.door) or text


def _unknown(name: str, known: Sequence[str]) -> UsageError:
    hint = suggestion(name, known, "/help lists them", sign="/")
    return UsageError(f"there is no command /{name}{hint}")
