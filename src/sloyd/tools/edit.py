"""The tool `edit`: exact replacements in one file, all of them or none."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.tools.definition import ToolDefinition, ToolRenderer
from sloyd.tools.edit_arguments import prepare_edit
from sloyd.tools.environment import ToolEnvironment

__all__ = ["EditParameters", "OneEdit", "edit_tool"]


class OneEdit(msgspec.Struct, frozen=True, rename="camel"):
    """One replacement of a call."""

    old_text: Annotated[
        str,
        msgspec.Meta(
            description=(
                "The text to replace, exactly as it is in the file, indentation included. It must "
                "occur once only, and must not overlap another edit of this call."
            )
        ),
    ]
    new_text: Annotated[str, msgspec.Meta(description="The text to put in its place.")]


class EditParameters(msgspec.Struct, frozen=True):
    """Arguments of `edit`."""

    path: Annotated[
        str, msgspec.Meta(description="The file to edit, relative to the working directory.")
    ]
    edits: Annotated[
        tuple[OneEdit, ...],
        msgspec.Meta(
            description=(
                "One or more replacements. Each oldText is matched in the original file, not in "
                "the result of the edits before it. Merge changes that touch or are close."
            )
        ),
    ]


_DESCRIPTION: Final = (
    "Change a file by exact text replacement. Every edits[].oldText must occur in the file once "
    "only, and the edits must not overlap; either all of them are applied or none. Everything "
    "outside the replaced text stays as it is, byte for byte: line endings, encoding, BOM. "
    "Write plain \\n for line breaks, whatever the file uses. To change several places, use one "
    "call with several edits; keep each oldText as short as is still unique. "
    "Bytes that read shows as markers like ⟨E9⟩ may be copied into oldText and newText."
)


def edit_tool(environment: ToolEnvironment) -> ToolDefinition[EditParameters]:
    """The definition of `edit`, acting in ``environment``."""

    async def execute(call: ToolCallContext, parameters: EditParameters) -> ToolResult:
        from sloyd.tools.edit_plan import TextEdit
        from sloyd.tools.editing import edit

        edits = [TextEdit(each.old_text, each.new_text) for each in parameters.edits]
        return await edit(environment, call, parameters.path, edits)

    return ToolDefinition(
        name="edit",
        label="Edit",
        description=_DESCRIPTION,
        parameters=EditParameters,
        execute=execute,
        prompt_snippet="Change a file by exact text replacement, several places in one call",
        prompt_guidelines=(
            "Use edit for changes inside a file; oldText must match the file exactly.",
            "Change several places of one file with one edit call that has several edits.",
        ),
        prepare=prepare_edit,
        renderer=_renderer,
    )


def _renderer() -> ToolRenderer:
    from sloyd.tools.render.files import EditRenderer

    return EditRenderer()
