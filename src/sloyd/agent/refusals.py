"""What a model reads about a call that was not run, or that did not end as it should.

Failures that are the code's fault, not the model's, go to the log as well.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

import msgspec

from sloyd.agent.tool import ToolResult
from sloyd.errors import SloydError, ToolError

__all__ = [
    "CUT_OFF",
    "aborted",
    "failure",
    "invalid_arguments",
    "reported",
    "sound",
    "still_running",
    "tool_error_in",
    "unknown_tool",
    "unprocessed",
]

_log = logging.getLogger(__name__)

CUT_OFF = (
    "Not run: your answer was cut off at the output limit, so the arguments of this call may be"
    " incomplete. Call again with complete arguments, in smaller pieces: for a long file, write a"
    " first part and add the rest with further calls."
)


def aborted() -> ToolResult:
    """For a call that an abort ended, or that it kept from running."""
    return ToolResult.of("Operation aborted", is_error=True)


def still_running(tool_name: str, seconds: float) -> ToolResult:
    """For a call whose tool did not stop within the grace time."""
    return ToolResult.of(
        f"Operation aborted, but {tool_name} did not stop within {seconds:g} s and is still"
        " running. What it does may yet take effect: check before you rely on the present state.",
        is_error=True,
    )


def unprocessed() -> ToolResult:
    """For a call that had ended when the abort came, but whose result was still being checked."""
    return ToolResult.of(
        "Operation aborted after the call had ended and before its result was checked. Its effects"
        " stand.",
        is_error=True,
    )


def invalid_arguments(tool_name: str, reason: str) -> ToolResult:
    """For arguments that are no JSON object; ``reason`` repeats what was received."""
    return ToolResult.of(f'Invalid arguments for tool "{tool_name}": {reason}', is_error=True)


def unknown_tool(name: str, known: Iterable[str]) -> ToolResult:
    """For a call of a tool that there is not; the nearest names come first."""
    import difflib

    names = sorted(
        known, key=lambda each: -difflib.SequenceMatcher(None, name.lower(), each.lower()).ratio()
    )
    there = f"The tools are: {', '.join(names)}." if names else "There are no tools."
    return ToolResult.of(f'There is no tool "{name}". {there}', is_error=True)


def failure(tool_name: str, error: BaseException) -> ToolResult:
    """For what a tool or a hook raised."""
    tool_error = tool_error_in(error)
    if tool_error is not None:
        return ToolResult.of(tool_error.for_model, details=tool_error.details, is_error=True)
    text = " ".join(str(error).split())
    if not isinstance(error, SloydError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return ToolResult.of(f"{tool_name} failed: {text}", is_error=True)


def tool_error_in(error: BaseException) -> ToolError | None:
    """The tool error itself, also out of the group that a task group wraps around it."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error if isinstance(error, ToolError) else None


def reported(name: str, error: BaseException) -> ToolResult:
    """The result for what was raised; what nobody meant to raise goes to the log too."""
    if tool_error_in(error) is None and not isinstance(error, SloydError):
        _log.error("%s raised", name, exc_info=error)
    return failure(name, error)


def sound(name: str, result: object) -> ToolResult:
    """The result if it is one, with its content as a tuple."""
    if not isinstance(result, ToolResult):
        text = f"{name} returned {type(result).__name__} instead of a result"
        _log.error("%s", text)
        return ToolResult.of(text, is_error=True)
    return msgspec.structs.replace(result, content=tuple(result.content))
