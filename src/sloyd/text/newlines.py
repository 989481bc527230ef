"""The LF view of a text: its lines end in LF whatever they end in, and offsets map back.

Only LF and CRLF end a line. A lone CR is data and stays, and so are form feed, NEL and U+2028. The
one exception is a text without any LF (old Mac files): its CRs are the line ends.

Texts are bytes in UTF-8 or an ASCII-compatible encoding; of UTF-16 the caller passes a UTF-8 form.
A text without CR is its own view, so nothing is copied.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

__all__ = ["LineEnding", "LineView", "line_number", "line_view"]

LineEnding: TypeAlias = Literal["lf", "crlf", "mixed", "cr", "none"]

_BREAK: Final = re.compile(rb"\r\n|\n")


@dataclass(frozen=True, slots=True)
class LineView:
    """A text with all line ends as LF.

    Attributes:
        text: the view.
        source: the text itself.
        ending: what ends the lines of the source; ``none`` when there is one line only.
    """

    text: bytes
    source: bytes
    ending: LineEnding

    def original(self, offset: int) -> int:
        """Where the character at ``offset`` of the view begins in the source.

        A line end that is CRLF in the source begins at its CR. Linear in ``offset``, at memory
        speed: it counts line ends and keeps no table.
        """
        if self.ending == "crlf":
            return offset + self.text.count(b"\n", 0, offset)
        if self.ending != "mixed":
            return offset
        source, position, left = self.source, 0, offset
        while left:
            # Skip as many source bytes as view bytes are left; each CRLF among them leaves one.
            end = position + left
            if source[end - 1 : end + 1] == b"\r\n":
                end -= 1
            if end == position:
                position += 2
                left -= 1
                continue
            left -= end - position - source.count(b"\r\n", position, end)
            position = end
        return position

    def breaks(self, start: int, end: int) -> list[bytes]:
        """The line ends, as the source has them, of a part of the view."""
        count = self.text.count(b"\n", start, end)
        if not count:
            return []
        match self.ending:
            case "crlf":
                return [b"\r\n"] * count
            case "cr":
                return [b"\r"] * count
            case "mixed":
                return _BREAK.findall(self.source[self.original(start) : self.original(end)])
            case _:
                return [b"\n"] * count

    def break_near(self, offset: int) -> bytes | None:
        """The end of the line at ``offset`` of the view, else of the line before; None if no line
        ends at all."""
        match self.ending:
            case "crlf":
                return b"\r\n"
            case "cr":
                return b"\r"
            case "lf":
                return b"\n"
            case "none":
                return None
        place = self.text.find(b"\n", offset)
        if place < 0:
            place = self.text.rfind(b"\n", 0, offset)
        return self.breaks(place, place + 1)[0]


def line_view(source: bytes) -> LineView:
    """The LF view of a text. Linear; copies only when there is something to fold."""
    if b"\r" not in source:
        return LineView(source, source, "lf" if b"\n" in source else "none")
    line_feeds = source.count(b"\n")
    if not line_feeds:
        return LineView(source.replace(b"\r", b"\n"), source, "cr")
    pairs = source.count(b"\r\n")
    if not pairs:
        return LineView(source, source, "lf")
    folded = source.replace(b"\r\n", b"\n")
    return LineView(folded, source, "crlf" if pairs == line_feeds else "mixed")


def line_number(text: bytes, offset: int) -> int:
    """The number, from 1, of the line that holds ``offset``."""
    return text.count(b"\n", 0, offset) + 1
