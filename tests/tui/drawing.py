"""Blocks drawn without an app."""

from __future__ import annotations

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from sloyd.modes.tui.block import Block
from sloyd.modes.tui.canvas import Canvas, Shown
from sloyd.modes.tui.theme import DARK
from sloyd.tools.registry import ToolRegistry

__all__ = ["canvas_of", "drawn", "fits"]


def canvas_of(
    width: int = 60,
    *,
    tools: bool = False,
    thinking: bool = False,
    hide_thinking: bool = False,
    registry: ToolRegistry | None = None,
) -> Canvas:
    """A canvas in the dark theme."""
    shown = Shown(tools=tools, thinking=thinking, hide_thinking=hide_thinking)
    return Canvas(width, DARK, Style(), shown=shown, cwd="/code", registry=registry)


def drawn(block: Block, canvas: Canvas | None = None) -> str:
    """The characters of a block, lines without the blanks at their ends."""
    strips = block.render(canvas or canvas_of())
    return "\n".join(strip.text.rstrip() for strip in strips)


def fits(strips: list[Strip], width: int) -> bool:
    """Whether no line is wider than it may be, and each knows its width."""
    return all(
        strip.cell_length <= width and strip.cell_length == cell_len(strip.text) for strip in strips
    )
