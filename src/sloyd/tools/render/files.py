"""How ``read``, ``write`` and ``edit`` look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import RenderableType

from sloyd.agent.tool import ToolResult
from sloyd.text.terminal import plain_text
from sloyd.tools.definition import RenderState
from sloyd.tools.render.diff import render_diff
from sloyd.tools.render.parts import (
    call_line,
    code,
    error_lines,
    folded,
    images_of,
    indented,
    note,
    result_text,
    shown_path,
)

__all__ = ["EditRenderer", "ReadRenderer", "WriteRenderer"]

_PREVIEW = 10
_DIFF_ROWS = 40


class ReadRenderer:
    """The file and the lines that were asked for; its text only when unfolded."""

    def render_call(self, arguments: Mapping[str, Any], state: RenderState) -> RenderableType:
        offset, limit = arguments.get("offset"), arguments.get("limit")
        lines = ""
        if isinstance(offset, int) or isinstance(limit, int):
            first = offset if isinstance(offset, int) else 1
            lines = f":{first}-{first + limit - 1}" if isinstance(limit, int) else f":{first}-"
        return call_line("read", shown_path(arguments, state) + lines)

    def render_result(
        self, arguments: Mapping[str, Any], result: ToolResult, state: RenderState
    ) -> RenderableType:
        if result.is_error:
            return error_lines(result, state)
        text = result_text(result)
        if images_of(result):
            return indented(note(text))
        if not state.expanded:
            count = text.count("\n") + 1 if text else 0
            return indented(note(f"{count} line{'s' if count != 1 else ''}"))
        return indented(code(text, shown_path(arguments, state)))


class WriteRenderer:
    """The file and the beginning of what is written; what changed, when there was a file."""

    def render_call(self, arguments: Mapping[str, Any], state: RenderState) -> RenderableType:
        return call_line("write", shown_path(arguments, state))

    def render_result(
        self, arguments: Mapping[str, Any], result: ToolResult, state: RenderState
    ) -> RenderableType:
        if result.is_error:
            return error_lines(result, state)
        diff = _diff_of(result)
        if diff:
            most = None if state.expanded else _DIFF_ROWS
            return indented(render_diff(diff, most=most), note(result_text(result)))
        content = plain_text(str(arguments.get("content", "")))
        lines, more = folded(content.rstrip("\n").split("\n"), state, keep=_PREVIEW)
        parts: list[RenderableType] = [code("\n".join(lines), shown_path(arguments, state))]
        if more:
            parts.append(note(f"... {more} more lines"))
        return indented(*parts, note(result_text(result)))


class EditRenderer:
    """The file and the diff of the edit."""

    def render_call(self, arguments: Mapping[str, Any], state: RenderState) -> RenderableType:
        edits = arguments.get("edits")
        count = f"{len(edits)} replacements" if isinstance(edits, list) and len(edits) > 1 else ""
        return call_line("edit", shown_path(arguments, state), count)

    def render_result(
        self, arguments: Mapping[str, Any], result: ToolResult, state: RenderState
    ) -> RenderableType:
        if result.is_error:
            return error_lines(result, state)
        most = None if state.expanded else _DIFF_ROWS
        return indented(render_diff(_diff_of(result), most=most))


def _diff_of(result: ToolResult) -> str:
    details = result.details
    diff = details.get("diff") if isinstance(details, Mapping) else getattr(details, "diff", None)
    return diff if isinstance(diff, str) else ""
