"""A Markdown table in the width there is: columns side by side, or, where that is too narrow, rows
as lists of ``heading: value``."""

from __future__ import annotations

from collections.abc import Sequence

from markdown_it.tree import SyntaxTreeNode
from rich.text import Text

from sloyd.modes.tui.canvas import layout_console
from sloyd.modes.tui.markdown_inline import Looks, inline_text

__all__ = ["table_lines"]

_NARROWEST = 6
"""Columns narrower than this break words so often that a list reads better."""
_GAP = " │ "


def table_lines(node: SyntaxTreeNode, width: int, looks: Looks) -> list[Text]:
    """The lines of a table."""
    rows = [
        [_cell(cell, looks) for cell in row.children]
        for part in node.children
        for row in part.children
    ]
    if not rows:
        return []
    columns = max(len(row) for row in rows)
    for row in rows:
        row += [Text() for _ in range(columns - len(row))]
    widths = _widths(rows, width - len(_GAP) * (columns - 1))
    if widths is None:
        return _listed(rows, width, looks)
    lines = _row(rows[0], widths, looks, bold=True)
    lines.append(Text("─┼─".join("─" * column for column in widths), looks.muted))
    for row in rows[1:]:
        lines += _row(row, widths, looks)
    return lines


def _cell(node: SyntaxTreeNode, looks: Looks) -> Text:
    token = node.children[0].token if node.children else None
    return inline_text((token.children if token is not None else None) or (), looks)


def _widths(rows: Sequence[Sequence[Text]], room: int) -> list[int] | None:
    """Widths that fit: the widest columns give way first. None when there is no room."""
    widths = [max(1, *(row[at].cell_len for row in rows)) for at in range(len(rows[0]))]
    if sum(min(width, _NARROWEST) for width in widths) > room:
        return None
    surplus = sum(widths) - room
    while surplus > 0:
        widest = max(widths)
        second = max((width for width in widths if width < widest), default=_NARROWEST)
        at = [index for index, width in enumerate(widths) if width == widest]
        cut = max(min(surplus // len(at), widest - second), 1)
        for index in at:
            if surplus <= 0:
                break
            step = min(cut, surplus)
            widths[index] -= step
            surplus -= step
    return widths


def _row(
    cells: Sequence[Text], widths: Sequence[int], looks: Looks, *, bold: bool = False
) -> list[Text]:
    columns: list[list[Text]] = []
    for cell, width in zip(cells, widths, strict=True):
        if bold:
            cell.stylize("bold")
        columns.append(list(cell.wrap(layout_console(), width, overflow="fold")))
    lines: list[Text] = []
    for at in range(max(len(column) for column in columns)):
        line = Text()
        for index, (column, width) in enumerate(zip(columns, widths, strict=True)):
            piece = column[at] if at < len(column) else Text()
            if index:
                line.append(_GAP, looks.muted)
            line.append_text(piece)
            if index < len(widths) - 1:
                line.append(" " * (width - piece.cell_len))
        lines.append(line)
    return lines


def _listed(rows: Sequence[Sequence[Text]], width: int, looks: Looks) -> list[Text]:
    lines: list[Text] = []
    head, *body = rows
    for row in body:
        if lines:
            lines.append(Text())
        for name, value in zip(head, row, strict=True):
            text = Text.assemble((name.plain, looks.heading), ": ", value)
            lines += text.wrap(layout_console(), max(width, 1), overflow="fold")
    return lines
