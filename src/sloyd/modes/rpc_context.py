"""What the handlers of RPC commands share: the agent, the person's door, and the run under way."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskGroup

from sloyd.agent.queues import QueueMode
from sloyd.errors import AgentBusy, AgentError, SloydError, UsageError
from sloyd.harness.coding_agent import CodingAgent
from sloyd.harness.events import AgentSettled, HarnessEvent
from sloyd.harness.user_shell import UserShell
from sloyd.llm.messages import Image, Text, UserMessage
from sloyd.modes.protocol_output import ProtocolOutput
from sloyd.modes.rpc_door import RpcDoor

__all__ = ["Handling", "RpcContext", "user_message"]

_log = logging.getLogger(__name__)


class Handling(msgspec.Struct, frozen=True):
    """How one kind of command is carried out.

    Attributes:
        run: gets the context and the command; gives the ``data`` of the response. Raises
            `SloydError` to refuse.
        alone: whether it waits for its turn among those that change what the agent works on.
        slow: whether further commands are taken before it is done.
    """

    run: Callable[[RpcContext, Any], Awaitable[Any]]
    alone: bool = False
    slow: bool = False


class RpcContext:
    """One open agent behind the protocol.

    Attributes:
        busy: whether a run was accepted that has not settled.
    """

    def __init__(self, agent: CodingAgent, output: ProtocolOutput, tasks: TaskGroup) -> None:
        self.agent = agent
        self.output = output
        self.door = RpcDoor(output.write)
        self.shell = UserShell(agent)
        self.steering_mode: QueueMode = agent.settings.sessions.steering
        self.follow_up_mode: QueueMode = agent.settings.sessions.follow_up
        self.busy = False
        self._idle = anyio.Event()
        self._tasks = tasks
        self._accepted: list[UserMessage | None] = []

    async def hear(self, event: HarnessEvent) -> None:
        """Take an event of the agent and pass it on to the client."""
        if isinstance(event, AgentSettled):
            # The client may answer this event with a prompt, which must find the agent idle.
            self._settle()
        await self.output.write(event)

    def demand_idle(self) -> None:
        """Raise `AgentBusy` while a run is under way."""
        if self.busy:
            raise AgentBusy("The agent is running; send abort and wait for its response first")

    def accept(self, message: UserMessage | None) -> None:
        """Reserve the agent for a run that `launch` begins; None goes on where it stands."""
        self.busy = True
        self._idle = anyio.Event()
        self._accepted.append(message)

    def launch(self) -> None:
        """Begin what was accepted: the client has been told of it."""
        accepted, self._accepted = self._accepted, []
        for message in accepted:
            self._tasks.start_soon(self._run, message)

    def queue(self, message: UserMessage, *, steer: bool) -> bool:
        """Let a message wait for the run; False when the run takes none any more."""
        try:
            (self.agent.steer if steer else self.agent.follow_up)(message)
        except AgentError:
            return False
        return True

    async def wait_until_idle(self) -> None:
        """Wait until no run is under way."""
        while self.busy:
            await self._idle.wait()

    async def abort(self) -> None:
        """Stop the run, or the compaction, and wait for its end."""
        self.agent.abort()
        while self.busy:
            # A run that was accepted just now may not have begun when it was first told.
            with anyio.move_on_after(0.2):
                await self.wait_until_idle()
            if self.busy:
                self.agent.abort()

    def _settle(self) -> None:
        self.busy = False
        self._idle.set()

    async def _run(self, message: UserMessage | None) -> None:
        agent = self.agent
        try:
            if message is None:
                await agent.resume()
            else:
                await agent.prompt(message)
            return
        except SloydError as error:
            failure = str(error)
        except Exception as error:  # noqa: BLE001 - told to the client, and to the log
            _log.exception("a run failed")
            failure = f"{type(error).__name__}: {error}"
        # Whoever waits for the end of the run must hear of it, however it ended.
        await self.hear(AgentSettled(outcome="error", error_message=failure))


def user_message(text: str, images: tuple[Image, ...]) -> UserMessage:
    """A prompt as a message. Raises `UsageError` for a blank one, which providers refuse."""
    if not images and not text.strip():
        raise UsageError("The message is empty")
    return UserMessage(content=(Text(text), *images) if images else text)
