"""Pieces that the renderers of all tools are put together from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.syntax import Syntax
from rich.text import Text

from sloyd.agent.tool import ToolResult
from sloyd.llm.messages import Image, text_of
from sloyd.text.terminal import plain_text
from sloyd.tools.definition import RenderState

__all__ = [
    "argument",
    "call_line",
    "code",
    "elapsed",
    "error_lines",
    "folded",
    "images_of",
    "indented",
    "note",
    "result_text",
    "shown_path",
]

_ERROR_LINES = 10
_TAB = "   "


def argument(arguments: Mapping[str, Any], *names: str) -> str:
    """The first of the named arguments that is there, as safe text; they may still stream in."""
    value = next((arguments[name] for name in names if arguments.get(name) is not None), "")
    return plain_text(value if isinstance(value, str) else str(value))


def shown_path(arguments: Mapping[str, Any], state: RenderState) -> str:
    """The call's path, relative when it lies inside the working directory."""
    path = argument(arguments, "path", "file_path")
    inside = state.cwd.rstrip("/\\")
    if inside and path.startswith((inside + "/", inside + "\\")):
        return path[len(inside) + 1 :]
    return path or "."


def call_line(label: str, subject: str, extra: str = "") -> Text:
    """A tool's name, what it works on, and the rest dim."""
    line = Text(no_wrap=False, overflow="fold")
    line.append(label, "bold cyan")
    if subject:
        line.append(" " + " ".join(subject.split("\n")))
    if extra:
        line.append(" " + extra, "dim")
    return line


def result_text(result: ToolResult) -> str:
    """The result's text without control characters and without blank lines at its end."""
    return plain_text(text_of(result.content)).rstrip()


def folded(
    lines: Sequence[str], state: RenderState, *, keep: int, end: bool = False
) -> tuple[list[str], int]:
    """The lines to draw and how many are left out; ``end`` keeps the last ones."""
    if state.expanded or len(lines) <= keep:
        return list(lines), 0
    return list(lines[-keep:] if end else lines[:keep]), len(lines) - keep


def note(text: str) -> Text:
    """A dim line about a result."""
    return Text(text, "dim")


def indented(*parts: RenderableType) -> RenderableType:
    """Results stand under their call, two columns in."""
    from rich.padding import Padding

    return Padding(Group(*parts), (0, 0, 0, 2), expand=False)


def error_lines(result: ToolResult, state: RenderState) -> RenderableType:
    """A failed call's text, red, folded to its first lines."""
    lines, more = folded(result_text(result).split("\n"), state, keep=_ERROR_LINES)
    parts: list[RenderableType] = [Text(line, "red") for line in lines]
    if more:
        parts.append(note(f"... {more} more lines"))
    return indented(*parts)


def elapsed(state: RenderState) -> str:
    """How long the call has run, or took."""
    if state.elapsed is None:
        return ""
    seconds = state.elapsed
    shown = f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {seconds % 60:.0f} s"
    return f"{'running' if state.running else 'took'} {shown}"


def code(text: str, path: str) -> RenderableType:
    """Text coloured by the language that its file name tells; plain when it tells none."""
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    shown = plain_text(text).expandtabs(len(_TAB)).rstrip("\n")
    try:
        lexer = get_lexer_for_filename(path.rsplit("/", 1)[-1] or "text.txt")
    except ClassNotFound:
        return Text(shown)
    return Syntax(shown, lexer, theme="ansi_dark", background_color="default", word_wrap=True)


def images_of(result: ToolResult) -> list[Image]:
    """The images of a result."""
    return [block for block in result.content if isinstance(block, Image)]
