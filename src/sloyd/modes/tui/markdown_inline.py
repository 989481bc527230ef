"""The inside of a Markdown paragraph: emphasis, code, links, as styled text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.token import Token
from rich.style import Style
from rich.text import Text

from sloyd.modes.tui.theme import Theme

__all__ = ["Looks", "inline_text", "looks_of"]

_SAFE_LINK = re.compile(r"(?:https?|mailto|file):[^\s\x00-\x1f\x7f-\x9f]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Looks:
    """The styles that Markdown is drawn with."""

    heading: Style
    code: Style
    link: Style
    muted: Style
    marker: Style
    pygments: str
    """Style of code blocks, or ``ansi_dark`` / ``ansi_light``."""


def looks_of(theme: Theme) -> Looks:
    """The styles of a theme."""
    return Looks(
        heading=theme.style("accent", bold=True),
        code=theme.style("accent"),
        link=theme.style("accent", underline=True),
        muted=theme.style("muted"),
        marker=theme.style("muted"),
        pygments=theme.code,
    )


def inline_text(tokens: Sequence[Token], looks: Looks) -> Text:
    """The styled text of a paragraph's tokens; hard breaks are line breaks in it."""
    text = Text()
    opened: list[Style] = []
    links: list[tuple[int, str]] = []
    for token in tokens:
        style = Style.combine(opened) if opened else Style.null()
        match token.type:
            case "text" | "html_inline" | "text_special":
                text.append(token.content, style)
            case "softbreak":
                text.append(" ", style)
            case "hardbreak":
                text.append("\n")
            case "code_inline":
                text.append(token.content, looks.code + style)
            case "strong_open":
                opened.append(Style(bold=True))
            case "em_open":
                opened.append(Style(italic=True))
            case "s_open":
                opened.append(Style(strike=True))
            case "link_open":
                target = str(token.attrs.get("href", ""))
                links.append((len(text), target))
                safe = _SAFE_LINK.fullmatch(target)
                opened.append(looks.link + Style(link=target) if safe else looks.link)
            case "link_close":
                opened.pop()
                start, target = links.pop()
                _show_target(text, text.plain[start:], target, looks)
            case "image":
                text.append(f"[image: {token.content or token.attrs.get('src', '')}]", looks.muted)
            case kind if kind.endswith("_close") and opened:
                opened.pop()
            case _:
                text.append(token.content, style)
    return text


def _show_target(text: Text, label: str, target: str, looks: Looks) -> None:
    """Not every terminal opens links, so a link says where it leads."""
    if target and label not in (target, target.removeprefix("mailto:")):
        text.append(f" ({target})", looks.muted)
