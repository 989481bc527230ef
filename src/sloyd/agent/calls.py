"""The calls of one answer: prepared, gated, run, and answered in their order.

Every call gets exactly one result, whatever happens to it. Calls are prepared one after the other;
then they run beside each other, unless the agent or one of the tools wants them one by one.
"""

from __future__ import annotations

import logging
import time
from typing import TypeAlias

import msgspec

from sloyd.agent import refusals
from sloyd.agent.events import (
    MessageEnd,
    MessageStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from sloyd.agent.hooks import FinishedCall, PendingCall
from sloyd.agent.preparation import prepared_call
from sloyd.agent.repetition import RepetitionWatch
from sloyd.agent.state import Desk
from sloyd.agent.supervision import Job, Mailbox
from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.llm.messages import (
    AssistantMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    text_of,
)
from sloyd.llm.models import ModelInfo

__all__ = ["CallBatch"]

_log = logging.getLogger(__name__)


class _Progress(msgspec.Struct, frozen=True, eq=False):
    call: ToolCall
    partial: ToolResult


class _Finished(msgspec.Struct, frozen=True, eq=False):
    call: ToolCall
    result: ToolResult
    duration_ms: int | None


_News: TypeAlias = _Progress | _Finished


class CallBatch:
    """Answers the calls of ``message``; `results` and `terminate` tell the outcome."""

    def __init__(
        self, desk: Desk, watch: RepetitionWatch, message: AssistantMessage, info: ModelInfo
    ) -> None:
        self._desk = desk
        self._watch = watch
        self._message = message
        self._info = info
        self._mailbox: Mailbox[_News] = Mailbox(desk.supervisor)
        self._announced: set[str] = set()
        self._finished: dict[str, _Finished] = {}
        self.results: list[ToolResultMessage] = []

    @property
    def terminate(self) -> bool:
        """Whether every result asks for the end of the run."""
        finished = self._finished.values()
        return bool(finished) and all(each.result.terminate for each in finished)

    async def run(self) -> None:
        """Answer all calls, even if a tool's own attributes raise."""
        try:
            await self._run()
        except Exception as error:  # noqa: BLE001 - each call still gets its result
            _log.exception("the calls of an answer could not be run")
            for call in self._message.tool_calls:
                if call.id not in self._finished:
                    await self._announce(call)
                    await self._finish(_Finished(call, refusals.failure(call.name, error), None))
            recorded = {result.tool_call_id for result in self.results}
            for call in self._message.tool_calls:
                if call.id not in recorded:
                    await self._record(call)

    async def _run(self) -> None:
        calls = self._message.tool_calls
        tools = self._desk.state.tools
        one_by_one = self._desk.state.tool_execution == "sequential" or any(
            call.name in tools and tools[call.name].mode == "sequential" for call in calls
        )
        for batch in [(call,) for call in calls] if one_by_one else [calls]:
            await self._run_together(batch)
            for call in batch:
                await self._record(call)

    async def _run_together(self, calls: tuple[ToolCall, ...]) -> None:
        ready: list[PendingCall] = []
        for call in calls:
            await self._announce(call)
            prepared = await prepared_call(self._desk, self._message, call)
            if isinstance(prepared, PendingCall):
                ready.append(prepared)
            else:
                await self._finish(_Finished(call, prepared, None))
        if self._desk.supervisor.aborted:
            for pending in ready:
                await self._finish(_Finished(pending.call, refusals.aborted(), None))
            return
        began = time.monotonic()
        jobs = [(pending, self._start(pending)) for pending in ready]
        await self._desk.supervisor.wait([job for _, job in jobs], self._deliver)
        for pending, _ in jobs:
            if pending.call.id not in self._finished:
                spent = round((time.monotonic() - began) * 1000)
                name, grace = pending.tool.name, self._desk.supervisor.grace
                result = refusals.still_running(name, grace)
                await self._finish(_Finished(pending.call, result, spent))

    async def _announce(self, call: ToolCall) -> None:
        if call.id not in self._announced:
            self._announced.add(call.id)
            await self._desk.emit(
                ToolExecutionStart(
                    tool_call_id=call.id, tool_name=call.name, arguments=call.arguments
                )
            )

    def _start(self, pending: PendingCall) -> Job[None]:
        return self._desk.supervisor.start(lambda: self._execution(pending))

    async def _execution(self, pending: PendingCall) -> None:
        """The job of one call: run the tool, let the hook see the result, report."""
        began = time.monotonic()
        call, tool = pending.call, pending.tool
        result = refusals.aborted()
        open_for_updates = True

        async def update(partial: ToolResult) -> None:
            if open_for_updates and call.id not in self._finished:
                await self._mailbox.put(_Progress(call, refusals.sound(call.name, partial)))

        try:
            context = ToolCallContext(call.id, self._info, update)
            try:
                result = refusals.sound(call.name, await tool.execute(context, pending.arguments))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - the model is told
                # A library that exits (a parser of options, say) must not take the agent along.
                result = refusals.reported(call.name, error)
            open_for_updates = False
            spent = round((time.monotonic() - began) * 1000)
            hook = self._desk.state.hooks.after_tool_call
            if hook is not None:
                seen, result = result, refusals.unprocessed()
                try:
                    finished = FinishedCall(call, tool, pending.arguments, seen)
                    result = await hook(finished) or seen
                except Exception as error:  # noqa: BLE001 - a fault of the hook
                    result = refusals.reported(call.name, error)
        finally:
            if open_for_updates:
                open_for_updates = False
                spent = round((time.monotonic() - began) * 1000)
            self._mailbox.post(_Finished(call, result, spent))

    async def _deliver(self) -> None:
        for news in self._mailbox.take():
            if isinstance(news, _Finished):
                await self._finish(news)
            else:
                await self._desk.emit(
                    ToolExecutionUpdate(
                        tool_call_id=news.call.id,
                        tool_name=news.call.name,
                        content=news.partial.content,
                        details=news.partial.details,
                    )
                )

    async def _finish(self, finished: _Finished) -> None:
        """A call is over: remember its result and tell about it."""
        call, result = finished.call, finished.result
        if not result.is_error:
            self._watch.succeeded(call)
        elif not self._desk.supervisor.aborted:
            advice = self._watch.failed(call, text_of(result.content))
            if advice is not None:
                result = msgspec.structs.replace(result, content=(*result.content, Text(advice)))
                finished = msgspec.structs.replace(finished, result=result)
        self._finished[call.id] = finished
        await self._desk.emit(
            ToolExecutionEnd(
                tool_call_id=call.id,
                tool_name=call.name,
                content=result.content,
                details=result.details,
                is_error=result.is_error,
                duration_ms=finished.duration_ms,
            )
        )

    async def _record(self, call: ToolCall) -> None:
        """Put the result of a call into the history."""
        finished = self._finished[call.id]
        message = ToolResultMessage(
            tool_call_id=call.id,
            tool_name=call.name,
            content=finished.result.content,
            details=finished.result.details,
            is_error=finished.result.is_error,
            duration_ms=finished.duration_ms,
        )
        await self._desk.emit(MessageStart(message=message))
        self._desk.append(message)
        self.results.append(message)
        await self._desk.emit(MessageEnd(message=message))
