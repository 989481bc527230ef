"""What stays on the terminal when the screen is gone: the end of the talk, and how to go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.style import Style
from textual.strip import Strip

from sloyd.modes.tui.block import Block
from sloyd.modes.tui.blocks import UserBlock
from sloyd.modes.tui.canvas import Canvas, layout_console

__all__ = ["farewell"]

_MOST_LINES = 120
_MOST_BLOCKS = 40


def farewell(blocks: Sequence[Block], canvas: Canvas, go_on: str, *, colours: bool = True) -> str:
    """The last prompt and what followed, on the terminal's own background, then ``go_on``.

    Lines are as wide as the canvas and end in line breaks; of many lines the last stay.
    """
    first = max(len(blocks) - _MOST_BLOCKS, 0)
    for place in range(len(blocks) - 1, first - 1, -1):
        if isinstance(blocks[place], UserBlock):
            first = place
            break
    plain = replace(canvas, base=Style())
    lines: list[Strip] = []
    for block in blocks[first:]:
        lines += block.render(plain)
    console = layout_console()
    last = lines[-_MOST_LINES:]
    shown = [strip.render(console) if colours else strip.text.rstrip() for strip in last]
    return "\n".join([*shown, "", go_on, ""]) if shown else ""
