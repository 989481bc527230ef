"""Text as HTML, from sources that may be hostile: everything is escaped, nothing can run.

Markdown is rendered without raw HTML; links go to http, https and mail addresses only; pictures in
Markdown become links, because a page that loads them would tell somebody that it is being read.
Characters that reorder or hide text are shown by their number.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token

__all__ = ["code_html", "code_styles", "diff_html", "markdown_html", "text_html"]

_HIGHLIGHT_LIMIT = 60_000
"""Characters of code from which on colours are not worth the time."""
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)
_SAFE_LINK = re.compile(r"(?:https?://|mailto:|#)", re.IGNORECASE)
_DIFF_ROW = re.compile(r"([+\- ])(\s*\d+) ?(.*)", re.DOTALL)


def text_html(text: str) -> str:
    """Plain text, escaped; hidden characters visible."""
    clean = text.replace("\r\n", "\n").encode("utf-8", "replace").decode()
    return _HIDDEN.sub(_show, escape(clean))


def _show(found: re.Match[str]) -> str:
    return f'<span class="hidden-char">U+{ord(found[0]):04X}</span>'


def markdown_html(text: str) -> str:
    """Markdown, rendered; raw HTML in it is shown as text."""
    return str(_markdown().render(text.encode("utf-8", "replace").decode()))


def code_html(code: str, language: str = "", filename: str = "") -> str:
    """Code in a ``pre``, coloured where the language, or the file's name, is known."""
    return f'<pre class="code">{_coloured(code, language, filename)}</pre>'


def diff_html(diff: str) -> str:
    """The numbered diff of a tool's details, a row for each line."""
    rows = []
    for line in diff.split("\n"):
        parts = _DIFF_ROW.fullmatch(line)
        sign = parts[1] if parts else " "
        kind = {"+": "added", "-": "removed"}.get(sign, "context")
        number, content = (parts[2].strip(), parts[3]) if parts else ("", line.strip())
        rows.append(
            f'<span class="row {kind}"><span class="number">{number}</span>'
            f'<span class="sign">{sign}</span>{text_html(content)}\n</span>'
        )
    return f'<pre class="diff">{"".join(rows)}</pre>'


@cache
def code_styles() -> str:
    """Style rules for coloured code, for light and dark."""
    from pygments.formatters import HtmlFormatter

    def rules(style: str) -> str:
        formatter: Any = HtmlFormatter(style=style, classprefix="s-")
        wanted = str(formatter.get_style_defs(".code"))
        lines = [line for line in wanted.splitlines() if line.startswith(".code .s-")]
        return "\n".join(line.partition(" /*")[0] for line in lines)

    dark = rules("github-dark")
    return f"{rules('default')}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}"


def _coloured(code: str, language: str, filename: str) -> str:
    if not (language or filename) or len(code) > _HIGHLIGHT_LIMIT:
        return text_html(code)
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
    from pygments.util import ClassNotFound

    clean = code.encode("utf-8", "replace").decode()
    options: dict[str, Any] = {"stripnl": False, "ensurenl": False}
    try:
        if language:
            lexer = get_lexer_by_name(language, **options)
        else:
            lexer = get_lexer_for_filename(filename, **options)
    except (ClassNotFound, ValueError):
        return text_html(code)
    marked: str = highlight(clean, lexer, HtmlFormatter(nowrap=True, classprefix="s-"))
    return _HIDDEN.sub(_show, marked)


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": False})
    parser.enable(["table", "strikethrough"])
    parser.validateLink = _is_safe  # type: ignore[method-assign]  # the documented way
    for name, rule in (
        ("fence", _fence),
        ("code_block", _fence),
        ("image", _image),
        ("link_open", _link),
        ("text", _plain),
        ("code_inline", _inline_code),
        ("th_open", _cell),
        ("td_open", _cell),
    ):
        parser.add_render_rule(name, rule)
    return parser


def _is_safe(url: str) -> bool:
    return _SAFE_LINK.match(url) is not None


def _fence(
    _self: RendererHTML, tokens: Sequence[Token], place: int, _options: Any, _env: Any
) -> str:
    token = tokens[place]
    words = token.info.split()
    return code_html(token.content.removesuffix("\n"), words[0] if words else "")


def _image(
    _self: RendererHTML, tokens: Sequence[Token], place: int, _options: Any, _env: Any
) -> str:
    token = tokens[place]
    address = str(token.attrGet("src") or "")
    label = text_html(token.content or address)
    return f'<a href="{escape(address)}" rel="noreferrer noopener">[picture: {label}]</a>'


def _link(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    tokens[place].attrSet("rel", "noreferrer noopener")
    return self.renderToken(tokens, place, options, env)


def _plain(
    _self: RendererHTML, tokens: Sequence[Token], place: int, _options: Any, _env: Any
) -> str:
    return text_html(tokens[place].content)


def _inline_code(
    _self: RendererHTML, tokens: Sequence[Token], place: int, _options: Any, _env: Any
) -> str:
    return f"<code>{text_html(tokens[place].content)}</code>"


def _cell(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    # The page's policy allows no style attributes.
    style = str(tokens[place].attrs.pop("style", ""))
    if style:
        tokens[place].attrSet("class", style.replace("text-align:", "align-"))
    return self.renderToken(tokens, place, options, env)
