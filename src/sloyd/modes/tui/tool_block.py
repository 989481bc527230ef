"""A tool call as a card: the call, its state, and its result as the tool's renderer draws it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from rich.console import RenderableType
from rich.text import Text
from textual.strip import Strip

from sloyd.agent.tool import ToolResult
from sloyd.llm.messages import Image, UserContent, text_of
from sloyd.modes.summary import call_summary
from sloyd.modes.tui.block import BlockBase
from sloyd.modes.tui.blocks import image_lines
from sloyd.modes.tui.canvas import Canvas
from sloyd.modes.tui.safe_text import safe_text
from sloyd.modes.tui.theme import Role
from sloyd.text.terminal import plain_text
from sloyd.tools.definition import RenderState, ToolRenderer

__all__ = ["CallState", "ToolBlock"]

CallState: TypeAlias = Literal["writing", "running", "done", "failed", "stopped"]

_MARKS: dict[CallState, tuple[str, Role]] = {
    "writing": ("○", "muted"),
    "running": ("◐", "accent"),
    "done": ("●", "success"),
    "failed": ("●", "error"),
    "stopped": ("○", "warning"),
}
_FOLDED_LINES = 8


class ToolBlock(BlockBase):
    """One call.

    Attributes:
        state: ``writing`` while the model still writes its arguments.
        name: the tool's name.
    """

    def __init__(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        state: CallState = "writing",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self.name = safe_text(name)
        self.state: CallState = state
        self._arguments: Mapping[str, Any] = arguments or {}
        self._written = 0
        self._result: ToolResult | None = None
        self._clock = clock
        self._started: float | None = None
        self._took: float | None = None

    # What happens to it

    def write(self, piece: str) -> None:
        """The model writes more of the arguments."""
        self._written += len(piece)
        self.version += 1

    def set_arguments(self, arguments: Mapping[str, Any]) -> None:
        """The arguments are complete."""
        self._arguments = arguments
        self.version += 1

    def start(self, arguments: Mapping[str, Any]) -> None:
        """The call runs."""
        self._arguments = arguments
        self.state = "running"
        self._started = self._clock()
        self.version += 1

    def progress(self, content: tuple[UserContent, ...], details: object) -> None:
        """What it has given so far."""
        self._result = ToolResult(content, details)
        self.version += 1

    def end(
        self,
        content: tuple[UserContent, ...],
        details: object,
        *,
        is_error: bool,
        duration_ms: int | None,
    ) -> None:
        """The call is over."""
        self._result = ToolResult(content, details, is_error)
        self.state = "failed" if is_error else "done"
        self._took = None if duration_ms is None else duration_ms / 1000
        self.version += 1

    def stop(self) -> None:
        """The run ended before the call did."""
        if self.state in ("writing", "running"):
            self.state = "stopped"
            self.version += 1

    def tick(self) -> None:
        """Time has passed: what is shown of it is old."""
        self.version += 1

    # How it looks

    @property
    def text(self) -> str:
        result = plain_text(text_of(self._result.content)) if self._result is not None else ""
        return f"{self.name} {_telling(self._arguments)}\n{result}"

    @property
    def can_open(self) -> bool:
        return self._result is not None

    def estimate(self, width: int) -> int:
        result = self._result
        if result is None:
            return 2
        return 3 + min(sum(1 for _ in text_of(result.content).split("\n", 40)), 10)

    def render(self, canvas: Canvas) -> list[Strip]:
        definition = canvas.tool(self.name)
        renderer = definition.renderer() if definition and definition.renderer else None
        state = RenderState(
            width=canvas.width - 2,
            expanded=self.is_open(canvas),
            running=self.state == "running",
            elapsed=self._elapsed(),
            cwd=canvas.cwd,
        )
        strips = [canvas.blank(), *self._head(renderer, state, canvas)]
        if self._result is not None:
            strips += self._body(renderer, self._result, state, canvas)
        elif self.state == "stopped":
            strips += canvas.lines([Text("  stopped", canvas.theme.style("warning"))])
        elif self.state == "running" and state.elapsed is not None and state.elapsed >= 1:
            passed = f"  running {state.elapsed:.0f} s"
            strips += canvas.lines([Text(passed, canvas.theme.style("muted"))])
        return strips

    def _elapsed(self) -> float | None:
        if self.state == "running" and self._started is not None:
            return self._clock() - self._started
        return self._took

    def _head(
        self, renderer: ToolRenderer | None, state: RenderState, canvas: Canvas
    ) -> list[Strip]:
        symbol, role = _MARKS[self.state]
        mark = canvas.lines([Text(f"{symbol} ", canvas.theme.style(role))])[0]
        margin = canvas.lines([Text("  ")])[0]
        if self.state == "writing" and not self._arguments:
            size = f" {self._written} characters" if self._written else ""
            head: RenderableType = Text.assemble(
                (self.name, "bold cyan"), (f" ...{size}", "dim"), overflow="fold"
            )
        elif renderer is None:
            head = Text(call_summary(self.name, self._arguments, canvas.width - 2))
        else:
            head = renderer.render_call(self._arguments, state)
        strips = canvas.strips(head, indent=2)
        return [
            Strip.join([mark if index == 0 else margin, strip.crop(2)])
            for index, strip in enumerate(strips)
        ]

    def _body(
        self, renderer: ToolRenderer | None, result: ToolResult, state: RenderState, canvas: Canvas
    ) -> list[Strip]:
        if renderer is not None:
            strips = canvas.strips(renderer.render_result(self._arguments, result, state))
        else:
            strips = canvas.strips(_plain_result(result, expanded=state.expanded), indent=2)
        images = [block for block in result.content if isinstance(block, Image)]
        return strips + canvas.lines(
            Text.assemble("  ", line) for image in images for line in image_lines(image, canvas)
        )


def _plain_result(result: ToolResult, *, expanded: bool) -> Text:
    """The result of a tool that has no renderer of its own."""
    lines = plain_text(text_of(result.content)).rstrip().expandtabs(4).split("\n")
    left = 0
    if not expanded and len(lines) > _FOLDED_LINES:
        left, lines = len(lines) - _FOLDED_LINES, lines[:_FOLDED_LINES]
    text = Text("\n".join(lines), "red" if result.is_error else "dim", overflow="fold")
    if left:
        text.append(f"\n... {left} more lines", "dim")
    return text


def _telling(arguments: Mapping[str, Any]) -> str:
    values = (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        for value in arguments.values()
    )
    return safe_text(" ".join(values))
