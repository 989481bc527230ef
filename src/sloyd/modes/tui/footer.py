"""The two lines at the bottom: where we are, what answers, and what it has cost so far."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from sloyd.modes.tui.safe_text import safe_text
from sloyd.modes.tui.theme import Role, Theme

__all__ = ["Footer", "FooterFacts", "short_count", "short_path"]


@dataclass(frozen=True, slots=True)
class FooterFacts:
    """What the footer says.

    Attributes:
        context: the share of the window in use, from 0 to 1.
        behind: the key that goes to the end, when the end is out of sight.
    """

    directory: str = ""
    branch: str | None = None
    session: str | None = None
    model: str = ""
    thinking: str = "off"
    context: float = 0.0
    window: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    cost: float = 0.0
    queued: int = 0
    behind: str = ""


class Footer(Widget):
    """Draws the facts; what is less important gives way where it is narrow."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Footer { height: 2; padding: 0 1; color: $muted; background: $background; }
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.facts = FooterFacts()

    def show(self, facts: FooterFacts) -> None:
        """Say something else from now on."""
        if facts != self.facts:
            self.facts = facts
            self.refresh()

    def use_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._theme = theme
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        parts = self._place(width) if y == 0 else self._use(width)
        base = self.rich_style
        segments = [
            Segment(text, base + self._theme.style(role) if role != "background" else base)
            for text, role in parts
        ]
        return Strip(segments).adjust_cell_length(width, base)

    def _place(self, width: int) -> list[tuple[str, Role]]:
        facts = self.facts
        right = safe_text(facts.session or "")
        branch = f" ({safe_text(facts.branch)})" if facts.branch else ""
        if cell_len(branch) > width // 2:
            branch = ""
        room = width - cell_len(branch) - (cell_len(right) + 2 if right else 0)
        if room < 12:
            right = ""
            room = width - cell_len(branch)
        left = _cut_left(safe_text(facts.directory), room)
        gap = width - cell_len(left) - cell_len(branch) - cell_len(right)
        return [(left + branch, "muted"), (" " * max(gap, 0), "muted"), (right, "muted")]

    def _use(self, width: int) -> list[tuple[str, Role]]:
        facts = self.facts
        level = f" · {facts.thinking}" if facts.thinking != "off" else ""
        name = safe_text(facts.model)
        if cell_len(name + level) > width // 2:
            # The end of a path, or of provider/model, tells the most.
            name = name.rstrip("/").rsplit("/", 1)[-1]
        model = name + level
        used = facts.context * 100
        context: Role = "error" if used >= 90 else "warning" if used >= 75 else "muted"
        share = f"{used:.0f}%" if facts.window else ""
        window = f" of {short_count(facts.window)}" if facts.window else ""
        cost = f"${facts.cost:.3f}" if facts.cost else ""
        queue = f"{facts.queued} waiting" if facts.queued else ""
        tokens = f"↑{short_count(facts.input + facts.cached)} ↓{short_count(facts.output)}"
        # From the most important to the least; what does not fit beside the model is left out.
        below = f"↓ {facts.behind}" if facts.behind else ""
        offered: list[tuple[str, Role]] = [
            (share, context),
            (queue, "accent"),
            (below, "accent"),
            (cost, "muted"),
        ]
        if facts.input or facts.output:
            offered.append((tokens, "muted"))
        room = width - min(cell_len(model), width // 2) - 2
        shown: list[tuple[str, Role]] = []
        for text, role in offered:
            if text and cell_len(text) + 2 <= room:
                room -= cell_len(text) + 2
                shown.append((text, role))
        if shown and window and cell_len(window) <= room and shown[0][0] == share:
            shown[0] = (share + window, context)
        parts = [part for each in shown for part in (each, ("  ", "muted"))]
        taken = sum(cell_len(text) for text, _ in parts)
        room = width - taken
        if cell_len(model) > room:
            model = _cut_right(name, room - cell_len(level)) + level if room > 12 else ""
        gap = width - taken - cell_len(model)
        return [*parts, (" " * max(gap, 0), "muted"), (model, "muted")]


def short_count(number: int) -> str:
    """A count of tokens in a few characters: 950, 12.3k, 1.2M."""
    if number < 1000:
        return str(number)
    if number < 1_000_000:
        return f"{number / 1000:.1f}k" if number < 100_000 else f"{number // 1000}k"
    return f"{number / 1_000_000:.1f}M"


def short_path(path: str, home: str) -> str:
    """A directory with ``~`` for the home directory."""
    home = home.rstrip("/")
    if home and (path == home or path.startswith(home + "/")):
        return "~" + path[len(home) :]
    return path


def _cut_left(text: str, width: int) -> str:
    """The end of a text: of a path that tells the most."""
    if cell_len(text) <= width:
        return text
    cut = text
    while cut and cell_len(cut) > width - 1:
        cut = cut[1:]
    return "…" + cut if width > 0 else ""


def _cut_right(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + "…" if width > 0 else ""
