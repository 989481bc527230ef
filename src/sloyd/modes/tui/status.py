"""Keeps the footer's facts: adds up what answers cost, and looks where we are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sloyd.llm.messages import AssistantMessage, Usage
from sloyd.modes.tui.footer import FooterFacts, short_path
from sloyd.modes.tui.git_branch import git_branch
from sloyd.sessions.usage import sum_usage

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = ["Status"]


class Status:
    """The facts of an open agent."""

    def __init__(self, agent: CodingAgent) -> None:
        self._agent = agent
        self._usage = Usage()
        self._queued = 0
        self._branch: str | None = None

    def count_again(self) -> None:
        """Another session, or another branch of it: add everything up anew."""
        from sloyd.sessions.stats import session_stats

        self._usage = session_stats(self._agent.session).usage
        self._queued = 0

    def answered(self, message: AssistantMessage) -> None:
        """One more answer was paid for."""
        self._usage = sum_usage(self._usage, message.usage)

    def queued(self, count: int) -> None:
        """So many messages wait."""
        self._queued = count

    def look_around(self) -> None:
        """See which branch the work tree is on; commands may have changed it."""
        self._branch = git_branch(self._agent.workspace.cwd)

    def facts(self, *, behind: str = "") -> FooterFacts:
        """What the footer is to say now; ``behind`` is the key that goes to the end."""
        agent = self._agent
        info = agent.model.info
        usage = self._usage
        window = info.context_window
        return FooterFacts(
            directory=short_path(agent.workspace.cwd, agent.workspace.home),
            branch=self._branch,
            session=agent.session.name,
            model=info.id,
            thinking=agent.thinking,
            context=agent.conversation.context_tokens() / window if window else 0.0,
            window=window,
            input=usage.input + usage.cache_write,
            output=usage.output,
            cached=usage.cache_read,
            cost=usage.cost.total,
            queued=self._queued,
            behind=behind,
        )
