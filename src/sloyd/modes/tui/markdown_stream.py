"""Markdown that grows: what is finished is laid out once, only the end is laid out again.

A top-level block is finished when another one has begun behind it. In an open code block, which may
grow long, finished lines are coloured once too; when it closes it is laid out as a whole.
"""

from __future__ import annotations

import re

from rich.text import Text

from sloyd.modes.tui.code_text import code_lines
from sloyd.modes.tui.markdown_inline import Looks
from sloyd.modes.tui.markdown_layout import block_starts, markdown_lines

__all__ = ["MarkdownStream"]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n`]*)\n")
_CHUNK = 12
"""Lines of an open code block that are coloured together and then kept."""


class MarkdownStream:
    """Lays out a growing text for one width and one set of styles."""

    def __init__(self, width: int, looks: Looks) -> None:
        self._width = width
        self._looks = looks
        self._done: list[Text] = []
        self._done_length = 0
        self._code: list[Text] = []
        self._code_length = 0

    def lines(self, text: str) -> list[Text]:
        """The lines of the text so far; each text begins with the one given before."""
        tail = text[self._done_length :]
        starts = [start for start in block_starts(tail) if _is_certain(tail, start)]
        if len(starts) > 1:
            cut = _offset(tail, starts[-1])
            self._finish(tail[:cut])
            tail = tail[cut:]
        live = self._open_code(tail)
        if live is None:
            live = markdown_lines(tail, self._width, self._looks)
        if self._done and live:
            return [*self._done, Text(), *live]
        return [*self._done, *live]

    def _finish(self, part: str) -> None:
        lines = markdown_lines(part, self._width, self._looks)
        if self._done and lines:
            self._done.append(Text())
        self._done += lines
        self._done_length += len(part)
        self._code, self._code_length = [], 0

    def _open_code(self, tail: str) -> list[Text] | None:
        """The lines of a code block that is not closed yet; None when there is none."""
        start = len(tail) - len(tail.lstrip("\n"))
        found = _FENCE.match(tail, start)
        if found is None:
            return None
        fence, info = found.group(1), found.group(2).strip()
        body = tail[found.end() :]
        if re.search(rf"^ {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}\s*$", body, re.MULTILINE):
            return None
        language = info.split()[0] if info else ""
        fresh = body[self._code_length :]
        # The last line may still grow, so it is never among the kept ones.
        complete = fresh.split("\n")[:-1]
        while len(complete) >= _CHUNK:
            chunk = "".join(line + "\n" for line in complete[:_CHUNK])
            self._code += self._coloured(chunk, language)
            self._code_length += len(chunk)
            complete = complete[_CHUNK:]
        return [*self._code, *self._coloured(body[self._code_length :], language)] or [Text()]

    def _coloured(self, code: str, language: str) -> list[Text]:
        if not code:
            return []
        # Blank lines at the end of a chunk belong to it.
        missing = len(code) - len(code.rstrip("\n")) - 1
        lines = code_lines(code, language, self._width - 2, self._looks.pygments)
        lines += [Text() for _ in range(missing)]
        return [Text.assemble("  ", line) for line in lines]


def _is_certain(text: str, line: int) -> bool:
    """Whether what begins at that line will never turn out to belong to what stands before it.

    A line that still grows may: three backquotes open a code block, unless another backquote comes
    in the same line, and then they go on with the paragraph. Not behind a blank line.
    """
    if line == 0 or line < text.count("\n"):
        return True
    return not text.split("\n")[line - 1].strip()


def _offset(text: str, line: int) -> int:
    at = 0
    for _ in range(line):
        at = text.index("\n", at) + 1
    return at
