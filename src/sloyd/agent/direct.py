"""One call of one tool, without a model or a run around it."""

from __future__ import annotations

from sloyd.agent import refusals
from sloyd.agent.tool import AgentTool, ToolCallContext, ToolResult

__all__ = ["run_call"]


async def run_call(tool: AgentTool, call_id: str, raw_arguments: object) -> ToolResult:
    """What the model would get for this call; a failure is a result with ``is_error``."""
    try:
        arguments = tool.validate(tool.prepare(raw_arguments))
        return await tool.execute(ToolCallContext(call_id), arguments)
    except Exception as error:  # noqa: BLE001 - told to whoever called, and to the log
        return refusals.reported(tool.name, error)
