"""Where a text occurs in a file: exactly, and only if it does not, tolerantly.

All offsets are byte offsets in the LF view of the file (`sloyd.text.newlines`). Exact search runs
on bytes: in UTF-8 a whole character never matches in the middle of another. Tolerant search
(`sloyd.text.folding`) decodes block by block, so its memory does not grow with the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sloyd.text.folding import FoldedLine, fold, fold_line, trailing_blanks

__all__ = ["MAX_PLACES", "MAX_TOLERANT", "Place", "Places", "find_exact", "find_tolerant"]

MAX_PLACES: Final = 1000
"""Most places that are listed one by one."""

MAX_TOLERANT: Final = 64 * 1024 * 1024
"""Most bytes of a text that is searched tolerantly; folding CJK text takes 20 ms a megabyte."""

_MAX_TOLERANT_PLACES: Final = 50
_MAX_LINE: Final = 200_000
_BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """One occurrence: ``start`` to ``end`` in the LF view."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Places:
    """All occurrences of a text, the first ones (`MAX_PLACES` at most) as places.

    ``more`` says that the count went on beyond what was counted.
    """

    places: tuple[Place, ...]
    count: int
    more: bool = False


def find_exact(text: bytes, needle: bytes) -> Places:
    """Every exact occurrence, overlapping ones too."""
    places: list[Place] = []
    start = text.find(needle)
    while start >= 0 and len(places) < MAX_PLACES:
        if _is_whole(text, needle, start):
            places.append(Place(start, start + len(needle)))
        start = text.find(needle, start + 1)
    if start < 0:
        return Places(tuple(places), len(places))
    if _overlaps_itself(needle):
        return Places(tuple(places), len(places), more=True)
    return Places(tuple(places), max(text.count(needle), len(places)))


def _is_whole(text: bytes, needle: bytes, start: int) -> bool:
    """Whether an occurrence cuts no character of the text.

    Only a text of undecodable bytes can: one that begins with a continuation byte, or ends with
    the beginning of a character that the file completes.
    """
    return not (
        (0x80 <= needle[0] < 0xC0 and _inside_character(text, start))
        or (needle[-1] >= 0x80 and _inside_character(text, start + len(needle)))
    )


def _inside_character(text: bytes, offset: int) -> bool:
    if offset >= len(text) or not 0x80 <= text[offset] < 0xC0:
        return False
    for begin in range(offset - 1, max(offset - 4, -1), -1):
        lead = text[begin]
        if lead >= 0xC0:
            width = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
            return begin + width > offset and _is_valid(text[begin : begin + width])
        if lead < 0x80:
            return False
    return False


def _is_valid(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _overlaps_itself(needle: bytes) -> bool:
    return any(needle.endswith(needle[:length]) for length in range(1, min(len(needle), 4096)))


def find_tolerant(text: bytes, needle: str) -> Places:
    """The first occurrences of ``needle`` when both are folded, as whole characters of the file.

    A needle of nothing but blanks and line ends has none. A needle whose last line ends in blanks
    matches at the end of a line only. Not searched: texts over `MAX_TOLERANT` bytes, and non-ASCII
    lines over 200,000 characters.
    """
    folded = fold(needle)
    if not folded.strip() or len(text) > MAX_TOLERANT:
        return Places((), 0)
    core = max(folded.split("\n"), key=len)
    plain_core = core.encode("utf-8", "surrogateescape") if core.isascii() else None
    at_line_end = trailing_blanks(needle.rsplit("\n", maxsplit=1)[-1]) != ""
    places: list[Place] = []
    begin = 0
    while begin < len(text) and len(places) < _MAX_TOLERANT_PLACES:
        end = _line_end(text, begin + _BLOCK)
        reach = end
        for _ in range(needle.count("\n")):
            reach = _line_end(text, reach)
        block = text[begin:reach]
        # In an ASCII block folding takes trailing blanks only, so the longest line must be there.
        if not (block.isascii() and (plain_core is None or plain_core not in block)):
            search = _Search(folded, at_line_end, block)
            places.extend(
                Place(begin + place.start, begin + place.end)
                for place in search.places()
                if place.start < end - begin
            )
        begin = end
    return Places(tuple(places), len(places), more=len(places) >= _MAX_TOLERANT_PLACES)


def _line_end(text: bytes, offset: int) -> int:
    """The offset behind the line end at or after ``offset``."""
    found = text.find(b"\n", offset)
    return len(text) if found < 0 else found + 1


class _Search:
    """A folded needle in one block of whole lines."""

    def __init__(self, needle: str, at_line_end: bool, block: bytes) -> None:
        self._needle = needle
        self._at_line_end = at_line_end
        self._text = block.decode("utf-8", "surrogateescape")
        self._folded = fold(self._text)
        self._lines: list[str] = []
        self._offsets = [0]
        self._mapped: dict[int, FoldedLine] = {}

    def places(self) -> list[Place]:
        starts = self._hits()
        if not starts:
            return []
        self._lines = self._text.split("\n")
        for line in self._lines:
            width = len(line.encode("utf-8", "surrogateescape")) + 1
            self._offsets.append(self._offsets[-1] + width)
        places = []
        for start in starts:
            first, last = self._original(start), self._end(start + len(self._needle))
            if first is not None and last is not None:
                places.append(Place(first, last))
        return places

    def _hits(self) -> list[int]:
        hits: list[int] = []
        start = self._folded.find(self._needle)
        while start >= 0 and len(hits) < _MAX_TOLERANT_PLACES:
            end = start + len(self._needle)
            if not self._at_line_end or self._folded[end : end + 1] in ("", "\n"):
                hits.append(start)
            start = self._folded.find(self._needle, start + 1)
        return hits

    def _end(self, end: int) -> int | None:
        if self._at_line_end:
            return self._offsets[self._folded.count("\n", 0, end) + 1] - 1
        return self._original(end)

    def _original(self, offset: int) -> int | None:
        """The byte offset in the block of an offset in its folded form; None inside a character."""
        index = self._folded.count("\n", 0, offset)
        line = self._lines[index]
        if len(line) > _MAX_LINE and not line.isascii():
            return None
        mapped = self._mapped.get(index)
        if mapped is None:
            mapped = self._mapped[index] = fold_line(line)
        line_start = self._folded.rfind("\n", 0, offset) + 1
        line_end = self._folded.find("\n", offset)
        if mapped.text != self._folded[line_start : line_end if line_end >= 0 else None]:
            return None
        column = mapped.original(offset - line_start)
        if column is None:
            return None
        return self._offsets[index] + len(line[:column].encode("utf-8", "surrogateescape"))
