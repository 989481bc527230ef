"""The loop: ask the model, run the calls, put the results into the context, ask again.

    agent_start
    repeat
        end here?      aborted, a limit reached
        turn_start
        enter          the prompt, then what was queued meanwhile
        ask            one request, one assistant message
        calls          each gets one result
        turn_end
        more to do?    calls, or steering, or (when it would stop) a follow-up
    agent_end

The history is complete at every ``turn_end``: no call is without its result. An abort, a limit and
a failed request all end the run there, and `Agent.resume` goes on from there.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from sloyd.agent.answer import Answer, ask
from sloyd.agent.calls import CallBatch
from sloyd.agent.events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    MessageEnd,
    MessageStart,
    QueueUpdate,
    RunOutcome,
    TurnEnd,
    TurnStart,
)
from sloyd.agent.identity import call_ids
from sloyd.agent.limits import LimitGauge
from sloyd.agent.repetition import RepetitionWatch
from sloyd.agent.result import RunResult, total_usage
from sloyd.agent.state import AgentState, Desk
from sloyd.agent.supervision import Supervisor
from sloyd.errors import AgentError, LimitReached, SloydError
from sloyd.llm.messages import Message, UserMessage

__all__ = ["Run"]

_log = logging.getLogger(__name__)


class Run:
    """One run of an agent, from a prompt until there is nothing more to do.

    Attributes:
        open: whether the run still takes steering and follow-ups. It stops doing so at the moment
            in which it decides to end, so that no message is ever parked.
    """

    def __init__(self, state: AgentState) -> None:
        self.open = True
        self._state = state
        self._supervisor = Supervisor(state.abort_grace, state.left_behind, self._tell_queues)
        self._gauge = LimitGauge(state.limits)
        self._watch = RepetitionWatch(state.limits)
        self._added: list[Message] = []
        self._queue_changed = False
        self._desk = Desk(
            state, self._supervisor, self._emit, self._append, call_ids(state.messages)
        )
        state.replaceable = False
        state.listeners.on_cancelled = self._supervisor.abort

    def abort(self) -> None:
        """End the run as soon as the history is complete. Safe to call at any time."""
        self._supervisor.abort()

    def queue_changed(self) -> None:
        """Tell the listeners soon what waits to be said."""
        self._queue_changed = True
        self._supervisor.wake()

    async def go(self, prompt: Sequence[UserMessage]) -> RunResult:
        """Run to the end. Never raises for what models, tools, hooks or listeners do."""
        await self._emit(AgentStart())
        try:
            outcome, error = await self._turns(prompt)
        except Exception as fault:  # noqa: BLE001 - a run ends in order
            _log.exception("the run failed")
            outcome, error = "error", AgentError(f"The run failed: {type(fault).__name__}: {fault}")
        self.open = False
        messages = tuple(self._added)
        await self._emit(
            AgentEnd(
                messages=messages,
                outcome=outcome,
                error_message=None if error is None else str(error),
            )
        )
        return RunResult(messages, outcome, error, total_usage(messages), self._gauge.turns)

    async def _turns(self, prompt: Sequence[UserMessage]) -> tuple[RunOutcome, SloydError | None]:
        waiting = self._state.steering.clear()
        self._queue_changed |= bool(waiting)
        entering = [*waiting, *prompt]
        while True:
            self._gauge.turns += 1
            turn = self._gauge.turns
            await self._emit(TurnStart(turn=turn))
            for message in entering:
                await self._enter(message)
            answer = await ask(self._desk, turn)
            used = answer.message.usage
            self._gauge.cost += used.cost.total
            if used.total_tokens and not used.cost.total:
                self._gauge.unpriced = answer.info.id
            if answer.message.stop_reason in ("error", "aborted"):
                await self._emit(TurnEnd(turn=turn, message=answer.message))
                return _failed(answer)
            batch = CallBatch(self._desk, self._watch, answer.message, answer.info)
            await batch.run()
            results = tuple(batch.results)
            await self._emit(TurnEnd(turn=turn, message=answer.message, tool_results=results))
            wants_more = bool(results) and not batch.terminate
            end = await self._end(wants_more)
            if end is not None:
                return end
            entering = self._state.steering.take()
            if not entering and not wants_more:
                entering = self._state.follow_up.take()
            self._queue_changed |= bool(entering)

    async def _end(self, wants_more: bool) -> tuple[RunOutcome, SloydError | None] | None:
        """How the run is to end now, or None when there is another turn to take."""
        for warning in self._watch.take_warnings():
            await self._emit(warning)
        if not (wants_more or self._state.steering or self._state.follow_up):
            self.open = False
            return "done", None
        if self._supervisor.aborted:
            return "aborted", None
        if self._watch.stop is not None:
            return "limit", LimitReached(self._watch.stop)
        exceeded = self._gauge.exceeded()
        if exceeded is not None:
            return "limit", LimitReached(exceeded)
        for warning in self._gauge.warnings():
            await self._emit(warning)
        return ("aborted", None) if self._supervisor.aborted else None

    async def _enter(self, message: UserMessage) -> None:
        await self._emit(MessageStart(message=message))
        self._append(message)
        await self._emit(MessageEnd(message=message))

    def _append(self, message: Message) -> None:
        self._state.messages.append(message)
        self._added.append(message)

    async def _emit(self, event: AgentEvent) -> None:
        if self._queue_changed:
            await self._tell_queues()
        await self._state.listeners.emit(event)

    async def _tell_queues(self) -> None:
        if self._queue_changed:
            self._queue_changed = False
            steering, follow_up = self._state.steering.texts, self._state.follow_up.texts
            await self._state.listeners.emit(QueueUpdate(steering=steering, follow_up=follow_up))


def _failed(answer: Answer) -> tuple[RunOutcome, SloydError | None]:
    if answer.error is not None:
        return "error", answer.error
    if answer.message.stop_reason == "aborted":
        return "aborted", None
    return "error", AgentError(answer.message.error_message or "The model failed without a reason.")
