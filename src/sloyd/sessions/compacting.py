"""Compacting a session: plan the cut, ask for the summary, append the entry."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from sloyd.errors import SessionError
from sloyd.llm.models import Model, ThinkingLevel
from sloyd.sessions.compaction import compact
from sloyd.sessions.cut import CompactionSettings, plan_cut
from sloyd.sessions.entries import CompactionEntry
from sloyd.sessions.session import Session

__all__ = ["CompactionReason", "compact_session"]

CompactionReason: TypeAlias = Literal["manual", "threshold", "overflow"]
_DEFAULTS = CompactionSettings()


async def compact_session(
    session: Session,
    model: Model,
    *,
    reason: CompactionReason = "manual",
    instructions: str | None = None,
    settings: CompactionSettings = _DEFAULTS,
    overhead: int = 0,
    thinking: ThinkingLevel = "off",
) -> CompactionEntry | None:
    """Put a summary in the place of the older part of the active branch, and return its entry.

    None when there is nothing to cut. After an ``overflow`` only half as much is kept, because the
    estimate has just been proved too small. ``overhead`` is the estimated size of system prompt
    and tool schemas. Raises `ProviderError` when the model fails and `SessionError` when its
    summary cannot be used, or the session has gone to another branch meanwhile; nothing is
    appended then.
    """
    if reason == "overflow":
        half = settings.keep_recent_tokens // 2
        settings = msgspec.structs.replace(settings, keep_recent_tokens=half)
    context = session.context()
    plan = plan_cut(
        context,
        settings,
        context_window=model.info.context_window,
        overhead=overhead,
        force=True,
    )
    if plan is None:
        return None
    previous = session.entry(plan.previous_id) if plan.previous_id is not None else None
    entry = await compact(
        plan,
        model,
        previous=previous if isinstance(previous, CompactionEntry) else None,
        instructions=instructions,
        thinking=thinking,
    )
    if all(node.id != plan.first_kept_entry_id for node in session.tree.branch()):
        raise SessionError("the session went to another branch while it was being compacted")
    appended = session.append(entry)
    assert isinstance(appended, CompactionEntry)
    return appended
