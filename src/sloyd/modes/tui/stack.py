"""The blocks of a transcript above each other: what lies on which line, drawn only when asked for.

Heights of blocks that nobody has seen are estimated. Lines are kept for the blocks that were drawn
last, so memory follows what is on the screen and not how long the conversation is.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.text import Text
from textual.strip import Strip

from sloyd.modes.tui.block import Block
from sloyd.modes.tui.canvas import Canvas
from sloyd.modes.tui.heights import Heights
from sloyd.modes.tui.safe_text import safe_text

__all__ = ["Stack"]

_log = logging.getLogger(__name__)

_KEPT_LINES = 1_000
_KEPT_BLOCKS = 8
"""As many stay however long they are: those around the view must not push each other out."""
_LONGEST_PLAIN = 2_000


@dataclass(slots=True)
class _Drawn:
    version: int
    strips: list[Strip]


class Stack:
    """All blocks, on one canvas at a time."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._blocks: list[Block] = []
        self._places: dict[int, int] = {}
        self._heights = Heights()
        self._drawn: OrderedDict[int, _Drawn] = OrderedDict()
        self._kept = 0

    def __len__(self) -> int:
        return len(self._blocks)

    @property
    def canvas(self) -> Canvas:
        return self._canvas

    @property
    def blocks(self) -> Sequence[Block]:
        """All blocks, from the top."""
        return self._blocks

    @property
    def height(self) -> int:
        """Lines of all, as far as known."""
        return self._heights.total

    def extend(self, blocks: Iterable[Block]) -> None:
        """Put blocks below the last."""
        for block in blocks:
            self._places[id(block)] = len(self._blocks)
            self._blocks.append(block)
            self._heights.append(block.estimate(self._canvas.width))

    def clear(self) -> None:
        """Take all away."""
        self._blocks.clear()
        self._places.clear()
        self._heights = Heights()
        self._forget()

    def redraw(self, canvas: Canvas) -> None:
        """Draw on another canvas from now on."""
        same_width = canvas.width == self._canvas.width
        self._canvas = canvas
        self._forget()
        if not same_width:
            self._heights = Heights(block.estimate(canvas.width) for block in self._blocks)

    def place(self, block: Block) -> int | None:
        """Which place a block has; None when it is not there."""
        return self._places.get(id(block))

    def top(self, place: int) -> int:
        """The line at which a block begins."""
        return self._heights.top(place)

    def find(self, line: int) -> tuple[int, int]:
        """The place that holds a line, and which of its lines that is."""
        place = self._heights.find(line)
        return place, line - self._heights.top(place)

    def measure(self, place: int) -> tuple[int, int]:
        """Draw a block if need be; its height, and by how much that differs from before."""
        height = len(self.strips(place))
        return height, self._heights.set(place, height)

    def strips(self, place: int) -> list[Strip]:
        """The lines of a block."""
        block = self._blocks[place]
        drawn = self._drawn.get(place)
        if drawn is not None and drawn.version == block.version:
            self._drawn.move_to_end(place)
            return drawn.strips
        version = block.version
        strips = _drawn(block, self._canvas)
        if drawn is not None:
            self._kept -= len(drawn.strips)
        self._drawn[place] = _Drawn(version, strips)
        self._drawn.move_to_end(place)
        self._kept += len(strips)
        self._trim()
        return strips

    def line(self, number: int) -> Strip | None:
        """One line; None below the last."""
        if not self._blocks or number >= self._heights.total:
            return None
        place, offset = self.find(number)
        strips = self.strips(place)
        return strips[offset] if offset < len(strips) else None

    def _trim(self) -> None:
        while self._kept > _KEPT_LINES and len(self._drawn) > _KEPT_BLOCKS:
            _, oldest = self._drawn.popitem(last=False)
            self._kept -= len(oldest.strips)

    def _forget(self) -> None:
        self._drawn.clear()
        self._kept = 0


def _drawn(block: Block, canvas: Canvas) -> list[Strip]:
    """The lines of a block; as plain text where a renderer, perhaps an extension's, fails."""
    try:
        return block.render(canvas)
    except Exception as error:  # noqa: BLE001 - code of others, and its fault is shown
        _log.exception("a %s cannot be drawn", type(block).__name__)
        words = f"[cannot be drawn: {type(error).__name__}: {error}]"
        style = canvas.theme.style("error")
        text = Text(f"{safe_text(words)}\n{safe_text(block.text)[:_LONGEST_PLAIN]}", style)
        return [canvas.blank(), *canvas.strips(text)]
