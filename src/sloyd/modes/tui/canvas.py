"""What a block is drawn on: a width, a theme, and how things are to be shown at the moment."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from sloyd.modes.tui.safe_text import safe_text
from sloyd.modes.tui.theme import Theme

if TYPE_CHECKING:
    from sloyd.tools.definition import ToolDefinition
    from sloyd.tools.registry import ToolRegistry

__all__ = ["Canvas", "Shown", "layout_console"]


@dataclass(frozen=True, slots=True)
class Shown:
    """What is opened and what is folded.

    Attributes:
        tools: the whole output of tools, not its few lines.
        thinking: the reasoning, not one line for it.
        hide_thinking: folded reasoning does not even show its beginning.
        images: drawn in coloured cells, not only described.
    """

    tools: bool = False
    thinking: bool = False
    hide_thinking: bool = False
    images: bool = False


@dataclass(frozen=True, eq=False)
class Canvas:
    """One way to draw. The transcript makes a new one when anything about it changes.

    Attributes:
        width: columns; at least 1.
        base: the style under everything, with the background.
        cwd: paths of tool calls inside it are drawn relative.
    """

    width: int
    theme: Theme
    base: Style
    shown: Shown = Shown()
    cwd: str = ""
    registry: ToolRegistry | None = None

    def tool(self, name: str) -> ToolDefinition[Any] | None:
        """The definition of a tool, where it is still known."""
        return self.registry.get(name) if self.registry is not None else None

    def strips(
        self,
        renderable: RenderableType,
        *,
        style: Style | None = None,
        indent: int = 0,
        pad: bool = False,
    ) -> list[Strip]:
        """Lines of something that rich can draw, none wider than the canvas."""
        width = max(self.width - indent, 1)
        console = layout_console()
        under = self._under(style)
        options = console.options.update(width=width, height=None, highlight=False, markup=False)
        lines = console.render_lines(renderable, options, style=under, pad=pad)
        strips = [_fitting(Strip(_safe(line)), width) for line in lines]
        if indent:
            margin = Strip.blank(indent, under)
            strips = [Strip.join([margin, strip]) for strip in strips]
        return strips

    def lines(self, texts: Iterable[Text], *, style: Style | None = None) -> list[Strip]:
        """Texts that are laid out already: one line each, without line breaks."""
        under = self._under(style)
        return [_fitting(_strip(text, under), self.width) for text in texts]

    def blank(self, style: Style | None = None) -> Strip:
        """An empty line."""
        return Strip.blank(self.width, self._under(style))

    def _under(self, style: Style | None) -> Style:
        return self.base if style is None else self.base + style


def _safe(line: list[Segment]) -> list[Segment]:
    """What renderers of others draw may hold what a terminal would obey."""
    return [Segment(safe_text(text), style) for text, style, control in line if not control]


def _strip(text: Text, under: Style) -> Strip:
    console = layout_console()
    # A text without spans gives segments without its own style.
    style = under + console.get_style(text.style) if text.style else under
    return Strip(list(Segment.apply_style(text.render(console), style)))


def _fitting(strip: Strip, width: int) -> Strip:
    """Renderers of others may draw wider than they were allowed to."""
    return strip.crop(0, width) if strip.cell_length > width else strip


@lru_cache(1)
def layout_console() -> Console:
    """A console that only lays out: it writes nowhere and knows every colour."""
    return Console(
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        width=80,
        highlight=False,
        markup=False,
        emoji=False,
        _environ={},
    )
