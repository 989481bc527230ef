"""A part of the transcript: it knows what it says and draws itself when it is looked at."""

from __future__ import annotations

from typing import Protocol

from textual.strip import Strip

from sloyd.modes.tui.canvas import Canvas

__all__ = ["Block", "BlockBase", "estimated_height"]


class Block(Protocol):
    """What the transcript asks of its parts.

    Attributes:
        version: grows with every change, so that kept lines are known to be old.
    """

    version: int

    @property
    def text(self) -> str:
        """All that it says, for search; also what is folded away."""

    @property
    def can_open(self) -> bool:
        """Whether there is more of it than its folded form shows."""

    def toggle(self, canvas: Canvas) -> None:
        """Open it, or fold it again."""

    def estimate(self, width: int) -> int:
        """About how many lines it takes; for blocks that nobody has looked at yet."""

    def render(self, canvas: Canvas) -> list[Strip]:
        """Its lines."""


class BlockBase:
    """What most blocks share.

    Attributes:
        opened: whether it alone was opened or folded; None while it follows the rest.
    """

    def __init__(self) -> None:
        self.version = 0
        self.opened: bool | None = None

    @property
    def text(self) -> str:
        return ""

    @property
    def can_open(self) -> bool:
        return False

    def toggle(self, canvas: Canvas) -> None:
        self.opened = not self.is_open(canvas)
        self.version += 1

    def is_open(self, canvas: Canvas) -> bool:
        """Whether it is shown whole."""
        return canvas.shown.tools if self.opened is None else self.opened

    def estimate(self, width: int) -> int:
        return 1 + estimated_height(self.text, width)


def estimated_height(text: str, width: int) -> int:
    """About how many lines a text takes."""
    return text.count("\n") + len(text) // max(width, 1) + 1
