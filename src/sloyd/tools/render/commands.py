"""How ``bash``, ``grep``, ``find`` and ``ls`` look."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from sloyd.agent.tool import ToolResult
from sloyd.tools.definition import RenderState
from sloyd.tools.render.parts import (
    argument,
    call_line,
    elapsed,
    error_lines,
    folded,
    indented,
    note,
    result_text,
    shown_path,
)

__all__ = ["BashRenderer", "SearchRenderer"]

_BLANK_LINES = re.compile(r"\n{3,}")
_BASH_LINES = 5
_SEARCH_LINES = 10


class BashRenderer:
    """The command as a shell would echo it, and the end of its output."""

    def render_call(self, arguments: Mapping[str, Any], state: RenderState) -> RenderableType:
        timeout = arguments.get("timeout")
        line = Text(no_wrap=False, overflow="fold")
        line.append("$ ", "bold cyan")
        command = argument(arguments, "command").rstrip()
        lines, more = folded(command.split("\n"), state, keep=_SEARCH_LINES)
        line.append("\n  ".join(lines))
        if more:
            line.append(f"\n  ... {more} more lines", "dim")
        if timeout is not None:
            line.append(f" (timeout {timeout} s)", "dim")
        return line

    def render_result(
        self, arguments: Mapping[str, Any], result: ToolResult, state: RenderState
    ) -> RenderableType:
        # Output ends in a line break and the status follows after a blank line: one is enough here.
        text = _BLANK_LINES.sub("\n\n", result_text(result))
        lines, more = folded(text.split("\n") if text else [], state, keep=_BASH_LINES, end=True)
        style = "red" if result.is_error else ""
        parts: list[RenderableType] = [Text(line, style, overflow="fold") for line in lines]
        if more:
            parts.insert(0, note(f"... {more} earlier lines"))
        took = elapsed(state)
        return indented(*parts, note(took)) if took else indented(*parts)


class SearchRenderer:
    """What is searched where, and the first lines of what was found."""

    def __init__(self, label: str) -> None:
        self._label = label

    def render_call(self, arguments: Mapping[str, Any], state: RenderState) -> RenderableType:
        pattern = argument(arguments, "pattern")
        where = shown_path(arguments, state)
        glob = argument(arguments, "glob")
        extra = f"in {where}" + (f" ({glob})" if glob else "") if pattern else ""
        return call_line(self._label, pattern or where, extra)

    def render_result(
        self, arguments: Mapping[str, Any], result: ToolResult, state: RenderState
    ) -> RenderableType:
        if result.is_error:
            return error_lines(result, state)
        lines, more = folded(result_text(result).split("\n"), state, keep=_SEARCH_LINES)
        parts: list[RenderableType] = [Text(line, overflow="fold") for line in lines]
        if more:
            parts.append(note(f"... {more} more lines"))
        return indented(*parts)
