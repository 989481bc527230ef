"""Runs one plan of tool calls with Sloyd's tools and prints ``{"seconds", "error", "result"}``.

usage: python sloyd_tools.py TOOL PLAN_JSON

The calls take the way of the agent loop: definition, `wrap`, prepare, validate, execute. With
``"journal": true`` each change is recorded for undo, as `sloyd` itself does.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sloyd.agent.tool import AgentTool, ToolCallContext, ToolResult
from sloyd.errors import ToolError
from sloyd.llm.messages import text_of
from sloyd.tools.builtin import builtin_tools
from sloyd.tools.definition import wrap
from sloyd.tools.environment import ChangeRecorder, ToolEnvironment
from sloyd.workspace.local import LocalWorkspace

__all__ = ["main"]


async def _ignore(_: ToolResult) -> None:
    return


def _fill(call: dict[str, Any], number: int) -> dict[str, Any]:
    filled: dict[str, Any] = json.loads(json.dumps(call).replace("#N#", str(number)))
    return filled


async def _call(tool: AgentTool, arguments: dict[str, Any], number: int) -> ToolResult:
    context = ToolCallContext(f"call-{number}", on_update=_ignore)
    return await tool.execute(context, tool.validate(tool.prepare(arguments)))


async def _run(tool: AgentTool, plan: dict[str, Any]) -> ToolResult:
    calls, repeat = plan["calls"], plan["repeat"]
    if plan["parallel"]:
        each = (_call(tool, _fill(calls[0], number), number) for number in range(repeat))
        return (await asyncio.gather(*each))[-1]
    result = ToolResult()
    for number in range(repeat):
        result = await _call(tool, _fill(calls[number % len(calls)], number), number)
    return result


def _recorder(directory: str) -> ChangeRecorder:
    from sloyd.sessions.journal import Journal

    return Journal(Path(directory), max_bytes=1 << 30)


async def _measure(name: str, plan: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="sloyd-bench-") as journal:
        changes = _recorder(journal) if plan["journal"] else None
        environment = ToolEnvironment(LocalWorkspace(), changes=changes)
        [definition] = [each for each in builtin_tools(environment) if each.name == name]
        tool = wrap(definition)
        result, error = ToolResult(), None
        start = time.perf_counter()
        try:
            result = await _run(tool, plan)
        except ToolError as failure:
            error = failure.for_model[:300]
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "error": error, "result": text_of(result.content)[-120:]}


def main() -> None:
    """Run the plan of the command line."""
    print(json.dumps(asyncio.run(_measure(sys.argv[1], json.loads(sys.argv[2])))))


if __name__ == "__main__":
    main()
