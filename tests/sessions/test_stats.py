"""What a session has used, in all of its branches."""

from __future__ import annotations

from sloyd.llm.messages import Cost, Usage
from sloyd.sessions.entries import CompactionEntry, UsageEntry
from sloyd.sessions.session import Session
from sloyd.sessions.stats import session_stats
from tests.sessions.builders import answer, call, result, user


def test_everything_that_was_paid_for_counts() -> None:
    session = Session.in_memory("/w")
    first = session.append_message(user("q"))
    session.append_message(
        answer("", call("a"), call("b"), usage=Usage(input=10, output=5, cost=Cost(total=0.5)))
    )
    session.append_message(result("a", "x"))
    session.append_message(result("b", "y"))
    session.navigate(first.id)
    session.append_message(answer("other", usage=Usage(input=20, output=1, total_tokens=30)))
    session.append(UsageEntry(kind="cache_warm", usage=Usage(cache_read=7, cost=Cost(total=0.25))))
    session.append(
        CompactionEntry(
            summary="s", first_kept_entry_id=first.id, usage=Usage(input=100, output=50)
        )
    )
    stats = session_stats(session)
    assert (stats.user_messages, stats.assistant_messages) == (1, 2)
    assert (stats.tool_calls, stats.tool_results) == (2, 2)
    assert (stats.usage.input, stats.usage.output, stats.usage.cache_read) == (130, 56, 7)
    assert stats.usage.total_tokens == 15 + 30 + 7 + 150
    assert stats.usage.cost.total == 0.75
    assert 0 < stats.context_tokens < 100
