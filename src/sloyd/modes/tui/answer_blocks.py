"""What a model says: its text as Markdown, and its reasoning, folded to a line."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from sloyd.modes.tui.block import BlockBase
from sloyd.modes.tui.canvas import Canvas
from sloyd.modes.tui.markdown_inline import looks_of
from sloyd.modes.tui.markdown_layout import markdown_lines, wrapped
from sloyd.modes.tui.markdown_stream import MarkdownStream
from sloyd.modes.tui.safe_text import safe_text

__all__ = ["TextBlock", "ThinkingBlock"]


class _Growing(BlockBase):
    """A text that comes in pieces; they are joined when somebody looks, not when they come."""

    def __init__(self, text: str = "", *, done: bool = True) -> None:
        super().__init__()
        self._text = safe_text(text)
        self._pieces: list[str] = []
        self.done = done

    def add(self, piece: str) -> None:
        """More of it."""
        self._pieces.append(piece)
        self.version += 1

    def finish(self, text: str | None = None) -> None:
        """Nothing more comes; ``text`` is what it says in the end, when that is known."""
        if text is not None:
            self._text, self._pieces = safe_text(text), []
        self.done = True
        self.version += 1

    @property
    def text(self) -> str:
        if self._pieces:
            self._text += safe_text("".join(self._pieces))
            self._pieces = []
        return self._text


class TextBlock(_Growing):
    """Markdown."""

    def __init__(self, text: str = "", *, done: bool = True) -> None:
        super().__init__(text, done=done)
        self._stream: tuple[Canvas, MarkdownStream] | None = None
        self._kept: list[Strip] = []
        self._kept_texts: list[Text] = []

    def render(self, canvas: Canvas) -> list[Strip]:
        if not self.text.strip():
            return []
        if self.done:
            self._stream, self._kept, self._kept_texts = None, [], []
            lines = markdown_lines(self.text, canvas.width, looks_of(canvas.theme))
            return [canvas.blank(), *canvas.lines(lines)]
        if self._stream is None or self._stream[0] is not canvas:
            self._stream = (canvas, MarkdownStream(canvas.width, looks_of(canvas.theme)))
            self._kept, self._kept_texts = [], []
        lines = self._stream[1].lines(self.text)
        return [canvas.blank(), *self._drawn(lines, canvas)]

    def _drawn(self, lines: list[Text], canvas: Canvas) -> list[Strip]:
        """The lines as strips; a line that is the same object as before is not drawn again."""
        same = 0
        most = min(len(lines), len(self._kept_texts))
        while same < most and lines[same] is self._kept_texts[same]:
            same += 1
        self._kept = [*self._kept[:same], *canvas.lines(lines[same:])]
        self._kept_texts = lines
        return self._kept


class ThinkingBlock(_Growing):
    """Reasoning: one line while folded."""

    @property
    def can_open(self) -> bool:
        return bool(self.text.strip())

    def is_open(self, canvas: Canvas) -> bool:
        return canvas.shown.thinking if self.opened is None else self.opened

    def estimate(self, width: int) -> int:
        return 2

    def render(self, canvas: Canvas) -> list[Strip]:
        text = self.text.strip()
        if not text:
            return []
        style = canvas.theme.style("thinking")
        if self.is_open(canvas):
            body = Text(text.expandtabs(4), style + Style(italic=True))
            lines = [Text("▾ thinking", style), *self._indented(body, canvas.width)]
            return [canvas.blank(), *canvas.lines(lines)]
        line = Text("▸ thinking", style)
        if not canvas.shown.hide_thinking:
            # While it grows its end is news; afterwards its beginning says what it was about.
            words = text[-400:] if not self.done else text[:400]
            shown = [part.strip() for part in words.split("\n") if part.strip()]
            muted = canvas.theme.style("muted")
            line.append("  " + (shown[0] if self.done else shown[-1]), muted)
        line.truncate(canvas.width, overflow="ellipsis")
        return [canvas.blank(), *canvas.lines([line])]

    def _indented(self, body: Text, width: int) -> list[Text]:
        return [Text.assemble("  ", line) for line in wrapped(body, width - 2)]
