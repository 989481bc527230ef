"""Hooks that are programs: ``[[hooks.EVENT]]`` in ``config.toml``.

    [[hooks.before_tool_call]]
    command = "python3 ~/bin/check.py"
    tools = ["bash"]
    timeout = 10

The program gets the event as one JSON object on standard input. Before a tool call it answers with
``{"decision": "allow" | "deny" | "change", "reason": ..., "arguments": {...}}`` on standard output;
nothing at all means allow, and exit code 2 means deny, with standard error as the reason. After a
tool call, ``{"decision": "change", "content": "text"}`` replaces the result. A check that fails,
hangs or answers nonsense is no permission: the call is not run.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from sloyd.agent.events import AgentEnd, AgentStart, TurnEnd
from sloyd.agent.hooks import Block, CallDecision, ChangeArguments, FinishedCall, PendingCall
from sloyd.agent.tool import ToolResult
from sloyd.errors import WorkspaceError
from sloyd.harness.door import Tell
from sloyd.harness.hook_chain import HookChain

__all__ = ["HOOK_EVENTS", "CommandHook", "CommandHooks", "read_command_hooks"]

HOOK_EVENTS = ("before_tool_call", "after_tool_call", "run_start", "run_end", "turn_end")
_DENIED = 2


class CommandHook(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One hook of the settings. ``tools`` are names, or patterns with ``*``; none means all."""

    command: Annotated[str, msgspec.Meta(min_length=1)]
    tools: tuple[str, ...] = ()
    timeout: Annotated[float, msgspec.Meta(gt=0)] = 10.0

    def sees(self, tool: str) -> bool:
        """Whether the hook wants calls of this tool."""
        return not self.tools or any(fnmatchcase(tool, pattern) for pattern in self.tools)


class _Answer(msgspec.Struct, frozen=True):
    decision: Literal["allow", "deny", "change"] = "allow"
    reason: str = ""
    arguments: dict[str, Any] | None = None
    content: str | None = None


class _Failed(Exception):
    """The program gave no answer that can be used."""


def read_command_hooks(
    table: object, files: Sequence[Path] = ()
) -> tuple[dict[str, list[CommandHook]], list[str]]:
    """The hooks of the table ``hooks``, by event; and what in it was skipped, for people.

    ``files`` are those that the table comes from, in their order.
    """
    hooks: dict[str, list[CommandHook]] = {}
    problems: list[str] = []
    if not isinstance(table, Mapping):
        return {}, [_place(files, "", 0) + "hooks must be tables such as [[hooks.run_end]]"]
    for event, rows in table.items():
        if event not in HOOK_EVENTS:
            known = ", ".join(HOOK_EVENTS)
            problems.append(f"{_place(files, event, 0)}no event {event}; there are: {known}")
            continue
        for number, row in enumerate(rows if isinstance(rows, list) else [rows]):
            try:
                hooks.setdefault(event, []).append(msgspec.convert(row, CommandHook))
            except msgspec.ValidationError as error:
                problems.append(f"{_place(files, event, number)}hooks.{event}: {error}; skipped")
    return hooks, problems


def _place(files: Sequence[Path], event: str, number: int) -> str:
    """``file:line: `` of the so-many-th hook of an event."""
    header = re.compile(rf"\s*\[\[?\s*hooks\s*\.\s*[\"']?{re.escape(event)}")
    for path in files:
        try:
            lines = path.read_text("utf-8-sig").splitlines()
        except (OSError, ValueError):
            continue
        found = [line for line, text in enumerate(lines, 1) if header.match(text)]
        if number < len(found):
            return f"{path}:{found[number]}: "
        number -= len(found)
    return f"{files[-1]}: " if files else ""


class CommandHooks:
    """Runs the hooks of the settings at their events."""

    def __init__(
        self,
        hooks: Mapping[str, list[CommandHook]],
        cwd: str,
        session_id: Callable[[], str],
        tell: Tell,
    ) -> None:
        self._hooks = hooks
        self._cwd = cwd
        self._session_id = session_id
        self._tell = tell

    def chain(self) -> HookChain:
        """The hooks around tool calls."""
        return HookChain(
            before_tool_call=[
                self._before(hook) for hook in self._hooks.get("before_tool_call", ())
            ],
            after_tool_call=[self._after(hook) for hook in self._hooks.get("after_tool_call", ())],
        )

    async def dispatch(self, event: object) -> None:
        """Tell the hooks of runs and turns what has happened."""
        match event:
            case AgentStart():
                await self._notify("run_start", {})
            case AgentEnd():
                facts = {"outcome": event.outcome, "errorMessage": event.error_message}
                await self._notify("run_end", facts)
            case TurnEnd():
                await self._notify("turn_end", {"turn": event.turn, "message": event.message})
            case _:
                pass

    def _before(self, hook: CommandHook) -> Callable[[PendingCall], Awaitable[CallDecision]]:
        async def decide(pending: PendingCall) -> CallDecision:
            call = pending.call
            if not hook.sees(call.name):
                return None
            facts = {"toolCallId": call.id, "toolName": call.name, "arguments": call.arguments}
            try:
                answer = await self._asked(hook, "before_tool_call", facts)
            except _Failed as error:
                await self._tell(f"hooks.before_tool_call: {error}", "warning")
                return Block(f"Not run: the check of this call failed. {error}")
            if answer.decision == "deny":
                return Block(
                    answer.reason or f"The hook `{hook.command}` does not allow this call."
                )
            if answer.decision == "change" and answer.arguments is not None:
                return ChangeArguments(answer.arguments)
            return None

        return decide

    def _after(self, hook: CommandHook) -> Callable[[FinishedCall], Awaitable[ToolResult | None]]:
        async def change(finished: FinishedCall) -> ToolResult | None:
            call, result = finished.call, finished.result
            if not hook.sees(call.name):
                return None
            facts = {
                "toolCallId": call.id,
                "toolName": call.name,
                "arguments": call.arguments,
                "content": result.content,
                "details": result.details,
                "isError": result.is_error,
            }
            try:
                answer = await self._asked(hook, "after_tool_call", facts)
            except _Failed as error:
                await self._tell(f"hooks.after_tool_call: {error}", "warning")
                return None
            if answer.decision == "change" and answer.content is not None:
                return ToolResult.of(
                    answer.content, details=result.details, is_error=result.is_error
                )
            return None

        return change

    async def _notify(self, event: str, facts: Mapping[str, Any]) -> None:
        for hook in self._hooks.get(event, ()):
            try:
                await self._asked(hook, event, facts)
            except _Failed as error:
                await self._tell(f"hooks.{event}: {error}", "warning")

    async def _asked(self, hook: CommandHook, event: str, facts: Mapping[str, Any]) -> _Answer:
        """What the program answers. Raises `_Failed` when that is nothing that can be used."""
        from sloyd.harness.programs import run_program

        common = {"event": event, "sessionId": self._session_id(), "cwd": self._cwd}
        line = msgspec.json.encode({**common, **facts}, enc_hook=str) + b"\n"
        shown = f"`{hook.command}`"
        try:
            done = await run_program(hook.command, line, cwd=self._cwd, timeout=hook.timeout)
        except TimeoutError:
            raise _Failed(f"{shown} did not answer within {hook.timeout:g} s.") from None
        except WorkspaceError as error:
            raise _Failed(f"{shown} could not be run: {error}.") from error
        words = done.errors.decode("utf-8", "replace").strip()
        if done.exit_code == _DENIED:
            return _Answer("deny", words)
        if done.exit_code != 0:
            last = words.splitlines()[-1] if words else "it wrote nothing on standard error"
            raise _Failed(f"{shown} ended with exit code {done.exit_code}: {last}")
        if not done.output.strip():
            return _Answer()
        try:
            return msgspec.json.decode(done.output, type=_Answer)
        except msgspec.DecodeError as error:
            raise _Failed(f"the answer of {shown} cannot be used: {error}.") from None
