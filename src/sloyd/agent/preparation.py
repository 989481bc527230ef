"""Before a call runs: find the tool, check the arguments, ask whether it may.

The outcome is a call that is ready, or the result of one that will not run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from sloyd.agent import refusals
from sloyd.agent.hooks import Block, CallDecision, ChangeArguments, PendingCall
from sloyd.agent.state import Desk
from sloyd.agent.tool import ToolResult
from sloyd.llm.messages import AssistantMessage, ToolCall

__all__ = ["prepared_call"]


async def prepared_call(
    desk: Desk, message: AssistantMessage, call: ToolCall
) -> PendingCall | ToolResult:
    """The call ready to run, or the answer to a call that will not run."""
    if desk.supervisor.aborted:
        return refusals.aborted()
    if message.stop_reason == "length":
        return ToolResult.of(refusals.CUT_OFF, is_error=True)
    tool = desk.state.tools.get(call.name)
    if tool is None:
        return refusals.unknown_tool(call.name, desk.state.tools)
    if call.arguments_error is not None:
        return refusals.invalid_arguments(call.name, call.arguments_error)
    pending = _checked(PendingCall(call, tool, None, message), call.arguments)
    if isinstance(pending, ToolResult):
        return pending
    return await _gated(desk, pending)


def _checked(pending: PendingCall, raw: Mapping[str, Any]) -> PendingCall | ToolResult:
    """The call with the arguments as its tool takes them."""
    tool = pending.tool
    try:
        arguments = tool.validate(tool.prepare(raw))
    except Exception as error:  # noqa: BLE001 - the model is told, and the log
        return refusals.reported(pending.call.name, error)
    return msgspec.structs.replace(pending, arguments=arguments)


async def _gated(desk: Desk, pending: PendingCall) -> PendingCall | ToolResult:
    """Ask the hook whether the call may run, and with which arguments."""
    hook = desk.state.hooks.before_tool_call
    if hook is None:
        return pending

    async def decide() -> CallDecision:
        return await hook(pending)

    job = desk.supervisor.start(decide)
    await desk.supervisor.wait([job])
    if job.error is not None:
        return refusals.reported(pending.call.name, job.error)
    if desk.supervisor.aborted:
        return refusals.aborted()
    if not job.completed:
        return ToolResult.of("Not run: the check before the call was cancelled.", is_error=True)
    decision = job.value
    if isinstance(decision, Block):
        return msgspec.structs.replace(
            ToolResult.of(decision.reason, is_error=True), terminate=decision.terminate
        )
    if isinstance(decision, ChangeArguments):
        return _checked(pending, dict(decision.arguments))
    return pending
