"""Where a context may be cut, so that its older part can be summarised.

A cut never parts a tool call from its result. It lies before a user message where it can, and
inside a long turn, before an answer, where it must; then the request of that turn is told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from sloyd.llm.messages import AssistantMessage, ToolResultMessage, UserMessage
from sloyd.sessions.context import ContextItem, SessionContext
from sloyd.sessions.estimate import context_tokens, estimate_message

__all__ = ["CompactionSettings", "CutPlan", "plan_cut", "should_compact"]


class CompactionSettings(msgspec.Struct, frozen=True):
    """When to compact and how much to keep. The defaults are pi's.

    Attributes:
        enabled: whether to compact without being asked.
        reserve_tokens: room that must stay free in the context window; at most a quarter of it.
        keep_recent_tokens: how much of the newest messages stays; at most a third of the window.
    """

    enabled: bool = True
    reserve_tokens: int = 16_384
    keep_recent_tokens: int = 20_000


@dataclass(frozen=True, slots=True)
class CutPlan:
    """A context in two: what a summary will stand for, and what stays.

    Attributes:
        cut: messages to summarise, oldest first; never empty.
        kept: messages that stay; never empty.
        first_kept_entry_id: where the kept part begins.
        request: the user message of the turn that the cut splits, when it does.
        previous_id: the compaction whose summary is to be updated, if there is one.
        tokens_before: size of the whole context.
    """

    cut: tuple[ContextItem, ...]
    kept: tuple[ContextItem, ...]
    first_kept_entry_id: str
    request: ContextItem | None
    previous_id: str | None
    tokens_before: int


def should_compact(tokens: int, context_window: int, settings: CompactionSettings) -> bool:
    """Whether a context of that many tokens leaves too little room for the next answer."""
    reserve = min(settings.reserve_tokens, context_window // 4)
    return settings.enabled and tokens > context_window - reserve


def plan_cut(
    context: SessionContext,
    settings: CompactionSettings,
    *,
    context_window: int = 128_000,
    overhead: int = 0,
    force: bool = False,
) -> CutPlan | None:
    """Where to cut; None when there is nothing to cut.

    ``force`` cuts a context that is smaller than what would be kept, too: the last turn stays then.
    ``overhead`` as in `sloyd.sessions.estimate.context_tokens`.
    """
    items = context.items
    begin = 1 if context.compaction_id is not None else 0
    allowed = _allowed(items, begin)
    keep = min(settings.keep_recent_tokens, context_window // 3)
    place = _by_size(items, allowed, keep)
    if place is None and force:
        place = _last_turn(items, allowed)
    if place is None:
        return None
    return CutPlan(
        cut=items[begin:place],
        kept=items[place:],
        first_kept_entry_id=items[place].entry_id,
        request=_split_request(items, begin, place),
        previous_id=context.compaction_id,
        tokens_before=context_tokens(items, overhead),
    )


def _allowed(items: Sequence[ContextItem], begin: int) -> list[int]:
    """Places before which the context may be cut, in order; at least one message is cut."""
    callers: dict[str, int] = {}
    blocked: set[int] = set()
    for place, item in enumerate(items):
        message = item.message
        if isinstance(message, AssistantMessage):
            callers |= {call.id: place for call in message.tool_calls}
        elif isinstance(message, ToolResultMessage):
            caller = callers.get(message.tool_call_id, place - 1)
            blocked.update(range(caller + 1, place + 1))
    return [place for place in range(begin + 1, len(items)) if place not in blocked]


def _by_size(items: Sequence[ContextItem], allowed: Sequence[int], keep: int) -> int | None:
    """The latest cut that keeps ``keep`` tokens, before a user message if one is near."""
    if not allowed:
        return None
    size = 0
    reached = None
    for place in range(len(items) - 1, -1, -1):
        size += estimate_message(items[place].message)
        if size >= keep:
            reached = place
            break
    if reached is None:
        return None
    at_or_before = [place for place in allowed if place <= reached]
    if not at_or_before:
        # The first message alone is larger than what is to be kept.
        return allowed[0]
    chosen = at_or_before[-1]
    for place in allowed:
        # A turn that begins a little later is worth more than a full measure.
        if place > chosen and isinstance(items[place].message, UserMessage):
            later = sum(estimate_message(item.message) for item in items[place:])
            return place if later >= keep // 2 else chosen
    return chosen


def _last_turn(items: Sequence[ContextItem], allowed: Sequence[int]) -> int | None:
    for place in reversed(allowed):
        if isinstance(items[place].message, UserMessage):
            return place
    return allowed[-1] if allowed else None


def _split_request(items: Sequence[ContextItem], begin: int, place: int) -> ContextItem | None:
    """The user message whose turn goes on behind the cut; None when a turn begins there."""
    if isinstance(items[place].message, UserMessage):
        return None
    for item in reversed(items[begin:place]):
        if isinstance(item.message, UserMessage):
            return item
    return None
