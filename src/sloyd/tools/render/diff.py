"""The numbered diff of an edit, coloured, with the words that changed marked inside the lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rich.console import Group, RenderableType
from rich.text import Text

from sloyd.text.terminal import plain_text

__all__ = ["DiffRow", "Sign", "changed_words", "diff_rows", "render_diff"]

Sign: TypeAlias = Literal[" ", "+", "-"]

_ROW = re.compile(r"([ +-])( *\d+) (.*)", re.DOTALL)
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_LONGEST = 2_000
"""Characters of a line up to which words are compared; beyond, the whole line counts as changed."""
_ALIKE = 0.35
"""Lines less alike than this are drawn as removed and added, without marked words."""

_COLOURS: dict[str, str] = {"+": "green", "-": "red", " ": "dim"}
_MARKS: dict[str, str] = {"+": "bold green reverse", "-": "bold red reverse"}


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One row of the diff that `sloyd.text.diff` writes; a gap has no number."""

    sign: Sign
    number: str
    text: str


def diff_rows(diff: str) -> list[DiffRow]:
    """The rows of a numbered diff."""
    rows: list[DiffRow] = []
    for line in diff.split("\n"):
        found = _ROW.fullmatch(line)
        if found:
            sign: Sign = "+" if line[0] == "+" else "-" if line[0] == "-" else " "
            rows.append(DiffRow(sign, found.group(2), plain_text(found.group(3)).expandtabs(3)))
        elif line:
            rows.append(DiffRow(" ", "", line.strip()))
    return rows


def changed_words(old: str, new: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The spans of characters that differ, in the old and in the new line.

    Both are empty when the lines have too little in common for a comparison to help.
    """
    from difflib import SequenceMatcher

    if len(old) > _LONGEST or len(new) > _LONGEST:
        return [], []
    old_words, new_words = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, old_words, new_words, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return [], []
    removed: list[tuple[int, int]] = []
    added: list[tuple[int, int]] = []
    old_at, new_at = _starts(old_words), _starts(new_words)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            removed.append((old_at[i1], old_at[i2]))
            added.append((new_at[j1], new_at[j2]))
    return removed, added


def _starts(words: Sequence[str]) -> list[int]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts


def render_diff(diff: str, *, most: int | None = None) -> RenderableType:
    """The diff in colour; ``most`` rows of it, with a note of what is left out."""
    rows = diff_rows(diff)
    shown = rows if most is None else rows[:most]
    parts: list[RenderableType] = list(_lines(shown))
    if len(shown) < len(rows):
        parts.append(Text(f"... {len(rows) - len(shown)} more lines", "dim"))
    return Group(*parts)


def _lines(rows: Sequence[DiffRow]) -> Iterator[Text]:
    at = 0
    while at < len(rows):
        removed = _run(rows, at, "-")
        added = _run(rows, at + len(removed), "+")
        if not removed and not added:
            yield _line(rows[at], [])
            at += 1
            continue
        # Only a block of as many added as removed lines is an edit line by line.
        paired = len(removed) == len(added)
        marks = (
            [changed_words(old.text, new.text) for old, new in zip(removed, added, strict=True)]
            if paired
            else []
        )
        for index, row in enumerate(removed):
            yield _line(row, marks[index][0] if paired else [])
        for index, row in enumerate(added):
            yield _line(row, marks[index][1] if paired else [])
        at += len(removed) + len(added)


def _run(rows: Sequence[DiffRow], start: int, sign: Sign) -> list[DiffRow]:
    end = start
    while end < len(rows) and rows[end].sign == sign:
        end += 1
    return list(rows[start:end])


def _line(row: DiffRow, marks: Sequence[tuple[int, int]]) -> Text:
    line = Text(no_wrap=False, overflow="fold")
    line.append(f"{row.sign}{row.number} ", _COLOURS[row.sign])
    start = len(line)
    line.append(row.text, _COLOURS[row.sign])
    for begin, end in marks:
        line.stylize(_MARKS.get(row.sign, ""), start + begin, start + end)
    return line
