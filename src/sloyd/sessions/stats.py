"""What a session has used: messages, calls, tokens, money. All branches count; all was paid for."""

from __future__ import annotations

import msgspec

from sloyd.llm.messages import AssistantMessage, ToolResultMessage, Usage
from sloyd.sessions.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    Entry,
    MessageEntry,
    UsageEntry,
)
from sloyd.sessions.estimate import context_tokens
from sloyd.sessions.session import Session
from sloyd.sessions.usage import sum_usage

__all__ = ["SessionStats", "session_stats"]


class SessionStats(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Counts over the whole session; ``context_tokens`` is the size of the active branch."""

    user_messages: int = 0
    assistant_messages: int = 0
    tool_calls: int = 0
    tool_results: int = 0
    usage: Usage = Usage()
    context_tokens: int = 0


def session_stats(session: Session) -> SessionStats:
    """Count everything. Reads every entry once."""
    users = answers = calls = results = 0
    usage = Usage()
    for entry in session.entries():
        spent = _usage_of(entry)
        if spent is not None:
            usage = sum_usage(usage, spent)
        if not isinstance(entry, MessageEntry):
            continue
        message = entry.message
        if isinstance(message, AssistantMessage):
            answers += 1
            calls += len(message.tool_calls)
        elif isinstance(message, ToolResultMessage):
            results += 1
        elif session.tree.node(entry.id).role == "user":
            users += 1
    return SessionStats(
        user_messages=users,
        assistant_messages=answers,
        tool_calls=calls,
        tool_results=results,
        usage=usage,
        context_tokens=context_tokens(session.context().items),
    )


def _usage_of(entry: Entry) -> Usage | None:
    if isinstance(entry, MessageEntry):
        return entry.message.usage if isinstance(entry.message, AssistantMessage) else None
    if isinstance(entry, UsageEntry | CompactionEntry | BranchSummaryEntry):
        return entry.usage
    return None
