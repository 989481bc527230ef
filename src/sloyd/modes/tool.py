"""The tool door: run one tool, or a stream of calls, without a model.

``sloyd tool NAME JSON`` prints what the model would read; with ``--json`` the whole result.
``sloyd tool --jsonl`` reads ``{"id", "tool", "arguments"}`` a line and answers each with
``{"id", "content", "details", "isError"}``, in the same order, flushed one by one. Every tool is
there, active or not.
"""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Sequence
from typing import Any

import anyio

from sloyd.agent.direct import run_call
from sloyd.agent.tool import AgentTool, ToolResult
from sloyd.errors import UsageError
from sloyd.harness.toolbox import Toolbox, user_tool_settings
from sloyd.llm.messages import Text
from sloyd.modes.byte_lines import LONGEST_LINE, ByteLines, LineTooLong
from sloyd.modes.output import Output, json_line
from sloyd.modes.protocol_output import ProtocolOutput
from sloyd.modes.signals import stopping_on_signals
from sloyd.tools.definition import wrap

__all__ = ["tool_door"]

_USAGE = "usage: sloyd tool [--cwd DIR] [--json] NAME JSON, or sloyd tool [--cwd DIR] --jsonl"


def tool_door(arguments: Sequence[str]) -> int:
    """Run the door with the words behind ``sloyd tool``; returns the exit code.

    0 is a result, 1 an error result; raises `UsageError` (exit 2) for anything else.
    """
    words = list(arguments)
    cwd = _take_value(words, "--cwd")
    as_json = _take_switch(words, "--json")
    if _take_switch(words, "--jsonl"):
        if words:
            raise UsageError(f"--jsonl takes no {words[0]!r}; {_USAGE}")
        return anyio.run(_stream, cwd)
    if len(words) != 2:
        raise UsageError(_USAGE)
    return anyio.run(_single, cwd, words[0], words[1], as_json)


def _take_switch(words: list[str], name: str) -> bool:
    if name not in words:
        return False
    words.remove(name)
    return True


def _take_value(words: list[str], name: str) -> str | None:
    if name not in words:
        return None
    at = words.index(name)
    if at + 1 == len(words):
        raise UsageError(f"{name} needs a value; {_USAGE}")
    value = words[at + 1]
    del words[at : at + 2]
    return value


async def _single(cwd: str | None, name: str, text: str, as_json: bool) -> int:
    tools = _tools(cwd)
    if name not in tools:
        raise UsageError(f"there is no tool {name!r}; there are: {', '.join(tools)}")
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the arguments are not JSON: {error}") from error
    result: ToolResult | None = None
    with anyio.CancelScope() as scope:
        async with stopping_on_signals(scope.cancel) as interruption:
            result = await run_call(tools[name], "call_1", raw)
    if interruption.exit_code is not None or result is None:
        return interruption.exit_code or 1
    out = Output("stdout")
    if as_json:
        out.write(json_line(_result_object(result)))
    else:
        out.line(_readable(result))
    return 1 if result.is_error else 0


async def _stream(cwd: str | None) -> int:
    tools = _tools(cwd)
    output = ProtocolOutput.claim()
    with anyio.CancelScope() as scope:
        output.on_failure = scope.cancel
        async with (
            stopping_on_signals(scope.cancel) as interruption,
            ByteLines.claim_standard_input() as lines,
        ):
            number = 0
            async for line in lines:
                if isinstance(line, LineTooLong) or line.strip():
                    number += 1
                    identity, result = await _answer(tools, line, number)
                    await output.write({"id": identity, **_result_object(result)})
    if interruption.exit_code is not None:
        return interruption.exit_code
    output.raise_failure()
    return 0


async def _answer(
    tools: dict[str, AgentTool], line: bytes | LineTooLong, number: int
) -> tuple[object, ToolResult]:
    """The id of one request line and the result of its call, or what is wrong with the line."""
    if isinstance(line, LineTooLong):
        return None, ToolResult.of(f"The line is longer than {LONGEST_LINE} bytes.", is_error=True)
    try:
        # Bytes that are not UTF-8 survive as surrogate escapes: file names may hold such.
        text = line.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
        request = json.loads(text)
    except ValueError as error:
        return None, ToolResult.of(f"The line is not JSON: {error}", is_error=True)
    except RecursionError:
        return None, ToolResult.of("The line is not JSON: nested too deeply", is_error=True)
    if not isinstance(request, dict):
        return None, ToolResult.of(
            'The line must be an object like {"id": 1, "tool": "read", "arguments": {...}}.',
            is_error=True,
        )
    identity, name = request.get("id"), request.get("tool")
    if isinstance(identity, dict | list):
        return None, ToolResult.of('The "id" must be a text, a number or null.', is_error=True)
    if isinstance(name, str):
        name = name.strip()  # some models write " read" or "read\n"
    if not isinstance(name, str) or name not in tools:
        listed = ", ".join(tools)
        said = f"There is no tool {name!r}" if name is not None else 'The object has no "tool"'
        return identity, ToolResult.of(f"{said}. There are: {listed}.", is_error=True)
    return identity, await run_call(tools[name], f"call_{number}", request.get("arguments"))


def _tools(cwd: str | None) -> dict[str, AgentTool]:
    definitions = Toolbox.local(cwd, settings=user_tool_settings(os.environ)).definitions
    return {definition.name: wrap(definition) for definition in definitions}


def _result_object(result: ToolResult) -> dict[str, Any]:
    return {"content": result.content, "details": result.details, "isError": result.is_error}


def _readable(result: ToolResult) -> str:
    """What the model reads, with a line in the place of each image."""
    return "\n".join(
        block.text if isinstance(block, Text) else f"[{block.mime_type} image, base64]"
        for block in result.content
    )
