"""Parts of the transcript that do not grow: what a person said, notices, summaries, shell lines."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.strip import Strip

from sloyd.harness.door import NoticeLevel
from sloyd.llm.messages import Image, UserContent, text_of
from sloyd.modes.tui.block import BlockBase
from sloyd.modes.tui.canvas import Canvas
from sloyd.modes.tui.markdown_inline import looks_of
from sloyd.modes.tui.markdown_layout import markdown_lines, wrapped
from sloyd.modes.tui.safe_text import safe_text
from sloyd.modes.tui.theme import Role
from sloyd.text.terminal import plain_text
from sloyd.text.truncate import format_size

__all__ = ["NoticeBlock", "ShellBlock", "SummaryBlock", "UserBlock", "image_lines"]

_ROLES: dict[NoticeLevel, Role] = {"info": "muted", "warning": "warning", "error": "error"}
_MARKS: dict[NoticeLevel, str] = {"info": "·", "warning": "!", "error": "✗"}
_FOLDED_LINES = 12
_LONG_MESSAGE = 30


class UserBlock(BlockBase):
    """What a person said; a long one folded to its beginning."""

    def __init__(self, content: str | Sequence[UserContent]) -> None:
        super().__init__()
        parts = content if isinstance(content, str) else tuple(content)
        self._text = safe_text(text_of(parts)).expandtabs(4).strip("\n")
        self._images = [] if isinstance(parts, str) else [p for p in parts if isinstance(p, Image)]

    @property
    def text(self) -> str:
        return self._text

    @property
    def can_open(self) -> bool:
        return self._text.count("\n") >= _LONG_MESSAGE

    def render(self, canvas: Canvas) -> list[Strip]:
        style = canvas.theme.style("text", on="surface")
        lines = wrapped(Text(self._text), canvas.width - 3) if self._text else []
        if not self.is_open(canvas) and len(lines) > _LONG_MESSAGE:
            left = len(lines) - _LONG_MESSAGE // 2
            muted = canvas.theme.style("muted")
            lines = [*lines[: _LONG_MESSAGE // 2], Text(f"... {left} more lines", muted)]
        lines += [line for image in self._images for line in image_lines(image, canvas)]
        mark = canvas.theme.style("accent", bold=True)
        texts = [
            Text.assemble(("❯ ", mark) if index == 0 else "  ", line)
            for index, line in enumerate(lines)
        ]
        under = canvas.base + style
        strips = [
            strip.extend_cell_length(canvas.width, under)
            for strip in canvas.lines(texts, style=style)
        ]
        return [canvas.blank(), *strips]


def image_lines(image: Image, canvas: Canvas) -> list[Text]:
    """An image in cells, where they are drawn, and in words: what it is and how large."""
    size = format_size(len(image.data) * 3 // 4)
    words = Text(f"[{safe_text(image.mime_type)}, {size}]", canvas.theme.style("muted"))
    if not canvas.shown.images:
        return [words]
    from sloyd.modes.tui.image_cells import image_cells

    return [*image_cells(image, canvas.width - 4), words]


class NoticeBlock(BlockBase):
    """Something about the conversation, not from it; ``hint`` says what can be done."""

    def __init__(self, message: str, level: NoticeLevel = "info", hint: str = "") -> None:
        super().__init__()
        self._message = safe_text(message).expandtabs(4).strip("\n")
        self._level = level
        self._hint = hint

    @property
    def text(self) -> str:
        return self._message

    def render(self, canvas: Canvas) -> list[Strip]:
        style = canvas.theme.style(_ROLES[self._level])
        lines = wrapped(Text(self._message, style), canvas.width - 2)
        if self._hint:
            lines += wrapped(Text(self._hint, canvas.theme.style("muted")), canvas.width - 2)
        mark = (f"{_MARKS[self._level]} ", style)
        return [
            canvas.blank(),
            *canvas.lines(
                Text.assemble(mark if index == 0 else "  ", line)
                for index, line in enumerate(lines)
            ),
        ]


class SummaryBlock(BlockBase):
    """A summary that stands for older messages or for another branch: one line until opened."""

    def __init__(self, title: str, summary: str) -> None:
        super().__init__()
        self._title = safe_text(" ".join(title.split()))
        self._summary = safe_text(summary)

    @property
    def text(self) -> str:
        return self._summary

    @property
    def can_open(self) -> bool:
        return bool(self._summary.strip())

    def estimate(self, width: int) -> int:
        return 2

    def render(self, canvas: Canvas) -> list[Strip]:
        opened = self.is_open(canvas)
        title = Text(f"{'▾' if opened else '▸'} {self._title}", canvas.theme.style("thinking"))
        title.truncate(canvas.width, overflow="ellipsis")
        strips = [canvas.blank(), *canvas.lines([title])]
        if opened:
            looks = looks_of(canvas.theme)
            lines = markdown_lines(self._summary, canvas.width - 2, looks)
            strips += canvas.lines(Text.assemble("  ", line) for line in lines)
        return strips


class ShellBlock(BlockBase):
    """A command that the person ran, and the end of its output."""

    def __init__(
        self,
        command: str,
        output: str = "",
        *,
        exit_code: int | None = None,
        running: bool = False,
        shared: bool = True,
    ) -> None:
        super().__init__()
        self._command = safe_text(command)
        self._output = plain_text(output)
        self._exit_code = exit_code
        self._running = running
        self._shared = shared

    def update(self, output: str, exit_code: int | None = None, *, running: bool = False) -> None:
        """Its output so far, or all of it."""
        self._output = plain_text(output)
        self._exit_code = exit_code
        self._running = running
        self.version += 1

    @property
    def text(self) -> str:
        return f"{self._command}\n{self._output}"

    @property
    def can_open(self) -> bool:
        return self._output.count("\n") >= _FOLDED_LINES

    def estimate(self, width: int) -> int:
        return 3 + min(self._output.count("\n"), _FOLDED_LINES)

    def render(self, canvas: Canvas) -> list[Strip]:
        theme = canvas.theme
        head = Text.assemble(
            ("! " if self._shared else "!! ", theme.style("warning", bold=True)), self._command
        )
        lines = wrapped(head, canvas.width)
        shown = self._output.rstrip().split("\n") if self._output.strip() else []
        if not self.is_open(canvas) and len(shown) > _FOLDED_LINES:
            left = len(shown) - _FOLDED_LINES
            lines.append(Text(f"  ... {left} earlier lines", theme.style("muted")))
            shown = shown[-_FOLDED_LINES:]
        for line in shown:
            body = wrapped(Text(safe_text(line).expandtabs(4)), canvas.width - 2)
            lines += [Text.assemble("  ", piece) for piece in body or [Text()]]
        lines += self._status(canvas)
        return [canvas.blank(), *canvas.lines(lines)]

    def _status(self, canvas: Canvas) -> list[Text]:
        if self._running:
            return [Text("  running", canvas.theme.style("muted"))]
        if self._exit_code:
            return [Text(f"  exit code {self._exit_code}", canvas.theme.style("error"))]
        return []
