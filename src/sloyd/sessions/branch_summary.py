"""A summary of a branch that is left, so that the branch gone on with knows of it."""

from __future__ import annotations

from sloyd.llm.models import Model, ThinkingLevel
from sloyd.sessions.compaction import summarise
from sloyd.sessions.context import build_context
from sloyd.sessions.entries import BranchSummaryEntry
from sloyd.sessions.estimate import estimate_text
from sloyd.sessions.serialise import conversation_parts
from sloyd.sessions.session import Session
from sloyd.sessions.traces import file_lists

__all__ = ["summarise_branch"]


async def summarise_branch(
    session: Session,
    target_id: str | None,
    model: Model,
    *,
    instructions: str | None = None,
    thinking: ThinkingLevel = "off",
) -> BranchSummaryEntry | None:
    """The summary of what would be left by going from the leaf to ``target_id``.

    None when nothing is left. The caller appends it: ``session.append_at(entry, target_id)`` moves
    there and says it in one step. Raises as `sloyd.sessions.compaction.compact` does.
    """
    tree = session.tree
    leaf = session.leaf_id
    shared = tree.common_ancestor(leaf, target_id)
    left = tree.path(leaf)
    if shared is not None:
        left = left[[node.id for node in left].index(shared) + 1 :]
    items = build_context(left, lambda node: session.entry(node.id)).items
    parts = list(conversation_parts(items))
    if not parts:
        return None
    summary = await summarise(
        _newest(parts, model.info.context_window // 2),
        model,
        instructions=instructions,
        thinking=thinking,
    )
    files = file_lists(items, {})
    return BranchSummaryEntry(
        from_id=leaf,
        summary=f"{summary.text}\n\nThe branch ends with entry {leaf}.",
        usage=summary.usage,
        details={"readFiles": list(files.read), "modifiedFiles": list(files.modified)},
    )


def _newest(parts: list[str], tokens: int) -> list[str]:
    size = 0
    for place in range(len(parts) - 1, -1, -1):
        size += estimate_text(parts[place])
        if size > tokens and place + 1 < len(parts):
            return parts[place + 1 :]
    return parts
