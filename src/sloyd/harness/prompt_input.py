"""The first prompt: piped text, ``@file`` arguments and words, put together.

The order is pi's: what was piped in, then the files, then the words.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from sloyd.errors import EncodingError, UsageError, WorkspaceError
from sloyd.llm.messages import Image, Text, UserContent, UserMessage
from sloyd.text.markup import attribute
from sloyd.tools.environment import ToolSettings
from sloyd.workspace.base import Workspace
from sloyd.workspace.paths import resolve

__all__ = ["first_prompts"]


async def first_prompts(
    workspace: Workspace,
    words: Sequence[str],
    *,
    piped: str = "",
    settings: ToolSettings | None = None,
    expand: Callable[[str], Awaitable[str]] | None = None,
) -> list[UserMessage]:
    """The messages that a run begins with: one for each word, the first with all the rest in front.

    A word that begins with ``@`` names a file. Its text goes in between ``<file name="...">`` tags;
    an image goes in as an image. Behind other texts, ``expand`` makes of the first word what it
    stands for (a template, say); alone, a prompt is left as it is. Raises `UsageError` for a file
    that cannot be read.
    """
    files = [word[1:] for word in words if word.startswith("@") and len(word) > 1]
    # A blank one is a script's empty variable; providers refuse a message without text.
    prompts = [
        word for word in words if word.strip() and not (word.startswith("@") and len(word) > 1)
    ]
    texts: list[str] = []
    images: list[Image] = []
    if piped.strip():
        # What a pipe brings is text and never a slash command.
        texts.append(f"\n{piped}" if piped.lstrip(" \t").startswith("/") else piped)
    for name in files:
        text, found = await _file(workspace, name, settings or ToolSettings())
        texts.append(text)
        images += found
    if prompts:
        texts.append(await expand(prompts[0]) if expand and texts else prompts[0])
    if not texts:
        return []
    content: tuple[UserContent, ...] = (Text("\n".join(texts)), *images)
    first = UserMessage(content=content if images else "\n".join(texts))
    return [first, *(UserMessage(content=prompt) for prompt in prompts[1:])]


async def _file(workspace: Workspace, name: str, settings: ToolSettings) -> tuple[str, list[Image]]:
    """One file as text with its tags, and the images that it is or holds."""
    try:
        found = await resolve(workspace, name)
        data, _version = await workspace.read_file(found.path)
    except WorkspaceError as error:
        raise UsageError(f"cannot read the file @{name}: {error}") from error
    opening = f"<file name={attribute(found.path)}>"
    from sloyd.tools.images import prepare_image

    image = await prepare_image(data, box=settings.image_box, max_base64=settings.image_bytes)
    if image is not None:
        return f"{opening}{image.note}</file>", [image.image] if image.image else []
    from sloyd.text.encoding import decode, detect, looks_binary, show_undecodable

    if looks_binary(data[:8192]):
        raise UsageError(f"cannot put the file @{name} into the prompt: it is binary")
    try:
        text = decode(data, detect(data, complete=True))
    except EncodingError as error:
        raise UsageError(f"cannot read the file @{name}: {error}") from error
    return f"{opening}\n{show_undecodable(text)}\n</file>", []
