"""From a file's bytes and a list of edits to its new bytes, or to a refusal that helps.

Pure. Every edit is matched in the original content; all of them apply, or none does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from sloyd.errors import EncodingError, ToolError
from sloyd.text.encoding import Encoding, detect, looks_like_bare_utf16, parse_undecodable
from sloyd.text.fitting import fit
from sloyd.text.folding import differences
from sloyd.text.match import Place, Places, find_exact, find_tolerant
from sloyd.text.newlines import LineView, line_number, line_view
from sloyd.text.splice import Replacement

__all__ = ["EditPlan", "Located", "TextEdit", "plan_edits"]

_MAX_LINES_NAMED: Final = 12
_MAX_PROBLEMS: Final = 5
_WIDE_MARKS: Final = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
_DAMAGED: Final = (
    "The file begins with the mark of UTF-16 or UTF-32 but is damaged: not all of it is in that "
    "encoding, so its text cannot be edited. Mend it first (bash: iconv -c), and keep a copy."
)


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One replacement as the model wrote it."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Located:
    """Where an edit goes.

    Attributes:
        index: the edit's place in the call.
        place: offsets in the LF view.
        old: the text that matched, with LF line ends and without markers.
        new: the replacement in the same form.
        line: number of the line where the match begins.
        tolerated: what differed from an exact match, in words.
    """

    index: int
    place: Place
    old: str
    new: str
    line: int
    tolerated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EditPlan:
    """A complete set of replacements.

    Attributes:
        view: the LF view of the file's text, in UTF-8 whatever the file is in.
        located: the edits in the order of their places.
        in_text: for each of them, the replacement in ``view.source``.
        in_file: the same in the file's own bytes.
    """

    encoding: Encoding
    view: LineView
    located: tuple[Located, ...]
    in_text: tuple[Replacement, ...]
    in_file: tuple[Replacement, ...]


def plan_edits(data: bytes, edits: Sequence[TextEdit], shown: str) -> EditPlan:
    """Match all edits in ``data``. Raises `ToolError`; ``shown`` is the path for its text."""
    encoding = detect(data, complete=True)
    if looks_like_bare_utf16(data[:4096]):
        raise ToolError(
            f"Could not edit {shown}: it seems to be UTF-16 without a byte order mark, or binary. "
            "The file was not changed. Convert it first (bash: iconv -f UTF-16LE -t UTF-8)."
        )
    view = line_view(_as_utf8(data, encoding))
    names = _Names(shown, len(edits))
    located: list[Located] = []
    problems: list[str] = []
    for index, edit in enumerate(edits):
        try:
            located.append(_locate(view, encoding, edit, index, names))
        except _Unplaced as problem:
            problems.append(str(problem))
    if problems:
        hidden = len(problems) - _MAX_PROBLEMS
        more = [f"{hidden} more edits do not match either."] if hidden > 0 else []
        raise ToolError("\n".join([*problems[:_MAX_PROBLEMS], *more]))
    located.sort(key=lambda each: each.place.start)
    for first, second in pairwise(located):
        if second.place.start < first.place.end:
            raise ToolError(names.overlap(first, second))
    in_text = _replacements(view, encoding, located, edits, names)
    return EditPlan(
        encoding, view, tuple(located), in_text, _in_file(view.source, encoding, in_text)
    )


def _as_utf8(data: bytes, encoding: Encoding) -> bytes:
    body = data[len(encoding.bom) :] if encoding.bom else data
    return body.decode(encoding.codec).encode() if encoding.is_wide else body


class _Unplaced(Exception):
    """An edit has no place; the text is for the model."""


@dataclass(frozen=True, slots=True)
class _Names:
    """The texts about edits, which name an edit by its index when there are several."""

    path: str
    count: int

    def empty(self, index: int) -> str:
        name = "oldText" if self.count == 1 else f"edits[{index}].oldText"
        return (
            f"{name} must not be empty in {self.path}. Give the text to replace, or use write "
            "for a new or a whole file."
        )

    def missing(self, index: int) -> str:
        if self.count == 1:
            return (
                f"Could not find the exact text in {self.path}. The old text must match exactly "
                "including all whitespace and newlines."
            )
        return (
            f"Could not find edits[{index}] in {self.path}. The oldText must match exactly "
            "including all whitespace and newlines."
        )

    def repeated(self, index: int, count: str) -> str:
        if self.count == 1:
            return (
                f"Found {count} occurrences of the text in {self.path}. The text must be unique. "
                "Please provide more context to make it unique."
            )
        return (
            f"Found {count} occurrences of edits[{index}] in {self.path}. Each oldText must be "
            "unique. Please provide more context to make it unique."
        )

    def overlap(self, first: Located, second: Located) -> str:
        low, high = sorted((first.index, second.index))
        return (
            f"edits[{low}] and edits[{high}] overlap in {self.path}. Merge them into one edit or "
            f"target disjoint regions. They meet at line {second.line}."
        )

    def unchanged(self) -> str:
        if self.count == 1:
            return (
                f"No changes made to {self.path}. The replacement produced identical content. "
                "This might indicate an issue with special characters or the text not existing "
                "as expected."
            )
        return f"No changes made to {self.path}. The replacements produced identical content."

    def unencodable(self, index: int, encoding: Encoding, error: EncodingError) -> str:
        name = "newText" if self.count == 1 else f"edits[{index}].newText"
        advice = (
            " ASCII text is always possible; single bytes can be given as markers like ⟨E9⟩, as "
            "read shows them; or convert the file first (bash: iconv)."
        )
        return (
            f"Could not write {name} to {self.path}: {error}. The file was not changed."
            f"{advice if encoding.name == 'unknown-8bit' else ''}"
        )


def _locate(
    view: LineView, encoding: Encoding, edit: TextEdit, index: int, names: _Names
) -> Located:
    old, new = _with_line_feeds(edit.old, view), _with_line_feeds(edit.new, view)
    if encoding.bom and old.startswith("\ufeff"):
        old, new = old[1:], new.removeprefix("\ufeff")
    if not old:
        raise _Unplaced(names.empty(index))
    # A text is taken literally first; only then are its markers bytes that read has shown.
    parsed = parse_undecodable(old)
    readings = [old] if parsed == old else [old, parsed]
    for tolerant in (False, True):
        for reading in readings:
            found = _places(view, reading, tolerant)
            if not found.count:
                continue
            if found.count > 1:
                raise _Unplaced(_repeated(view, found, index, names, tolerant))
            place = found.places[0]
            has_markers = reading == parsed and (parsed != old or encoding.name == "unknown-8bit")
            return Located(
                index,
                place,
                reading,
                parse_undecodable(new) if has_markers else new,
                line_number(view.text, place.start),
                _tolerated(view, place, reading) if tolerant else (),
            )
    if encoding.name == "unknown-8bit" and view.source.startswith(_WIDE_MARKS):
        raise _Unplaced(f"{names.missing(index)} {_DAMAGED}")
    from sloyd.text.near_miss import explain_miss

    raise _Unplaced(f"{names.missing(index)} {explain_miss(view.text, old, new)}")


def _with_line_feeds(text: str, view: LineView) -> str:
    if "\r" not in text:
        return text
    text = text.replace("\r\n", "\n")
    return text.replace("\r", "\n") if view.ending == "cr" else text


def _places(view: LineView, old: str, tolerant: bool) -> Places:
    try:
        needle = old.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return Places((), 0)
    return find_tolerant(view.text, old) if tolerant else find_exact(view.text, needle)


def _tolerated(view: LineView, place: Place, old: str) -> tuple[str, ...]:
    matched = view.text[place.start : place.end].decode("utf-8", "surrogateescape")
    return differences(matched, old) or ("look-alike characters",)


def _repeated(view: LineView, found: Places, index: int, names: _Names, tolerant: bool) -> str:
    lines: dict[int, int] = {}
    number, counted = 1, 0
    for place in found.places:
        number += view.text.count(b"\n", counted, place.start)
        counted = place.start
        lines[number] = lines.get(number, 0) + 1
        if len(lines) > _MAX_LINES_NAMED:
            break
    named = [
        f"{line} ({times} times)" if times > 1 else str(line) for line, times in lines.items()
    ][:_MAX_LINES_NAMED]
    rest = " and more" if len(lines) > _MAX_LINES_NAMED else ""
    count = f"more than {found.count}" if found.more else str(found.count)
    what = "They begin at" if not tolerant else "None is exact; these differ in details only, at"
    plural = "lines" if len(lines) > 1 else "line"
    return f"{names.repeated(index, count)} {what} {plural} {', '.join(named)}{rest}."


def _replacements(
    view: LineView,
    encoding: Encoding,
    located: Sequence[Located],
    edits: Sequence[TextEdit],
    names: _Names,
) -> tuple[Replacement, ...]:
    replacements: list[Replacement] = []
    changed = False
    for each in located:
        given = edits[each.index].new
        default = b"\r\n" if "\r\n" in given and "\n" not in given.replace("\r\n", "") else b"\n"
        try:
            new = fit(view, each.place, each.old, each.new, encoding, default_break=default)
        except EncodingError as error:
            raise ToolError(names.unencodable(each.index, encoding, error)) from None
        start, end = view.original(each.place.start), view.original(each.place.end)
        replacements.append(Replacement(start, end, new))
        changed = changed or view.source[start:end] != new
    if not changed:
        raise ToolError(names.unchanged())
    return tuple(replacements)


def _in_file(
    text: bytes, encoding: Encoding, replacements: Sequence[Replacement]
) -> tuple[Replacement, ...]:
    """The replacements in the file's own bytes: moved by its mark, in UTF-16 encoded anew."""
    moved: list[Replacement] = []
    counted, offset = 0, len(encoding.bom)
    for each in replacements:
        if not encoding.is_wide:
            moved.append(Replacement(each.start + offset, each.end + offset, each.new))
            continue
        start = offset + _width(text[counted : each.start], encoding)
        end = start + _width(text[each.start : each.end], encoding)
        moved.append(Replacement(start, end, each.new.decode().encode(encoding.codec)))
        counted, offset = each.end, end
    return tuple(moved)


def _width(text: bytes, encoding: Encoding) -> int:
    return len(text.decode().encode(encoding.codec))
