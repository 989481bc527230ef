"""The line over the composer while something happens: what, for how long, and how to stop it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, TypeAlias

from rich.segment import Segment
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from sloyd.modes.tui.safe_text import safe_text
from sloyd.modes.tui.theme import Theme

__all__ = ["Activity", "Doing"]

Doing: TypeAlias = Literal["idle", "working", "retrying", "compacting", "shell"]

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME = 0.1
_WORDS: dict[Doing, str] = {
    "working": "Working",
    "retrying": "Trying again",
    "compacting": "Summarising older messages",
    "shell": "Running the command",
}


class Activity(Widget):
    """One line, not there while nothing happens.

    Attributes:
        still: draw no spinner.
        doing: what happens.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Activity { height: 1; padding: 0 1; color: $muted; background: $background; display: none; }
    """

    def __init__(
        self,
        theme: Theme,
        *,
        stop_key: str,
        still: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._theme = theme
        self._stop_key = stop_key
        self.still = still
        self._clock = clock
        self._timer: Timer | None = None
        self._since = 0.0
        self._until = 0.0
        self._reason = ""
        self.doing: Doing = "idle"

    def begin(self, doing: Doing, *, reason: str = "", seconds: float = 0.0) -> None:
        """Something happens now; ``seconds`` are counted down."""
        now = self._clock()
        if doing == "idle":
            self.end()
            return
        if self.doing == "idle":
            self._since = now
        self.doing = doing
        self._reason = safe_text(" ".join(reason.split()))
        self._until = now + seconds
        self.display = True
        if self._timer is None:
            self._timer = self.set_interval(1.0 if self.still else _FRAME, self.refresh)
        self.refresh()

    def end(self) -> None:
        """Nothing happens any more."""
        self.doing = "idle"
        self.display = False
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def use_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._theme = theme
        self.refresh()

    @property
    def seconds(self) -> float:
        """For how long something has been happening."""
        return 0.0 if self.doing == "idle" else self._clock() - self._since

    def render_line(self, y: int) -> Strip:
        base = self.rich_style
        if y or self.doing == "idle":
            return Strip.blank(self.size.width, base)
        now = self._clock()
        frame = "●" if self.still else _FRAMES[int(now / _FRAME) % len(_FRAMES)]
        words = _WORDS[self.doing]
        if self.doing == "retrying":
            words += f" in {max(self._until - now, 0):.0f} s"
        parts = [
            Segment(f"{frame} ", base + self._theme.style("accent")),
            Segment(words, base + self._theme.style("text")),
            Segment(f"  {_span(now - self._since)}", base),
        ]
        if self._stop_key:
            parts.append(Segment(f"  {self._stop_key} stops", base))
        if self._reason:
            parts.append(Segment(f"  {self._reason}", base))
        return Strip(parts).adjust_cell_length(self.size.width, base)


def _span(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"
