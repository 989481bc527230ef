"""The conversation on the screen: scrolls through any number of blocks, draws those in sight.

It follows the end until the person scrolls up, and again once they are back there. Whatever changes
above what they look at, what they look at stays where it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from rich.style import Style
from textual import events
from textual.geometry import Offset, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from sloyd.modes.tui.block import Block
from sloyd.modes.tui.blocks import UserBlock
from sloyd.modes.tui.canvas import Canvas, Shown
from sloyd.modes.tui.selecting import line_at, selected_text, word_at
from sloyd.modes.tui.stack import Stack
from sloyd.modes.tui.strip_text import matches, restyled
from sloyd.modes.tui.theme import Theme
from sloyd.tools.registry import ToolRegistry

__all__ = ["Transcript"]

_FRAME = 1 / 25
"""Seconds between two drawings of what grows: smooth to the eye, and cheap."""
_REST = 2.0
"""After a drawing that took t, at least this many times t belongs to others."""


class Transcript(ScrollView, can_focus=False):
    """A view of blocks."""

    class FollowChanged(Message):
        """It follows the end from now on, or no longer."""

    DEFAULT_CSS = """
    Transcript {
        height: 1fr;
        background: $background;
        color: $foreground;
        padding: 0 0 0 1;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        overflow-x: hidden;
        overflow-y: auto;
    }
    """

    def __init__(
        self,
        theme: Theme,
        *,
        shown: Shown | None = None,
        cwd: str = "",
        registry: ToolRegistry | None = None,
    ) -> None:
        super().__init__()
        self._theme = theme
        self._stack = Stack(
            Canvas(80, theme, Style(), shown=shown or Shown(), cwd=cwd, registry=registry)
        )
        self._follows = True
        self._settling = False
        self._timer: Timer | None = None
        self._cost = 0.0
        self._needle = ""

    # What is in it

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks, from the top."""
        return tuple(self._stack.blocks)

    @property
    def canvas(self) -> Canvas:
        """How it is drawn."""
        return self._stack.canvas

    @property
    def shown(self) -> Shown:
        """What is opened and what is folded."""
        return self._stack.canvas.shown

    @property
    def following(self) -> bool:
        """Whether the end stays in sight when something is added."""
        return self._follows

    @property
    def _following(self) -> bool:
        return self._follows

    @_following.setter
    def _following(self, follows: bool) -> None:
        if follows != self._follows:
            self._follows = follows
            self.post_message(self.FollowChanged())

    def add(self, *blocks: Block) -> None:
        """Put blocks at the end."""
        self.extend(blocks)

    def extend(self, blocks: Iterable[Block]) -> None:
        """Put many blocks at the end."""
        self._stack.extend(blocks)
        self.changed()

    def clear(self) -> None:
        """Take all blocks away."""
        self._stack.clear()
        self._following = True
        self.changed()

    def changed(self) -> None:
        """Something is new: draw it soon, together with what else comes until then."""
        if self._timer is None and self.is_mounted:
            self._timer = self.set_timer(max(_FRAME, self._cost * _REST), self._draw_changes)

    def _draw_changes(self) -> None:
        self._timer = None
        began = time.perf_counter()
        self._settle()
        self._cost = time.perf_counter() - began

    def show(self, shown: Shown) -> None:
        """Open or fold."""
        self._redraw(replace(self._stack.canvas, shown=shown))

    def use_registry(self, registry: ToolRegistry) -> None:
        """Other tools, and how they are drawn."""
        if registry is not self._stack.canvas.registry:
            self._redraw(replace(self._stack.canvas, registry=registry))

    def use_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._theme = theme
        self._redraw(replace(self._stack.canvas, theme=theme, base=self.rich_style))

    # Layout

    def on_mount(self) -> None:
        self._fit()

    def on_resize(self, event: events.Resize) -> None:
        self._fit()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_mounted:
            self._fit()

    def _fit(self) -> None:
        width = max(self.scrollable_content_region.width, 1)
        canvas = self._stack.canvas
        if width != canvas.width or canvas.base != self.rich_style:
            self._redraw(replace(canvas, width=width, base=self.rich_style))
        else:
            self._settle()

    def _redraw(self, canvas: Canvas) -> None:
        """Draw everything anew; the block at the top of the view stays there."""
        place, offset, height = 0, 0, 1
        if len(self._stack):
            place, offset = self._stack.find(self.scroll_offset.y)
            height = max(self._stack.measure(place)[0], 1)
        self._stack.redraw(canvas)
        if len(self._stack) and not self._following:
            new_height = max(self._stack.measure(place)[0], 1)
            top = self._stack.top(place) + offset * new_height // height
            self._place_view(top)
        self._settle()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._settling and round(old_value) != round(new_value):
            self._following = round(new_value) >= self.max_scroll_y
            self._settle()

    def _settle(self) -> None:
        """Draw what is in sight and a page around it, so that no scrolling meets a wrong height."""
        page = max(self.size.height, 1)
        if not len(self._stack):
            self.virtual_size = Size(0, 0)
            self.refresh()
            return
        if self._following:
            self._measure_up(len(self._stack), 2 * page)
            top = max(self._stack.height - page, 0)
        else:
            place, offset = self._stack.find(self.scroll_offset.y)
            self._measure_down(place, offset + 2 * page)
            self._measure_up(place, page)
            offset = min(offset, max(len(self._stack.strips(place)) - 1, 0))
            top = min(self._stack.top(place) + offset, max(self._stack.height - page, 0))
        self._place_view(top)
        self.refresh()

    def _measure_up(self, place: int, lines: int) -> None:
        while place > 0 and lines > 0:
            place -= 1
            lines -= self._stack.measure(place)[0]

    def _measure_down(self, place: int, lines: int) -> None:
        while place < len(self._stack) and lines > 0:
            lines -= self._stack.measure(place)[0]
            place += 1

    def _place_view(self, top: int) -> None:
        self._settling = True
        try:
            self.virtual_size = Size(self._stack.canvas.width, self._stack.height)
            self.scroll_to(y=top, animate=False, force=True)
        finally:
            self._settling = False

    # Drawing

    def render_line(self, y: int) -> Strip:
        canvas = self._stack.canvas
        number = self.scroll_offset.y + y
        strip = self._stack.line(number)
        if strip is None:
            return Strip.blank(self.size.width, canvas.base)
        strip = strip.crop_extend(0, max(self.size.width, 1), canvas.base)
        if self._needle:
            for start, end in matches(strip, self._needle):
                strip = restyled(strip, start, end, Style(reverse=True))
        selection = self.text_selection
        span = selection.get_span(number) if selection is not None else None
        if span is not None:
            start, end = span
            end = len(strip.text.rstrip()) if end == -1 else end
            style = self.screen.get_component_rich_style("screen--selection")
            strip = restyled(strip, start, end, style)
        return strip.apply_offsets(0, number)

    # Selecting and clicking

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selected_text(self._stack, selection), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def text_select_all(self) -> None:
        """A double click selects a word, not everything; see `on_click`."""

    def on_click(self, event: events.Click) -> None:
        _, offset = self.screen.get_widget_and_offset_at(event.screen_x, event.screen_y)
        if offset is None or not len(self._stack):
            return
        if event.chain == 1:
            if self.text_selection is None:
                self._toggle_at(offset)
            return
        # Textual would select all of the screen.
        event.prevent_default()
        find = word_at if event.chain == 2 else line_at
        selection = find(self._stack, offset)
        if selection is not None:
            self.screen.selections = {self: selection}
            self.post_message(events.TextSelected())

    def _toggle_at(self, offset: Offset) -> None:
        """A click on the first or the last line of a block opens or folds it."""
        place, line = self._stack.find(offset.y)
        block = self._stack.blocks[place]
        if block.can_open and line in (1, len(self._stack.strips(place)) - 1):
            block.toggle(self._stack.canvas)
            self._following = False
            self._settle()
            self._following = self.scroll_offset.y >= self.max_scroll_y

    # Moving

    def page(self, direction: int) -> None:
        """A page up (-1) or down (1), less a line to read on from."""
        self.scroll_to(
            y=self.scroll_offset.y + direction * max(self.size.height - 1, 1), animate=False
        )

    def go_top(self) -> None:
        """To the beginning."""
        self.scroll_to(y=0, animate=False)

    def go_end(self) -> None:
        """To the end, and stay there."""
        self._following = True
        self._settle()

    def go_prompt(self, direction: int) -> None:
        """To what the person said before (-1) or after (1) the line at the top."""
        if not len(self._stack):
            return
        at = self.scroll_offset.y
        place, _ = self._stack.find(at)
        blocks = self._stack.blocks
        # The line at the top is the blank one over a prompt when we stand on it already.
        places = range(place, -1, -1) if direction < 0 else range(place, len(blocks))
        for each in places:
            top = self._stack.top(each)
            if isinstance(blocks[each], UserBlock) and (top < at if direction < 0 else top > at):
                self.scroll_to(y=top, animate=False)
                return
        if direction > 0:
            self.go_end()

    # Searching

    def mark(self, needle: str) -> None:
        """Show where a text stands; an empty one ends that."""
        self._needle = needle
        self.refresh()

    def find(self, needle: str, direction: int, *, start: int | None = None) -> int | None:
        """Go to the next line (1) or the one before (-1) that has the text; its number.

        ``start`` is the line to begin behind; by default the end of the conversation.
        """
        if not needle or not len(self._stack):
            return None
        begin = self._stack.height if start is None else start
        place, line = self._stack.find(min(begin, self._stack.height - 1))
        wanted = needle.lower()
        count = len(self._stack)
        for step in range(count + 1):
            each = (place + direction * step) % count
            if wanted not in self._stack.blocks[each].text.lower():
                continue
            found = self._line_in(each, needle, direction, _bound(step, count, line, direction))
            if found is not None:
                self._go_to(each, found)
                return self._stack.top(each) + found
        return None

    def _go_to(self, place: int, line: int) -> None:
        """Show a line of a block, in the upper part of the view."""
        self._following = False
        page = max(self.size.height, 1)
        self._measure_down(place, line + 2 * page)
        self._measure_up(place, page)
        self._place_view(max(self._stack.top(place) + line - page // 3, 0))
        self._settle()

    def _line_in(
        self, place: int, needle: str, direction: int, fits: Callable[[int], bool]
    ) -> int | None:
        """The first fitting line of a block with the text, which is opened if it hides it."""
        for attempt in (0, 1):
            self._stack.measure(place)
            strips = self._stack.strips(place)
            having = [n for n, strip in enumerate(strips) if matches(strip, needle)]
            if having or attempt:
                fitting = [n for n in having if fits(n)]
                if not fitting:
                    return None
                return fitting[0] if direction > 0 else fitting[-1]
            block = self._stack.blocks[place]
            if not block.can_open:
                return None
            block.toggle(self._stack.canvas)
        return None


def _bound(step: int, count: int, line: int, direction: int) -> Callable[[int], bool]:
    """Which lines of the block where a search begins lie ahead, and which when it came round."""
    if step == 0:
        return (lambda n: n > line) if direction > 0 else (lambda n: n < line)
    if step == count:
        return (lambda n: n <= line) if direction > 0 else (lambda n: n >= line)
    return lambda _: True
