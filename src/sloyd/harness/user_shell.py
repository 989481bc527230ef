"""Commands that a person runs beside the conversation, by ``!command`` or a program's request.

They run as the bash tool's do, in the same environment. What they print is kept in the session, and
the model reads it with its next request unless it is to be kept from it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio

from sloyd.errors import AgentBusy, ToolError, UsageError, WorkspaceError
from sloyd.sessions.entries import BashExecution
from sloyd.tools.output import OutputAccumulator
from sloyd.tools.shell_environment import command_environment
from sloyd.tools.shells import command_output, find_shell
from sloyd.workspace.base import ProcessRequest

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = ["UserShell"]


class UserShell:
    """Runs one command at a time for an open agent."""

    def __init__(self, agent: CodingAgent) -> None:
        self._agent = agent
        self._scope: anyio.CancelScope | None = None

    @property
    def is_running(self) -> bool:
        """Whether a command runs."""
        return self._scope is not None

    def stop(self) -> None:
        """Stop the running command, with all that it started."""
        if self._scope is not None:
            self._scope.cancel()

    async def run(
        self,
        command: str,
        *,
        exclude_from_context: bool = False,
        on_output: Callable[[bytes], None] | None = None,
    ) -> BashExecution:
        """Run a command to its end and put it into the session.

        ``on_output`` gets the output as it comes. Raises `AgentBusy` while another one runs, and
        `UsageError` when the command cannot be started.
        """
        if self._scope is not None:
            raise AgentBusy("another command is running; stop it first")
        output = command_output(self._agent.toolbox.environment.settings)

        def feed(data: bytes) -> None:
            output.feed(data)
            if on_output is not None:
                on_output(data)

        code: int | None = None
        with anyio.CancelScope() as scope:
            self._scope = scope
            try:
                request = await self._request(command, output)
                ended = await self._agent.workspace.run(request, feed)
            except (WorkspaceError, ToolError, ValueError) as error:
                raise UsageError(f"the command cannot be run: {error}") from error
            finally:
                self._scope = None
            code = ended.code if ended.signal is None else 128 + ended.signal
        snapshot = output.finish()
        execution = BashExecution(
            command=command,
            output=snapshot.text,
            exit_code=code,
            cancelled=scope.cancelled_caught,
            truncated=snapshot.is_cut,
            full_output_path=snapshot.log_path,
            exclude_from_context=exclude_from_context,
        )
        await self._agent.conversation.add(execution)
        return execution

    async def _request(self, command: str, output: OutputAccumulator) -> ProcessRequest:
        environment = self._agent.toolbox.environment
        workspace, settings = environment.workspace, environment.settings
        prefix = f"{settings.command_prefix}\n" if settings.command_prefix else ""
        # A shell takes a script that begins with a dash for an option.
        script = f"{prefix}{command}" if prefix else f" {command}"
        return ProcessRequest(
            argv=(await find_shell(environment), "-c", script),
            cwd=workspace.cwd,
            environment=command_environment(workspace.environment, settings),
            on_left_behind=output.hand_over,
        )
