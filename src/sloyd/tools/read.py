"""The read tool: lines of a text file, or an image.

Text comes as it is in the file, without line numbers, so that it can be copied into an edit. What
cannot be shown is made visible: undecodable bytes and control characters as ``⟨E9⟩``. However
large the file is, it is read in chunks, and only the wanted lines are kept.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.errors import ToolError, WorkspaceError
from sloyd.text.encoding import Encoding, detect, incremental_decoder
from sloyd.text.truncate import MAX_BYTES, MAX_LINES, format_size
from sloyd.tools.definition import ToolDefinition, ToolRenderer
from sloyd.tools.environment import ToolEnvironment, ToolSettings
from sloyd.tools.failures import file_failure
from sloyd.tools.foreign_names import PATH, mended
from sloyd.tools.image_kinds import HEAD_BYTES, sniff_image
from sloyd.workspace.base import Workspace
from sloyd.workspace.paths import resolve

__all__ = ["ReadParameters", "read_tool"]

_HEAD: Final = 128 * 1024
"""Bytes that the first look at a file takes; most files are no larger."""

_CHUNK: Final = 4 << 20
_MOST_IMAGE_BYTES: Final = 64 << 20
_DAMAGED: Final = re.compile("[\ud800-\udfff\ufffd]")
_MOST_DAMAGE: Final = 0.01  # of a text's characters; beyond, its mark was chance
_SPARE_BYTES: Final = 4  # so that a line cut at the limit is still seen to exceed it

_DESCRIPTION: Final = f"""\
Read the contents of a file. Supports text files and images (png, jpg, gif, webp, bmp, avif, tiff, \
ico, ...), which are sent as attachments. For text files, output is limited to {MAX_LINES} lines \
or {format_size(MAX_BYTES)}, whichever comes first; use offset and limit for large files, and \
continue with offset until you have all that you need. A line over {format_size(MAX_BYTES)} is \
read in parts with column. UTF-16 and UTF-32 are decoded; bytes that are no text are shown as \
markers like ⟨E9⟩. Binary files are described, not shown. To list a directory, use ls."""


class ReadParameters(Struct, frozen=True):
    """Which file to read, and which part of it."""

    path: Annotated[str, Meta(description="Path of the file to read (relative or absolute)")]
    offset: Annotated[
        int | None, Meta(description="Line number to start reading from (1-indexed)")
    ] = None
    limit: Annotated[int | None, Meta(description="Maximum number of lines to read")] = None
    column: Annotated[
        int | None,
        Meta(
            description="Byte of the line at offset to start from (1-indexed), "
            "to read a very long line in parts"
        ),
    ] = None


def read_tool(environment: ToolEnvironment) -> ToolDefinition[ReadParameters]:
    """The definition of ``read``."""

    async def execute(call: ToolCallContext, parameters: ReadParameters) -> ToolResult:
        _check(parameters)
        return await _read(environment, call, parameters)

    return ToolDefinition(
        name="read",
        label="read",
        description=_DESCRIPTION,
        parameters=ReadParameters,
        execute=execute,
        prompt_snippet="Read file contents",
        prompt_guidelines=("Use read to examine files instead of cat or sed.",),
        prepare=mended(PATH),
        read_only=True,
        renderer=_renderer,
    )


def _renderer() -> ToolRenderer:
    from sloyd.tools.render.files import ReadRenderer

    return ReadRenderer()


def _check(parameters: ReadParameters) -> None:
    """Refuse numbers that mean nothing. An offset of 0 is taken for 1, as pi takes it."""
    for name, number, least in (
        ("offset", parameters.offset, 0),
        ("limit", parameters.limit, 1),
        ("column", parameters.column, 1),
    ):
        if number is not None and number < least:
            hint = {
                "offset": "Lines are numbered from 1; leave offset out to start at the first line.",
                "limit": f"Leave limit out to read up to {MAX_LINES} lines.",
                "column": "The bytes of a line are numbered from 1.",
            }[name]
            raise ToolError(f"{name} must be at least 1, not {number}. {hint}")


async def _read(
    environment: ToolEnvironment, call: ToolCallContext, parameters: ReadParameters
) -> ToolResult:
    workspace = environment.workspace
    path = posixpath.join(workspace.cwd, parameters.path)
    shown = parameters.path
    try:
        try:
            if "\0" in path or not parameters.path or path.endswith("/"):
                raise WorkspaceError("not a literal path", path=path, reason="missing")
            # The literal path comes first, and mostly it is the right one.
            head, version = await workspace.read_file(path, limit=_HEAD)
        except WorkspaceError:
            resolved = await resolve(workspace, parameters.path)
            path, shown = resolved.path, resolved.shown
            head, version = await workspace.read_file(path, limit=_HEAD)
        if not head:
            return _empty(parameters)
        if sniff_image(head[:HEAD_BYTES]) is not None:
            image = await _image(workspace, call, environment.settings, path, head)
            if image is not None:
                return image
        # Loaded with the first file: a session's first request does not wait for them.
        from sloyd.tools.binary_kinds import describe_binary

        size = max(version.size, len(head))
        wants_raw = (parameters.offset or parameters.limit or parameters.column) is not None
        description = describe_binary(head, path, size, wants_raw=wants_raw)
        if description is not None:
            return ToolResult.of(description, details={"binary": True, "size": size})
        return await _text(workspace, path, head, parameters)
    except WorkspaceError as error:
        raise await file_failure(workspace, "read", shown, error) from error


def _readable_as(head: bytes, is_whole: bool) -> Encoding:
    """What to decode a file with; a damaged UTF-16 text is still more readable than its bytes."""
    encoding = detect(head, complete=False)
    if encoding.is_wide and is_whole:
        text = incremental_decoder(encoding).decode(head, final=True)
        if len(_DAMAGED.findall(text)) > _MOST_DAMAGE * len(text) + 1:
            return detect(head, complete=True)
    return encoding if encoding.is_wide else detect(head, complete=is_whole)


def _empty(parameters: ReadParameters) -> ToolResult:
    if (parameters.offset or 1) > 1:
        raise ToolError(f"Offset {parameters.offset} is beyond end of file (0 lines total)")
    return ToolResult.of("(empty file)")


async def _text(
    workspace: Workspace, path: str, head: bytes, parameters: ReadParameters
) -> ToolResult:
    from sloyd.tools.line_window import LineWindow
    from sloyd.tools.page import Page, shown_page

    first = max(parameters.offset or 1, 1)
    limit = parameters.limit
    window = LineWindow(
        first,
        most_lines=min(limit or MAX_LINES, MAX_LINES),
        most_bytes=MAX_BYTES + _SPARE_BYTES,
        column=parameters.column,
    )
    is_whole = len(head) < _HEAD
    encoding = _readable_as(head, is_whole)
    if encoding.is_wide:
        decoder = incremental_decoder(encoding)
        async for chunk in _chunks(workspace, path, head, is_whole):
            text = decoder.decode(chunk)
            if text:
                window.feed(text.encode("utf-8", "surrogatepass"))
        if rest := decoder.decode(b"", final=True):
            window.feed(rest.encode("utf-8", "surrogatepass"))
    else:
        async for chunk in _chunks(workspace, path, head.removeprefix(encoding.bom), is_whole):
            window.feed(chunk)
    if not window.size:
        return _empty(parameters)
    page = Page(window, first=first, limit=limit, column=parameters.column)
    text, details = shown_page(page)
    if parameters.offset == 0:
        text += "\n\n[Lines are numbered from 1: offset 0 was taken as 1.]"
    if encoding.is_wide:
        details["encoding"] = encoding.label
    return ToolResult.of(text, details=details or None)


async def _chunks(
    workspace: Workspace, path: str, head: bytes, is_whole: bool
) -> AsyncIterator[bytes]:
    if head:
        yield head
    if not is_whole:
        async for chunk in workspace.read(path, start=_HEAD, chunk_size=_CHUNK):
            yield chunk


async def _image(
    workspace: Workspace,
    call: ToolCallContext,
    settings: ToolSettings,
    path: str,
    head: bytes,
) -> ToolResult | None:
    """The file as an image, or None when it is none after all."""
    from sloyd.tools.images import prepare_image

    data = head
    if len(head) == _HEAD:
        data, _ = await workspace.read_file(path, limit=_MOST_IMAGE_BYTES + 1)
    if len(data) > _MOST_IMAGE_BYTES:
        return ToolResult.of(
            f"[Image omitted: the file has more than {format_size(_MOST_IMAGE_BYTES)}. "
            "Make a smaller copy with bash first, then read that.]"
        )
    prepared = await prepare_image(data, box=settings.image_box, max_base64=settings.image_bytes)
    if prepared is None:
        return None
    text = f"Read image file [{prepared.mime_type}]"
    if prepared.note:
        text += f"\n{prepared.note}"
    if prepared.image is None:
        return ToolResult.of(text)
    details: dict[str, Any] | None = None
    if call.model is not None and "image" not in call.model.inputs:
        details = {"imageUnsupportedByModel": call.model.id}
    return ToolResult.of(text, prepared.image, details=details)
