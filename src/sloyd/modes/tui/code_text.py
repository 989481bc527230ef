"""Code in colour: lines of styled text, broken where they are too long."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

if TYPE_CHECKING:
    from pygments.lexer import Lexer

__all__ = ["code_lines"]

_LONGEST = 200_000
"""Characters of a block beyond which it is not coloured: reading it matters, not its colours."""


def code_lines(code: str, language: str, width: int, style: str) -> list[Text]:
    """The lines of a piece of code.

    ``style`` is a Pygments style or ``ansi_dark`` / ``ansi_light``. An unknown language gives plain
    text.
    """
    code = code.rstrip("\n").expandtabs(4)
    lexer = _lexer(language) if len(code) <= _LONGEST else None
    text = Text(code) if lexer is None else _syntax(style).highlight_with(code, lexer)
    # Lexers end what they read in a line break; lines of blanks before it are the code's own.
    lines = text.split("\n", allow_blank=True)[: code.count("\n") + 1]
    return [piece for line in lines for piece in _folded(line, width)]


def _folded(line: Text, width: int) -> list[Text]:
    """A line broken wherever it reaches the width: blanks of code mean something."""
    width = max(width, 2)
    if line.cell_len <= width:
        return [line]
    cuts: list[int] = []
    used = 0
    for at, character in enumerate(line.plain):
        size = cell_len(character)
        if used + size > width:
            cuts.append(at)
            used = 0
        used += size
    return list(line.divide(cuts))


class _Highlighter:
    """Colours code with one style."""

    def __init__(self, style: str) -> None:
        from rich.syntax import Syntax

        theme = Syntax.get_theme(style)
        self._theme = theme

    def highlight_with(self, code: str, lexer: Lexer) -> Text:
        from rich.style import Style

        text = Text()
        plain = Style(bgcolor=None)
        for kind, piece in lexer.get_tokens(code):
            style = self._theme.get_style_for_token(kind)
            text.append(piece, style.without_color + Style(color=style.color) + plain)
        return text


@lru_cache(8)
def _syntax(style: str) -> _Highlighter:
    return _Highlighter(style)


@lru_cache(64)
def _lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    if not language:
        return None
    try:
        return get_lexer_by_name(language.lower(), stripnl=False, ensurenl=True)
    except ClassNotFound:
        return None
