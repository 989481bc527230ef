"""Markdown laid out to a width: one styled text a line, and no line too wide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from rich.cells import cell_len
from rich.text import Text

from sloyd.modes.tui.canvas import layout_console
from sloyd.modes.tui.code_text import code_lines
from sloyd.modes.tui.markdown_inline import Looks, inline_text
from sloyd.modes.tui.markdown_table import table_lines

__all__ = ["block_starts", "markdown_lines", "wrapped"]

_DEEPEST = 12
"""Quotes and lists deeper than this are drawn at this depth; models do not write such, loops do."""


def markdown_lines(text: str, width: int, looks: Looks) -> list[Text]:
    """The lines of a Markdown text."""
    root = SyntaxTreeNode(_parser().parse(text))
    return _stacked(root.children, max(width, 1), looks, depth=0)


def block_starts(text: str) -> list[int]:
    """The line numbers at which the top-level blocks of a text begin."""
    return [
        token.map[0]
        for token in _parser().parse(text)
        if token.level == 0 and token.map is not None and token.nesting >= 0
    ]


def wrapped(text: Text, width: int) -> list[Text]:
    """A text broken into lines between words, and inside words only where one is too long."""
    return list(text.wrap(layout_console(), max(width, 1), overflow="fold", tab_size=4))


@lru_cache(1)
def _parser() -> MarkdownIt:
    # Beyond its limit the parser drops text; its own limit of 20 is low for quoted mail.
    return MarkdownIt("commonmark", {"maxNesting": 60}).enable(["table", "strikethrough"])


def _stacked(
    nodes: Sequence[SyntaxTreeNode], width: int, looks: Looks, *, depth: int, tight: bool = False
) -> list[Text]:
    lines: list[Text] = []
    for node in nodes:
        block = _block(node, width, looks, depth)
        if lines and block and not tight:
            lines.append(Text())
        lines += block
    return lines


def _block(node: SyntaxTreeNode, width: int, looks: Looks, depth: int) -> list[Text]:
    match node.type:
        case "paragraph":
            return wrapped(_inline(node, looks), width)
        case "heading":
            text = _inline(node, looks)
            text.style = looks.heading
            return wrapped(text, width)
        case "fence" | "code_block":
            language = node.info.split()[0] if node.info.split() else ""
            return _indented(code_lines(node.content, language, width - 2, looks.pygments), "  ")
        case "bullet_list" | "ordered_list":
            return list(_list(node, width, looks, depth))
        case "blockquote":
            inner = _stacked(node.children, _inside(width, 2, depth), looks, depth=depth + 1)
            return _prefixed(inner, Text("▎ ", looks.marker))
        case "hr":
            return [Text("─" * width, looks.muted)]
        case "table":
            return table_lines(node, width, looks)
        case "html_block":
            return wrapped(Text(node.content.rstrip("\n"), looks.muted), width)
        case _:
            return _stacked(node.children, width, looks, depth=depth)


def _list(node: SyntaxTreeNode, width: int, looks: Looks, depth: int) -> Iterator[Text]:
    number = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    last = (number or 0) + len(node.children) - 1
    room = cell_len(f"{last}. ") if number is not None else 2
    tight = all(
        child.hidden for item in node.children for child in item.children
        if child.type == "paragraph"
    )  # fmt: skip
    for index, item in enumerate(node.children):
        mark = "• " if number is None else f"{number + index}. ".rjust(room)
        inner = _stacked(
            item.children, _inside(width, room, depth), looks, depth=depth + 1, tight=tight
        )
        if index and not tight:
            yield Text()
        yield from _prefixed(inner or [Text()], Text(" " * room), Text(mark, looks.marker))


def _inside(width: int, margin: int, depth: int) -> int:
    return max(width - margin if depth < _DEEPEST else width, 1)


def _inline(node: SyntaxTreeNode, looks: Looks) -> Text:
    inline = node.children[0] if node.children else None
    token = inline.token if inline is not None else None
    return inline_text(token.children or () if token is not None else (), looks)


def _indented(lines: Sequence[Text], margin: str) -> list[Text]:
    return _prefixed(lines, Text(margin))


def _prefixed(lines: Sequence[Text], prefix: Text, first: Text | None = None) -> list[Text]:
    """The lines behind a margin; ``first`` is that of the first one."""
    return [
        Text.assemble(first if first is not None and index == 0 else prefix, line)
        for index, line in enumerate(lines)
    ]
