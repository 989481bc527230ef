"""Driving a Sloyd process from Python: a typed client of ``sloyd --mode rpc``.

    async with RpcClient.start(["--model", "anthropic/claude-sonnet-5-5"]) as client:
        async for event in client.run("Which files are here?"):
            print(event)
        print(await client.get_last_assistant_text())

In the same process, `sloyd.CodingAgent` does the same with less between. Every method raises
`RpcError` when the process refuses the command or is gone.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from sloyd.agent.queues import QueueMode
from sloyd.errors import RpcError
from sloyd.harness.events import AgentSettled
from sloyd.llm.messages import Image, Message
from sloyd.llm.models import ThinkingLevel
from sloyd.modes import rpc_commands as commands
from sloyd.modes import rpc_results as results
from sloyd.rpc_connection import Answer, EventStream, RpcConnection, RpcEvent

__all__ = ["RpcClient"]

_Result = TypeVar("_Result")


class RpcClient:
    """A running Sloyd process. Make one with `RpcClient.start`."""

    def __init__(self, connection: RpcConnection) -> None:
        self._connection = connection

    @classmethod
    @asynccontextmanager
    async def start(
        cls,
        arguments: Sequence[str] = (),
        *,
        program: Sequence[str] | None = None,
        cwd: str | Path | None = None,
        environment: Mapping[str, str] | None = None,
        answer: Answer | None = None,
    ) -> AsyncIterator[RpcClient]:
        """Start a process; leaving the block ends it.

        Args:
            arguments: switches of ``sloyd`` beside ``--mode rpc``.
            program: what to start, by default this installation of Sloyd.
            environment: of the process; by default our own.
            answer: answers what commands and extensions ask a person; by default all is dismissed.

        Raises `RpcError` when the program cannot be started or says no (no key, wrong usage).
        """
        words = [*(program or (sys.executable, "-m", "sloyd")), "--mode", "rpc", *arguments]
        connection = RpcConnection(words, cwd=cwd, environment=environment, answer=answer)
        async with connection:
            client = cls(connection)
            # Only a process that has come up answers.
            await client.get_state()
            yield client

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process, once it has ended."""
        return self._connection.exit_code

    def events(self) -> EventStream:
        """The events from now on: close it, or use it in a ``with`` block."""
        return self._connection.events()

    # Talking

    async def run(
        self, message: str, images: Sequence[Image] = ()
    ) -> AsyncGenerator[RpcEvent, None]:
        """Prompt, and iterate over the events until the agent is done; leaving early aborts."""
        settled = False
        with self.events() as events:
            if await self.prompt(message, images) == "handled":
                return
            try:
                async for event in events:
                    settled = isinstance(event, AgentSettled)
                    yield event
                    if settled:
                        return
            finally:
                if not settled and self.exit_code is None:
                    await self.abort()

    async def ask(self, message: str, images: Sequence[Image] = ()) -> str:
        """Prompt, and wait for the text of the answer.

        Raises `RpcError` when the run ends in any other way than with an answer.
        """
        end: RpcEvent | None = None
        async for event in self.run(message, images):
            end = event
        if end is None:
            return ""
        if not isinstance(end, AgentSettled):
            raise RpcError("the process ended during the run", command="prompt")
        if end.outcome != "done":
            raise RpcError(end.error_message or f"the run was {end.outcome}", command="prompt")
        return await self.get_last_assistant_text() or ""

    async def prompt(
        self,
        message: str,
        images: Sequence[Image] = (),
        *,
        streaming_behavior: Literal["steer", "followUp"] | None = None,
    ) -> Literal["started", "queued", "handled"]:
        """Say something; returns what became of it, not what the model says."""
        command = commands.Prompt(
            message=message, images=tuple(images), streaming_behavior=streaming_behavior
        )
        result = await self._ask(command, results.Disposition)
        return result.disposition

    async def steer(self, message: str, images: Sequence[Image] = ()) -> None:
        """Say something before the running model's next request."""
        await self._connection.ask(commands.Steer(message=message, images=tuple(images)))

    async def follow_up(self, message: str, images: Sequence[Image] = ()) -> None:
        """Say something when the run would end."""
        await self._connection.ask(commands.FollowUp(message=message, images=tuple(images)))

    async def resume(self) -> None:
        """Go on where the conversation stands."""
        await self._connection.ask(commands.Resume())

    async def abort(self) -> None:
        """Stop the run or the compaction, and wait for its end."""
        await self._connection.ask(commands.Abort())

    async def clear_queue(self) -> results.Queues:
        """Take back what waits to be said."""
        return await self._ask(commands.ClearQueue(), results.Queues)

    async def set_steering_mode(self, mode: QueueMode) -> None:
        """How many waiting messages are said after a turn."""
        await self._connection.ask(commands.SetSteeringMode(mode=mode))

    async def set_follow_up_mode(self, mode: QueueMode) -> None:
        """How many waiting messages are said when a run would end."""
        await self._connection.ask(commands.SetFollowUpMode(mode=mode))

    # What answers

    async def set_model(self, model_id: str, provider: str | None = None) -> results.ModelObject:
        """Let another model answer."""
        return await self._ask(
            commands.SetModel(model_id=model_id, provider=provider), results.ModelObject
        )

    async def cycle_model(self) -> results.CycledModel | None:
        """Let the next model answer; None when there is no other."""
        return await self._may_ask(commands.CycleModel(), results.CycledModel)

    async def get_available_models(self) -> tuple[results.ModelObject, ...]:
        """The models that can be chosen."""
        found = await self._ask(commands.GetAvailableModels(), results.Models)
        return found.models

    async def set_thinking_level(self, level: ThinkingLevel) -> None:
        """Let the model reason more or less."""
        await self._connection.ask(commands.SetThinkingLevel(level=level))

    async def cycle_thinking_level(self) -> ThinkingLevel | None:
        """The next level; None when there is no other."""
        found = await self._may_ask(commands.CycleThinkingLevel(), results.Level)
        return None if found is None else found.level

    async def get_available_thinking_levels(self) -> tuple[ThinkingLevel, ...]:
        """The levels that the model knows."""
        found = await self._ask(commands.GetAvailableThinkingLevels(), results.Levels)
        return found.levels

    async def get_tools(self) -> tuple[results.ToolInfo, ...]:
        """All tools, and which the model has."""
        found = await self._ask(commands.GetTools(), results.Tools)
        return found.tools

    async def set_active_tools(self, names: Sequence[str]) -> None:
        """Let the model have exactly these tools."""
        await self._connection.ask(commands.SetActiveTools(names=tuple(names)))

    async def get_commands(self) -> tuple[results.CommandInfo, ...]:
        """The slash commands that a prompt may hold."""
        found = await self._ask(commands.GetCommands(), results.Commands)
        return found.commands

    # The context

    async def compact(self, instructions: str | None = None) -> results.Compacted:
        """Summarise older messages."""
        return await self._ask(
            commands.Compact(custom_instructions=instructions), results.Compacted
        )

    async def set_auto_compaction(self, enabled: bool) -> None:
        """Whether older messages are summarised before the window is full."""
        await self._connection.ask(commands.SetAutoCompaction(enabled=enabled))

    async def set_auto_retry(self, enabled: bool) -> None:
        """Whether an answer that broke off is asked for again."""
        await self._connection.ask(commands.SetAutoRetry(enabled=enabled))

    async def abort_retry(self) -> None:
        """Give up a retry that has not begun."""
        await self._connection.ask(commands.AbortRetry())

    async def drop(self, entry_id: str) -> tuple[str, ...]:
        """Take a message out of the context; returns all entries that went."""
        found = await self._ask(commands.Drop(entry_id=entry_id), results.EntryIds)
        return found.entry_ids

    async def restore(self, entry_id: str) -> tuple[str, ...]:
        """Put a message back; returns all entries that came."""
        found = await self._ask(commands.Restore(entry_id=entry_id), results.EntryIds)
        return found.entry_ids

    async def bash(self, command: str, *, exclude_from_context: bool = False) -> results.BashResult:
        """Run a shell command beside the conversation."""
        wanted = commands.Bash(command=command, exclude_from_context=exclude_from_context)
        return await self._ask(wanted, results.BashResult)

    async def abort_bash(self) -> None:
        """Stop the shell command."""
        await self._connection.ask(commands.AbortBash())

    # The session

    async def get_state(self) -> results.State:
        """What the agent is and does."""
        return await self._ask(commands.GetState(), results.State)

    async def get_messages(self) -> tuple[Message, ...]:
        """The messages that the next request carries."""
        found = await self._ask(commands.GetMessages(), results.Messages)
        return found.messages

    async def get_last_assistant_text(self) -> str | None:
        """The text of the last whole answer."""
        found = await self._ask(commands.GetLastAssistantText(), results.LastText)
        return found.text

    async def get_session_stats(self) -> results.Stats:
        """Messages, calls, tokens and money of the whole session."""
        return await self._ask(commands.GetSessionStats(), results.Stats)

    async def new_session(self) -> bool:
        """Begin a fresh session; False when an extension kept it from being made."""
        return await self._changed(commands.NewSession())

    async def switch_session(self, session: str | Path) -> bool:
        """Go on in another session: a path, an id, the beginning of one, or a name."""
        return await self._changed(commands.SwitchSession(session_path=str(session)))

    async def fork(self, entry_id: str) -> str:
        """Go on in a copy that ends before a user message; returns that message's text."""
        found = await self._ask(commands.Fork(entry_id=entry_id), results.Forked)
        return found.text

    async def clone(self) -> bool:
        """Go on in a copy of the active branch."""
        return await self._changed(commands.Clone())

    async def navigate(self, entry_id: str | None, *, summarise: bool = False) -> bool:
        """Go on from another entry of the tree."""
        return await self._changed(commands.Navigate(entry_id=entry_id, summarise=summarise))

    async def set_session_name(self, name: str) -> None:
        """Name the session."""
        await self._connection.ask(commands.SetSessionName(name=name))

    async def get_fork_messages(self) -> tuple[results.ForkMessage, ...]:
        """The messages before which a copy can end."""
        found = await self._ask(commands.GetForkMessages(), results.ForkMessages)
        return found.messages

    async def get_entries(self, since: str | None = None) -> list[dict[str, Any]]:
        """The session's entries in the order of the file, or those after one."""
        found = await self._ask(commands.GetEntries(since=since), results.Entries)
        return [msgspec.json.decode(entry) for entry in found.entries]

    async def get_tree(self) -> results.EntryTree:
        """The session's entries as a tree."""
        return await self._ask(commands.GetTree(), results.EntryTree)

    async def export_html(self, output_path: str | Path | None = None) -> str:
        """Write the session as a page; returns where it is."""
        named = None if output_path is None else str(output_path)
        found = await self._ask(commands.ExportHtml(output_path=named), results.Exported)
        return found.path

    async def _ask(self, command: commands.Command, kind: type[_Result]) -> _Result:
        result = await self._may_ask(command, kind)
        if result is None:
            raise RpcError("the response has no data", command=type(command).__name__)
        return result

    async def _may_ask(self, command: commands.Command, kind: type[_Result]) -> _Result | None:
        result = await self._connection.ask(command)
        return result if isinstance(result, kind) else None

    async def _changed(self, command: commands.Command) -> bool:
        return not (await self._ask(command, results.Cancelled)).cancelled
