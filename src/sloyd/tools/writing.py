"""What a call of `write` does: replace the whole content, and say what that changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.errors import EncodingError, ToolError
from sloyd.text.changes import LineChange, line_changes
from sloyd.text.diff import numbered_diff
from sloyd.text.encoding import UTF8, Encoding, detect, encode_added
from sloyd.text.newlines import LineView, line_view
from sloyd.text.patch import binary_patch, unified_patch
from sloyd.text.splice import Replacement
from sloyd.tools.changing import Change, Plan, Target, change_file
from sloyd.tools.editing import PatchFormat
from sloyd.tools.environment import ToolEnvironment
from sloyd.workspace.paths import quote_name

__all__ = ["WriteDetails", "write"]

_MAX_DIFFED: Final = 4 * 1024 * 1024
"""Most bytes, old and new together, whose lines are compared."""


class WriteDetails(msgspec.Struct, frozen=True, rename="camel"):
    """What people and programs get beside the result.

    Attributes:
        action: whether the file was created, replaced, or had this content already.
        bytes: size of the new content.
        previous_bytes: size of the old one; None for a new file.
        diff: numbered rows for people, from the old content; None when the files are too large.
        patch: the same for ``git apply``; None likewise.
        first_changed_line: in the new file, from 1; None without a diff.
    """

    action: Literal["created", "replaced", "unchanged"]
    bytes: int
    previous_bytes: int | None
    diff: str | None
    patch: str | None
    patch_format: PatchFormat
    first_changed_line: int | None
    encoding: str
    line_ending: str


@dataclass(frozen=True, slots=True)
class _Written:
    details: WriteDetails
    notes: tuple[str, ...]


async def write(
    environment: ToolEnvironment, call: ToolCallContext, path: str, text: str
) -> ToolResult:
    """Put ``text`` in the place of the file's content. Raises `ToolError`."""
    try:
        content = encode_added(text, UTF8)
    except EncodingError as error:
        raise ToolError(
            f"Could not write {quote_name(path)}: {error}. Nothing was written. Give "
            "the content without it, or write the bytes with bash (printf)."
        ) from None

    def compute(target: Target, before: bytes | None) -> Plan[_Written]:
        if before == content:
            return Plan(None, _Written(_unchanged(content), ()))
        notes = () if before is None else _style_notes(before, content)
        return Plan((content,), _Written(_details(before, content, target), notes))

    change = Change("write", call.id, "write to", path, compute, may_create=True)
    changed = await change_file(environment, change)
    written, shown = changed.outcome, changed.target.shown
    sentence = f"Successfully wrote to {shown} ({_what_happened(written.details)})."
    lines = (sentence, *written.notes, *changed.notes)
    return ToolResult.of("\n".join(lines), details=written.details)


def _what_happened(details: WriteDetails) -> str:
    match details.action:
        case "created":
            return f"created, {details.bytes} bytes"
        case "replaced":
            return f"replaced, {details.bytes} bytes, {details.previous_bytes} before"
        case "unchanged":
            return f"unchanged, the file had exactly these {details.bytes} bytes"


@dataclass(frozen=True, slots=True)
class _Content:
    """Bytes, and what they are as text."""

    data: bytes
    encoding: Encoding
    view: LineView

    @classmethod
    def of(cls, data: bytes) -> _Content:
        encoding = detect(data, complete=True)
        body = data[len(encoding.bom) :] if encoding.bom else data
        if encoding.is_wide:
            body = body.decode(encoding.codec).encode()
        return cls(data, encoding, line_view(body))


def _unchanged(data: bytes) -> WriteDetails:
    content = _Content.of(data)
    encoding, ending = content.encoding.label, content.view.ending
    return WriteDetails("unchanged", len(data), len(data), "", "", "none", None, encoding, ending)


def _style_notes(before: bytes, after: bytes) -> tuple[str, ...]:
    """What the new content does not share with the old one, besides its text."""
    old, new = _Content.of(before), _Content.of(after)
    notes: list[str] = []
    if old.encoding.is_wide or old.encoding.name == "unknown-8bit":
        was = old.encoding.label if old.encoding.is_wide else "not UTF-8 (Latin-1 or the like)"
        notes.append(f"Note: the old file was {was}; it is {new.encoding.label} now.")
    elif old.encoding.bom and not new.encoding.bom:
        notes.append(
            "Note: the old file began with a BOM; the new one does not. Begin the content with "
            "\\ufeff to have one."
        )
    elif new.encoding.bom and not old.encoding.bom and before:
        notes.append("Note: the new file begins with a BOM; the old one did not.")
    if old.view.ending != new.view.ending and "none" not in (old.view.ending, new.view.ending):
        names = {"lf": "LF", "crlf": "CRLF", "cr": "CR", "mixed": "mixed endings"}
        notes.append(
            f"Note: the lines of the old file ended in {names[old.view.ending]}; those of the new "
            f"one end in {names[new.view.ending]}. Use edit to change a file and keep its endings."
        )
    return tuple(notes)


def _details(before: bytes | None, after: bytes, target: Target) -> WriteDetails:
    old, new = _Content.of(before or b""), _Content.of(after)
    diff: str | None = None
    patch: str | None = None
    patch_format: PatchFormat = "none"
    first: int | None = None
    if len(old.data) + len(new.data) <= _MAX_DIFFED:
        shown = _changes(old.view.text, new.view.text)
        diff = numbered_diff(old.view.text, shown)
        first = shown[0].new_line if shown else None
        patch, patch_format = _patch(old, new, shown, target.relative, created=before is None)
    return WriteDetails(
        action="created" if before is None else "replaced",
        bytes=len(after),
        previous_bytes=None if before is None else len(before),
        diff=diff,
        patch=patch,
        patch_format=patch_format,
        first_changed_line=first,
        encoding=new.encoding.label,
        line_ending=new.view.ending,
    )


def _changes(old: bytes, new: bytes) -> list[LineChange]:
    return line_changes(old, [_trimmed(old, new)])


def _trimmed(old: bytes, new: bytes) -> Replacement:
    """The one replacement that makes ``new`` of ``old``, without their common ends."""
    head = _common_head(old, new)
    shorter = min(len(old), len(new)) - head
    tail = _common_head(old[len(old) - shorter :][::-1], new[len(new) - shorter :][::-1])
    return Replacement(head, len(old) - tail, new[head : len(new) - tail])


def _common_head(first: bytes, second: bytes) -> int:
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _patch(
    old: _Content, new: _Content, shown: list[LineChange], path: str, *, created: bool
) -> tuple[str | None, PatchFormat]:
    whole = _trimmed(old.data, new.data)
    if not old.encoding.is_wide:
        # Of plain text, people are shown the lines as they are in the file.
        is_plain = old.view.text == old.data and new.view.text == new.data
        changes = shown if is_plain else line_changes(old.data, [whole])
        patch = unified_patch(old.data, changes, path, created=created)
        if patch is not None:
            return patch, "unified"
    if not created:
        patch = binary_patch(old.data, [whole], path)
        if patch is not None:
            return patch, "git-binary"
    return None, "none"
