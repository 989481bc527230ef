"""The folded form in which tolerant matching compares text, and the way back to the original.

Folded away are what models get wrong when they copy text: compatibility forms (NFKC: full-width
letters, ligatures, ``…``), curly quotes, dashes, special spaces, and blanks at the end of a line.
Indentation, inner spacing and case are never folded.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

__all__ = ["FoldedLine", "differences", "fold", "fold_line", "trailing_blanks"]

_QUOTES: Final = {ord(c): "'" for c in "\u2018\u2019\u201a\u201b"} | {
    ord(c): '"' for c in "\u201c\u201d\u201e\u201f"
}
_DASHES: Final = dict.fromkeys((*range(0x2010, 0x2016), 0x2212), "-")
_SPACES: Final = dict.fromkeys((0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " ")
_TABLE: Final = _QUOTES | _DASHES | _SPACES
_BLANKS: Final = " \t\v\f"
_TRAILING: Final = re.compile(f"[{_BLANKS}]+(?=\n|\\Z)")


def fold(text: str) -> str:
    """The folded form of a text; it has the same number of lines."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_TABLE)
    return _TRAILING.sub("", text)


@dataclass(frozen=True, slots=True)
class FoldedLine:
    """One line in folded form.

    Attributes:
        text: the folded form.
        starts: for each cluster of the line (a character with what composes with it) its offset
            in the line, and behind them the line's end without trailing blanks. Empty when only
            trailing blanks were folded away, so that offsets are the same.
        folded_starts: the same places in ``text``.
    """

    text: str
    starts: tuple[int, ...] = ()
    folded_starts: tuple[int, ...] = ()

    def original(self, offset: int) -> int | None:
        """The offset in the line of an offset in ``text``; None inside an expanded character."""
        return self._across(self.folded_starts, self.starts, offset)

    def folded(self, offset: int) -> int | None:
        """The offset in ``text`` of an offset in the line; None inside a cluster, or beyond."""
        return self._across(self.starts, self.folded_starts, offset)

    def _across(self, here: tuple[int, ...], there: tuple[int, ...], offset: int) -> int | None:
        if not here:
            return offset if offset <= len(self.text) else None
        index = bisect_left(here, offset)
        return there[index] if index < len(here) and here[index] == offset else None


def fold_line(line: str) -> FoldedLine:
    """Fold one line (no line end in it) and keep where each part came from."""
    if line.isascii():
        return FoldedLine(line.rstrip(_BLANKS))
    starts: list[int] = []
    folded_starts: list[int] = []
    parts: list[str] = []
    length = position = 0
    while position < len(line):
        end = _cluster_end(line, position)
        part = unicodedata.normalize("NFKC", line[position:end]).translate(_TABLE)
        starts.append(position)
        folded_starts.append(length)
        parts.append(part)
        length += len(part)
        position = end
    text = "".join(parts).rstrip(_BLANKS)
    # Clusters that are trailing blanks go; the line's end is where the first of them began.
    while folded_starts and folded_starts[-1] >= len(text):
        position = starts.pop()
        folded_starts.pop()
    return FoldedLine(text, (*starts, position), (*folded_starts, len(text)))


def _cluster_end(line: str, start: int) -> int:
    """Where the cluster that begins at ``start`` ends: before a character that composes no more."""
    end = start + 1
    while end < len(line) and line[end] > "\x7f" and _joins(line[start:end], line[end]):
        end += 1
    return end


def _joins(before: str, character: str) -> bool:
    if unicodedata.combining(character):
        return True
    apart = unicodedata.normalize("NFKC", before) + unicodedata.normalize("NFKC", character)
    return unicodedata.normalize("NFKC", before + character) != apart


def differences(first: str, second: str) -> tuple[str, ...]:
    """What was folded away to make two texts equal, in words: ``quotes``, ``dashes``, ..."""
    found = []
    if _tails(first) != _tails(second):
        found.append("trailing blanks")
    for name, table in (("quotes", _QUOTES), ("dashes", _DASHES), ("spaces", _SPACES)):
        if any(first.count(chr(code)) != second.count(chr(code)) for code in table):
            found.append(name)
    plain = (_TRAILING.sub("", text.translate(_TABLE)) for text in (first, second))
    if len(set(plain)) > 1:
        found.append("compatibility forms")
    return tuple(found)


def trailing_blanks(line: str) -> str:
    """The blanks at the end of one line, special spaces included."""
    return line[len(line.translate(_SPACES).rstrip(_BLANKS)) :]


def _tails(text: str) -> list[str]:
    return [trailing_blanks(line) for line in text.split("\n")]
