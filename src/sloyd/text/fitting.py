"""What is written where a text matched: the new text, in the file's own bytes.

Whatever the old and the new text have in common stays as the file has it: its line ends, and, when
the match was tolerant, its quotes, dashes, spaces and trailing blanks. A new line break takes the
line end of the line it replaces, an inserted line that of the line before it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sloyd.errors import EncodingError
from sloyd.text.align import align
from sloyd.text.encoding import UTF8, Encoding, encode_added
from sloyd.text.folding import fold_line, trailing_blanks
from sloyd.text.match import Place
from sloyd.text.newlines import LineView

__all__ = ["fit"]


def fit(
    view: LineView, place: Place, old: str, new: str, encoding: Encoding, *, default_break: bytes
) -> bytes:
    """The bytes to put in the place of a match of ``old``.

    ``old`` and ``new`` have LF as line ends. ``default_break`` ends new lines where the file has no
    line end to follow. Raises `EncodingError` for added text that the file cannot hold, and where
    the change might split a double-byte character of an unknown encoding.
    """
    matched = view.text[place.start : place.end]
    exact = matched == old.encode("utf-8", "surrogateescape")
    if exact and encoding.name != "unknown-8bit" and view.ending != "mixed":
        line_break = view.break_near(place.start) or default_break
        data = encode_added(new, UTF8)
        return data if line_break == b"\n" else data.replace(b"\n", line_break)
    aligned = _AlignedLines(view, place, old.split("\n"), new.split("\n"), encoding, default_break)
    data = b"".join(aligned.rebuild())
    if encoding.name == "unknown-8bit":
        _refuse_split_character(view.text, place.start, matched, data)
    return data


class _AlignedLines:
    """Rebuilds a match line by line, with the old lines that the new ones stand for."""

    def __init__(
        self,
        view: LineView,
        place: Place,
        old: list[str],
        new: list[str],
        encoding: Encoding,
        default_break: bytes,
    ) -> None:
        matched = view.text[place.start : place.end].decode("utf-8", "surrogateescape")
        self._file = matched.split("\n")
        self._old = old
        self._new = new
        self._encoding = encoding
        breaks = view.breaks(place.start, place.end)
        self._last_break = breaks[0] if breaks else view.break_near(place.start) or default_break
        # The end of the last matched line lies behind the match.
        self._breaks = [*breaks, view.break_near(place.end) or default_break]

    def rebuild(self) -> Iterator[bytes]:
        """The pieces of the new content."""
        for index, partner in self._pairs():
            yield from self._line(index, partner)
            if partner is not None:
                self._last_break = self._breaks[partner]
            if index < len(self._new) - 1:
                yield self._last_break

    def _pairs(self) -> Iterator[tuple[int, int | None]]:
        """Each new line with the old line that it keeps or replaces, None for an inserted one."""
        for step in align(self._old, self._new):
            for index in range(step.new_start, step.new_end):
                partner = step.old_start + index - step.new_start
                yield index, partner if partner < step.old_end else None

    def _line(self, index: int, partner: int | None) -> Iterator[bytes]:
        new = self._new[index]
        if partner is None:
            yield encode_added(new, self._encoding_of_added)
            return
        old, file = self._old[partner], self._file[partner]
        if old == new:
            yield _kept(file)
            return
        head, added, tail, blanks = _merge(file, old, new)
        yield _kept(head)
        yield encode_added(added, self._encoding_of_added)
        yield _kept(tail)
        yield encode_added(blanks, self._encoding_of_added)

    @property
    def _encoding_of_added(self) -> Encoding:
        return self._encoding if self._encoding.name == "unknown-8bit" else UTF8


def _kept(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _merge(file: str, old: str, new: str) -> tuple[str, str, str, str]:
    """A line in four parts: what stays of the file's line in front, what is new, what stays
    behind, and new trailing blanks."""
    if file == old:
        head, tail = _common(old, new)
        return file[:head], new[head : len(new) - tail], file[len(file) - tail :], ""
    folded_file, folded_old = fold_line(file), fold_line(old)
    if folded_file.text != folded_old.text:
        return "", new, "", ""
    old_blanks, new_blanks = trailing_blanks(old), trailing_blanks(new)
    old_body, new_body = old[: len(old) - len(old_blanks)], new[: len(new) - len(new_blanks)]
    head, tail = _common(old_body, new_body)

    def in_file(offset: int) -> int | None:
        folded = folded_old.folded(offset)
        return None if folded is None else folded_file.original(folded)

    while (start := in_file(head)) is None:
        head -= 1
    while (end := in_file(len(old_body) - tail)) is None:
        tail -= 1
    added = new_body[head : len(new_body) - tail]
    if old_blanks == new_blanks:
        return file[:start], added, file[end:], ""
    return file[:start], added, file[end : len(file) - len(trailing_blanks(file))], new_blanks


def _common(old: str, new: str) -> tuple[int, int]:
    """The lengths of the common beginning and, behind it, the common end of two texts."""
    shorter = min(len(old), len(new))
    head = 0
    # Whole blocks first: lines of megabytes exist.
    while head + 4096 <= shorter and old[head : head + 4096] == new[head : head + 4096]:
        head += 4096
    while head < shorter and old[head] == new[head]:
        head += 1
    tail, limit = 0, shorter - head
    while tail + 4096 <= limit and (
        old[len(old) - tail - 4096 : len(old) - tail]
        == new[len(new) - tail - 4096 : len(new) - tail]
    ):
        tail += 4096
    while tail < limit and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def _refuse_split_character(text: bytes, start: int, old: bytes, new: bytes) -> None:
    """Refuse a change that begins at what may be the second byte of a double-byte character.

    In Shift-JIS, GBK and Big5 the second byte of a character may be an ASCII letter or a backslash
    (40 to 7E). The first byte of the match is one when an undecodable byte stands before it.
    """
    if old == new or old[:1] == new[:1] or not 0x40 <= old[0] <= 0x7E:
        return
    begin = start
    while begin > max(0, start - 64) and text[begin - 1] >= 0x80:
        begin -= 1
    try:
        text[begin:start].decode()
    except UnicodeDecodeError:
        shown = "".join(f"⟨{byte:02X}⟩" for byte in text[begin:start][-4:])
        raise EncodingError(
            f"{chr(old[0])!r} stands right behind the undecodable byte(s) {shown} and may be the "
            "second half of a character; begin oldText before them, with these markers in it"
        ) from None
