"""What a run leaves behind for the one who started it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from sloyd.agent.events import RunOutcome
from sloyd.errors import SloydError
from sloyd.llm.messages import AssistantMessage, Cost, Message, Usage

__all__ = ["RunResult", "total_usage"]


class RunResult(msgspec.Struct, frozen=True):
    """The end of a run.

    Attributes:
        messages: those that the run added, the prompt first.
        outcome: ``done``; ``error`` when the model failed; ``aborted``; ``limit`` when a limit
            stopped the run cleanly. After the last three, `Agent.resume` goes on.
        error: what stopped the run, for ``error`` and ``limit``.
        usage: the tokens and costs of all requests together.
        turns: how many requests there were.
    """

    messages: tuple[Message, ...] = ()
    outcome: RunOutcome = "done"
    error: SloydError | None = None
    usage: Usage = Usage()
    turns: int = 0

    @property
    def last_answer(self) -> AssistantMessage | None:
        """The last message of the model, whole or partial; None when there is none."""
        for message in reversed(self.messages):
            if isinstance(message, AssistantMessage):
                return message
        return None

    @property
    def text(self) -> str:
        """The text of the last answer."""
        answer = self.last_answer
        return "" if answer is None else answer.text

    @property
    def error_message(self) -> str | None:
        """Why the run did not complete, for people."""
        return None if self.error is None else str(self.error)


def total_usage(messages: Iterable[Message]) -> Usage:
    """The sum over all answers among ``messages``."""
    usages = [each.usage for each in messages if isinstance(each, AssistantMessage)]
    costs = [usage.cost for usage in usages]
    return Usage(
        input=sum(each.input for each in usages),
        output=sum(each.output for each in usages),
        cache_read=sum(each.cache_read for each in usages),
        cache_write=sum(each.cache_write for each in usages),
        total_tokens=sum(each.total_tokens for each in usages),
        cost=Cost(
            input=sum(each.input for each in costs),
            output=sum(each.output for each in costs),
            cache_read=sum(each.cache_read for each in costs),
            cache_write=sum(each.cache_write for each in costs),
            total=sum(each.total for each in costs),
        ),
    )
