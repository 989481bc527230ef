"""What a call of `edit` does: match, replace, and tell what was changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.errors import ToolError
from sloyd.text.changes import LineChange, line_changes
from sloyd.text.diff import numbered_diff
from sloyd.text.patch import binary_patch, unified_patch
from sloyd.text.splice import Replacement, splice
from sloyd.tools.changing import Change, Plan, Target, change_file
from sloyd.tools.edit_plan import EditPlan, TextEdit, plan_edits
from sloyd.tools.environment import ToolEnvironment

__all__ = ["EditDetails", "EditSpan", "PatchFormat", "Tolerance", "edit"]

PatchFormat: TypeAlias = Literal["unified", "git-binary", "none"]


class EditSpan(msgspec.Struct, frozen=True, rename="camel"):
    """Where an edit was made: byte offsets in the old file and in the new one."""

    edit: int
    line: int
    start: int
    end: int
    new_start: int
    new_end: int


class Tolerance(msgspec.Struct, frozen=True, rename="camel"):
    """An edit that had no exact match, where it matched, and what was overlooked."""

    edit: int
    line: int
    overlooked: tuple[str, ...]


class EditDetails(msgspec.Struct, frozen=True, rename="camel"):
    """What people and programs get beside the result.

    Attributes:
        diff: numbered rows for people (`sloyd.text.diff`).
        patch: for ``git apply``, on the file's real bytes; None when it would be too large.
        patch_format: ``unified`` is also for ``patch -p1``; ``git-binary`` for ``git apply`` only.
        first_changed_line: in the new file, from 1.
        spans: in the order of their places.
        encoding: such as ``utf-8`` or ``utf-16-le with BOM``.
        line_ending: ``lf``, ``crlf``, ``mixed``, ``cr`` or ``none``.
        tolerant: edits that matched tolerantly.
    """

    diff: str
    patch: str | None
    patch_format: PatchFormat
    first_changed_line: int
    spans: tuple[EditSpan, ...]
    encoding: str
    line_ending: str
    tolerant: tuple[Tolerance, ...] = ()


async def edit(
    environment: ToolEnvironment, call: ToolCallContext, path: str, edits: Sequence[TextEdit]
) -> ToolResult:
    """Make all edits to a file, or none. Raises `ToolError`."""
    if not edits:
        raise ToolError("Edit tool input is invalid. edits must contain at least one replacement.")

    def compute(target: Target, before: bytes | None) -> Plan[EditDetails]:
        data = before or b""
        plan = plan_edits(data, edits, target.shown)
        return Plan(splice(data, plan.in_file), _details(data, plan, target))

    change = Change("edit", call.id, "edit", path, compute)
    changed = await change_file(environment, change)
    details = changed.outcome
    sentences = [f"Successfully replaced {len(edits)} block(s) in {changed.target.shown}."]
    sentences += [_tolerance(each, len(edits)) for each in details.tolerant]
    if changed.read_again:
        sentences.append("The file had changed meanwhile; the edits went into its new content.")
    sentences += changed.notes
    return ToolResult.of(" ".join(sentences), details=details)


def _tolerance(tolerance: Tolerance, count: int) -> str:
    name = "The text" if count == 1 else f"edits[{tolerance.edit}]"
    return (
        f"{name} had no exact match; it matched at line {tolerance.line} but for "
        f"{', '.join(tolerance.overlooked)}, which the file keeps where you changed nothing."
    )


def _details(data: bytes, plan: EditPlan, target: Target) -> EditDetails:
    shown, shown_changes = _for_people(plan)
    patch, patch_format = _patch(data, plan, shown_changes, target.relative)
    return EditDetails(
        diff=numbered_diff(shown, shown_changes),
        patch=patch,
        patch_format=patch_format,
        first_changed_line=shown_changes[0].new_line if shown_changes else plan.located[0].line,
        spans=_spans(plan),
        encoding=plan.encoding.label,
        line_ending=plan.view.ending,
        tolerant=tuple(
            Tolerance(each.index, each.line, each.tolerated)
            for each in plan.located
            if each.tolerated
        ),
    )


def _for_people(plan: EditPlan) -> tuple[bytes, list[LineChange]]:
    """The old text and its changed lines, with CRs as line breaks where they are."""
    if plan.view.ending != "cr":
        return plan.view.source, line_changes(plan.view.source, plan.in_text)
    replacements = [
        Replacement(each.start, each.end, each.new.replace(b"\r", b"\n")) for each in plan.in_text
    ]
    return plan.view.text, line_changes(plan.view.text, replacements)


def _patch(
    data: bytes, plan: EditPlan, changes: Sequence[LineChange], path: str
) -> tuple[str | None, PatchFormat]:
    if not plan.encoding.is_wide:
        if plan.encoding.bom or plan.view.ending == "cr":
            changes = line_changes(data, plan.in_file)
        patch = unified_patch(data, changes, path)
        if patch is not None:
            return patch, "unified"
    if plan.encoding.is_wide or plan.encoding.name == "unknown-8bit":
        patch = binary_patch(data, plan.in_file, path)
        if patch is not None:
            return patch, "git-binary"
    return None, "none"


def _spans(plan: EditPlan) -> tuple[EditSpan, ...]:
    spans: list[EditSpan] = []
    shift = 0
    for located, replacement in zip(plan.located, plan.in_file, strict=True):
        start = replacement.start + shift
        end = start + len(replacement.new)
        spans.append(
            EditSpan(located.index, located.line, replacement.start, replacement.end, start, end)
        )
        shift += len(replacement.new) - (replacement.end - replacement.start)
    return tuple(spans)
