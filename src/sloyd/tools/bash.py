"""The bash tool: one shell command, its output in true order, and a certain end."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec

from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.errors import ToolError, WorkspaceError
from sloyd.text.truncate import MAX_BYTES, MAX_LINES, format_size, truncate_line
from sloyd.tools.definition import ToolDefinition, ToolRenderer
from sloyd.tools.environment import ShellCall, ToolEnvironment
from sloyd.tools.foreign_names import BASH, mended
from sloyd.tools.output import OutputAccumulator, OutputSnapshot
from sloyd.tools.shell_environment import command_environment
from sloyd.tools.shells import command_output, find_shell
from sloyd.workspace.base import Exit, ProcessRequest
from sloyd.workspace.signal_names import signal_name

__all__ = ["MAX_TIMEOUT", "BashParameters", "bash_tool"]

MAX_TIMEOUT: Final = 2_147_483.647
"""The longest timeout in seconds, 24 days: pi's limit. Anything above is a mistake."""

_UPDATE_INTERVAL: Final = 0.1
"""Seconds between two partial updates."""

_LONGEST_ARGUMENT: Final = 100_000
"""Bytes of a command that go to the shell as an argument; Linux takes 131,071 in one."""

_PIDS_NAMED: Final = 10
"""Process ids of jobs left behind that the text names; the details have all."""

_LONGEST_COMMAND_KEPT: Final = 2000
"""Characters of the command as it ran, in the details; the call itself has all of it."""

_READ_SCRIPT: Final = "exec 3<&0 </dev/null; . /dev/fd/3"
"""Runs the script that waits on standard input, with an empty standard input of its own."""

_CLOSE_SCRIPT: Final = "exec 3<&-; "


class BashParameters(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of a call."""

    command: Annotated[str, msgspec.Meta(description="Shell command to run")]
    timeout: Annotated[
        float | None,
        msgspec.Meta(
            description="Seconds (not milliseconds) after which the command and all that it "
            "started are stopped; 0 means no limit"
        ),
    ] = None


def bash_tool(environment: ToolEnvironment) -> ToolDefinition[BashParameters]:
    """The definition of the bash tool in an environment."""
    bash = _Bash(environment)
    return ToolDefinition(
        name="bash",
        label="bash",
        description=(
            "Run a command in a shell, starting in the working directory; each call is a shell of "
            "its own. Gives stdout and stderr in their order, and says so when the command fails. "
            f"Of long output you get the last {MAX_LINES} lines or {MAX_BYTES // 1024}KB, "
            "whichever is less, and the name of a file that has all of it. There is no terminal "
            "and no input, so nothing interactive works. The call ends when the shell does: a job "
            "started with & runs on, and its process id and output file are named."
        ),
        parameters=BashParameters,
        execute=bash.execute,
        prompt_snippet="Run shell commands: builds, tests, git, searches",
        prepare=mended(BASH),
        renderer=_renderer,
    )


def _renderer() -> ToolRenderer:
    from sloyd.tools.render.commands import BashRenderer

    return BashRenderer()


@dataclass(slots=True)
class _Bash:
    """The tool in one environment; remembers which shell it found."""

    environment: ToolEnvironment
    shell: str | None = None

    async def execute(self, call: ToolCallContext, parameters: BashParameters) -> ToolResult:
        timeout = _seconds(parameters.timeout, self.environment.settings.default_timeout)
        run = _Run(
            await self._shell_call(parameters.command),
            timeout,
            command_output(self.environment.settings),
        )
        request = self._request(run, await self._shell())
        updates = _Updates(call, run)

        def on_output(data: bytes) -> None:
            run.output.feed(data)
            updates.wake()

        try:
            await updates.begin()
            ended = await self.environment.workspace.run(request, on_output)
            await updates.flush()
        except asyncio.CancelledError:
            run.output.finish()
            # An abort's result holds what the command had said; see `AgentTool`.
            raise run.aborted() from None
        except WorkspaceError as error:
            run.output.finish()
            raise _not_started(error, run, request) from error
        finally:
            updates.stop()
        return run.result(ended, run.output.finish())

    async def _shell_call(self, command: str) -> ShellCall:
        settings = self.environment.settings
        if settings.command_prefix:
            command = f"{settings.command_prefix}\n{command}"
        variables = command_environment(self.environment.workspace.environment, settings)
        call = ShellCall(command, self.environment.workspace.cwd, variables)
        if settings.spawn_hook is not None:
            call = settings.spawn_hook(call)
        if "\0" in call.command:
            raise ToolError(
                "The command holds a NUL character, which no shell can be given. Send it without; "
                "to produce one, let the command print it: printf '\\0'."
            )
        return call

    async def _shell(self) -> str:
        """The program that runs commands, found once."""
        if self.shell is None:
            self.shell = await find_shell(self.environment)
        return self.shell

    def _request(self, run: _Run, shell: str) -> ProcessRequest:
        try:
            script = run.call.command.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise ToolError(
                "The command holds half of a surrogate pair at character "
                f"{error.start + 1}, which is no text. Send it without."
            ) from None
        if len(script) > _LONGEST_ARGUMENT:
            argument, stdin = _READ_SCRIPT, _CLOSE_SCRIPT.encode() + script
        else:
            argument, stdin = run.call.command, None
            if argument.startswith(("-", "+")):
                argument = f" {argument}"  # else the shell takes it for an option
        return ProcessRequest(
            argv=(shell, "-c", argument),
            cwd=run.call.cwd,
            environment=run.call.environment,
            stdin=stdin,
            timeout=run.timeout,
            on_left_behind=run.output.hand_over,
        )


@dataclass(frozen=True, slots=True)
class _Run:
    """One command under way, and how its result reads."""

    call: ShellCall
    timeout: float | None
    output: OutputAccumulator

    def result(self, ended: Exit, output: OutputSnapshot) -> ToolResult:
        parts = [_shown(output), output.notice()]
        if ended.left_behind:
            parts.append(_left_behind(ended.left_behind, output))
        status = _status(ended, self.timeout)
        parts.append(status)
        return ToolResult.of(
            "\n\n".join(part for part in parts if part),
            details=self.details(output, ended),
            is_error=bool(status),
        )

    def partial(self) -> ToolResult:
        output = self.output.snapshot()
        return ToolResult.of(output.text, details=_output_details(output))

    def aborted(self) -> ToolError:
        output = self.output.snapshot()
        parts = [output.text, output.notice(), "Command aborted"]
        details = self.details(output) | {"aborted": True}
        return ToolError("\n\n".join(part for part in parts if part), details=details)

    def details(self, output: OutputSnapshot, ended: Exit | None = None) -> dict[str, Any]:
        command, _ = truncate_line(self.call.command, _LONGEST_COMMAND_KEPT)
        details: dict[str, Any] = {"command": command, "cwd": self.call.cwd}
        if ended is not None:
            details["exitCode"] = _exit_code(ended)
            details["durationSeconds"] = round(ended.duration, 3)
            if ended.signal is not None:
                details["signal"] = signal_name(ended.signal)
            if ended.timed_out:
                details["timedOut"] = True
            if ended.left_behind:
                details["leftBehind"] = list(ended.left_behind)
        return details | _output_details(output)


class _Updates:
    """Partial results while a command runs: the first output at once, then ten a second."""

    def __init__(self, call: ToolCallContext, run: _Run) -> None:
        self._call = call
        self._run = run
        self._taken = self._reported = 0
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Tell that the command is about to start."""
        if self._call.on_update is not None:
            await self._call.update(ToolResult())

    def wake(self) -> None:
        """There is new output."""
        if self._call.on_update is not None:
            self._taken += 1
            self._news.set()
            if self._task is None:
                self._task = asyncio.create_task(self._report_for_ever())

    def stop(self) -> None:
        """Report nothing more."""
        if self._task is not None:
            self._task.cancel()

    async def flush(self) -> None:
        """Report what has not been reported yet, and nothing more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            if self._reported < self._taken:
                await self._report()

    async def _report_for_ever(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            await self._report()
            await asyncio.sleep(_UPDATE_INTERVAL)

    async def _report(self) -> None:
        taken = self._taken
        await self._call.update(self._run.partial())
        self._reported = taken


def _seconds(timeout: float | None, default: float | None) -> float | None:
    """The timeout to use. Raises `ToolError` for one that makes no sense; 0 means none."""
    if timeout is None:
        return default
    if not math.isfinite(timeout) or timeout < 0:
        raise ToolError(
            f"Invalid timeout: must be a finite number of seconds, not {timeout}. "
            "Leave it out, or use 0, for no limit."
        )
    if timeout > MAX_TIMEOUT:
        raise ToolError(
            f"Invalid timeout: maximum is {MAX_TIMEOUT} seconds. "
            "Leave it out, or use 0, for no limit."
        )
    return timeout or None


def _shown(output: OutputSnapshot) -> str:
    """The output, or a word for its absence: providers refuse a text that is only blank."""
    return output.text if output.text.strip() else "(no output)"


def _exit_code(ended: Exit) -> int | None:
    """The code as a shell tells it: 128 + n for a process that signal n ended."""
    return ended.code if ended.signal is None else 128 + ended.signal


def _status(ended: Exit, timeout: float | None) -> str:
    """How a command failed; empty when it did not."""
    if ended.timed_out:
        seconds = timeout or 0.0
        number = int(seconds) if seconds == int(seconds) else seconds
        return f"Command timed out after {number} seconds"
    if ended.signal is not None:
        return (
            f"Command exited with code {128 + ended.signal} "
            f"(the shell was killed by {signal_name(ended.signal)})"
        )
    if ended.code is None:
        return "Command terminated without an exit code"
    if ended.code in _KILLED:
        killer = signal_name(ended.code - 128)
        return f"Command exited with code {ended.code} (usually: killed by {killer})"
    return f"Command exited with code {ended.code}" if ended.code else ""


_KILLED: Final = frozenset({128 + number for number in (6, 9, 11, 15)})
"""Codes that shells give for a child killed by ABRT, KILL (also for want of memory), SEGV, TERM."""


def _left_behind(pids: Sequence[int], output: OutputSnapshot) -> str:
    names = ", ".join(str(pid) for pid in pids[:_PIDS_NAMED])
    if len(pids) > _PIDS_NAMED:
        names += f" and {len(pids) - _PIDS_NAMED} more"
    word = "process" if len(pids) == 1 else "processes"
    later = f" Later output goes to: {output.log_path}" if output.log_path else ""
    return f"[Still running in the background: {word} {names}.{later}]"


def _output_details(output: OutputSnapshot) -> dict[str, Any]:
    details: dict[str, Any] = {}
    if output.is_cut:
        cut = output.truncation
        details["truncation"] = {
            "truncated": True,
            "truncatedBy": cut.truncated_by,
            "totalLines": cut.total_lines,
            "totalBytes": cut.total_bytes,
            "outputLines": cut.output_lines,
            "outputBytes": cut.output_bytes,
            "lastLinePartial": cut.last_line_partial,
            "maxLines": cut.max_lines,
            "maxBytes": cut.max_bytes,
        }
    if output.log_path is not None:
        details["fullOutputPath"] = output.log_path
    return details


def _not_started(error: WorkspaceError, run: _Run, request: ProcessRequest) -> ToolError:
    """What to say when the shell could not be started; the output so far is kept."""
    if error.path == request.cwd and error.reason in ("missing", "not-directory"):
        text = f"Working directory does not exist: {request.cwd}\nCannot execute bash commands."
    elif error.reason == "too-large":
        size = format_size(sum(len(k) + len(v) for k, v in (request.environment or {}).items()))
        text = f"The environment is too large to start a command: {size}. Unset what is not needed."
    else:
        text = f"Could not run the command: {error}"
    said = run.output.snapshot()
    shown = f"{said.text}\n\n{text}" if said.text else text
    return ToolError(shown, details=run.details(said))
