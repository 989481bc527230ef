"""One request to the model, from the hooks before it to the message in the history.

Whatever happens, there is exactly one assistant message with its ``message_start`` and
``message_end``: a whole one, what had come when the stream failed or was aborted, or an empty one
when there was no stream at all.
"""

from __future__ import annotations

import logging

import msgspec

from sloyd.agent.events import (
    Delta,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    RetryEnd,
    RetryStart,
)
from sloyd.agent.hooks import Request
from sloyd.agent.identity import CallNames, clean_name
from sloyd.agent.state import Desk
from sloyd.agent.supervision import Mailbox
from sloyd.errors import AgentError, ProviderError, SloydError
from sloyd.llm.events import (
    Done,
    Failed,
    Retrying,
    Start,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from sloyd.llm.messages import AssistantMessage
from sloyd.llm.models import Context, ModelInfo, ModelStream

__all__ = ["ABORTED", "Answer", "ask"]

ABORTED = "Operation aborted"

_log = logging.getLogger(__name__)


class Answer(msgspec.Struct, frozen=True, eq=False):
    """The message of the model that ``info`` describes, and why it is not a whole one."""

    message: AssistantMessage
    info: ModelInfo
    error: SloydError | None = None


async def ask(desk: Desk, turn: int) -> Answer:
    """Make the request of ``turn``. Never raises for what a model or a hook does."""
    request = Request(desk.state.model, desk.state.options, turn)
    plan = desk.supervisor.start(lambda: _planned(desk, request))
    await desk.supervisor.wait([plan])
    if plan.value is not None and not desk.supervisor.aborted:
        request, context = plan.value
        return await _Exchange(desk, request, context).run()
    exchange = _Exchange(desk, request, Context())
    if desk.supervisor.aborted:
        return await exchange.close(exchange.cut_short("aborted", ABORTED), None)
    error = plan.error or AgentError("A hook before the request was cancelled.")
    return await exchange.give_up(error, "A hook before the request")


async def _planned(desk: Desk, request: Request) -> tuple[Request, Context]:
    """Let the hooks work on the request; the context is made after the first of them."""
    state = desk.state
    if state.hooks.prepare_request is not None:
        state.replaceable = True
        try:
            request = await state.hooks.prepare_request(request) or request
        finally:
            state.replaceable = False
    context = Context(state.system_prompt, tuple(state.messages), state.schemas)
    if state.hooks.transform_context is not None:
        context = await state.hooks.transform_context(context)
    return request, context


class _Exchange:
    """Sends one request and turns the model's events into ours."""

    def __init__(self, desk: Desk, request: Request, context: Context) -> None:
        self._desk = desk
        self._request = request
        self._context = context
        self._names = CallNames(desk.taken_ids)
        self._mailbox: Mailbox[StreamEvent] = Mailbox(desk.supervisor)
        self._stream: ModelStream | None = None
        self._started = False
        self._retry = 0
        self._last: Done | Failed | None = None

    async def run(self) -> Answer:
        supervisor = self._desk.supervisor
        job = supervisor.start(self._receive)
        await supervisor.wait([job], self._deliver)
        if self._last is None and job.error is not None:
            return await self.give_up(job.error, "The model")
        if isinstance(self._last, Done):
            return await self.close(self._last.message, None)
        if supervisor.aborted:
            return await self.close(self.cut_short("aborted", ABORTED), None)
        if self._last is None:
            text = "The model's stream ended without an end."
            error = ProviderError(text, problem="broken-stream", retryable=True)
            return await self.close(self.cut_short("error", text), error)
        message = self._last.message
        if message.stop_reason not in ("error", "aborted"):
            message = self.cut_short("error", str(self._last.error))
        return await self.close(message, self._last.error)

    async def give_up(self, error: Exception, who: str) -> Answer:
        """End with an error that should not have been raised, or that a hook raised."""
        if not isinstance(error, SloydError):
            _log.error("%s raised", who, exc_info=error)
            error = AgentError(f"{who} raised {type(error).__name__}: {error}")
        return await self.close(self.cut_short("error", str(error)), error)

    def cut_short(self, reason: str, text: str) -> AssistantMessage:
        """What has come so far, as a partial answer."""
        info = self._request.model.info
        if self._last is not None:
            message = self._last.message
        elif self._stream is not None:
            message = self._stream.message
        else:
            message = AssistantMessage(api=info.api, provider=info.provider, model=info.id)
        return msgspec.structs.replace(message, stop_reason=reason, error_message=text)

    async def close(self, message: AssistantMessage, error: SloydError | None) -> Answer:
        """Put the final message into the history and tell about it."""
        message = self._names.applied(message)
        if self._retry:
            await self._end_retry(success=False)
        await self._start()
        self._desk.append(message)
        await self._desk.emit(MessageEnd(message=message))
        return Answer(message, self._request.model.info, error)

    async def _receive(self) -> None:
        """The job: read the model's stream to its end."""
        request = self._request
        async with request.model.stream(self._context, request.options) as stream:
            self._stream = stream
            async for event in stream:
                await self._mailbox.put(event)

    async def _deliver(self) -> None:
        emit, supervisor = self._desk.emit, self._desk.supervisor
        for event in self._mailbox.take():
            if isinstance(event, (Done, Failed)):
                self._last = event
            elif supervisor.aborted:
                continue  # the final message holds what these would have told
            elif isinstance(event, Retrying):
                self._retry = event.attempt
                await emit(
                    RetryStart(
                        attempt=event.attempt,
                        max_attempts=event.max_attempts,
                        delay_ms=round(event.delay * 1000),
                        error_message=str(event.error),
                    )
                )
            else:
                if not self._started:
                    await self._start()
                if not isinstance(event, Start):
                    await emit(MessageUpdate(delta=self._delta(event)))

    async def _start(self) -> None:
        if self._started:
            return
        self._started = True
        if self._retry:
            await self._end_retry(success=True)
        info = self._request.model.info
        empty = AssistantMessage(api=info.api, provider=info.provider, model=info.id)
        await self._desk.emit(MessageStart(message=empty))

    async def _end_retry(self, *, success: bool) -> None:
        attempt, self._retry = self._retry, 0
        await self._desk.emit(RetryEnd(success=success, attempt=attempt))

    def _delta(
        self, event: TextDelta | ThinkingDelta | ToolCallStart | ToolCallDelta | ToolCallEnd
    ) -> Delta:
        index = event.index
        if isinstance(event, TextDelta):
            return Delta("text_delta", index, event.text)
        if isinstance(event, ThinkingDelta):
            return Delta("thinking_delta", index, event.text)
        if isinstance(event, ToolCallDelta):
            return Delta("toolcall_delta", index, event.text)
        if isinstance(event, ToolCallStart):
            call_id, name = self._names.id_at(index, event.id), clean_name(event.name)
            return Delta("toolcall_start", index, id=call_id, tool_name=name)
        call = event.call
        call_id, name = self._names.id_at(index, call.id), clean_name(call.name)
        return Delta("toolcall_end", index, id=call_id, tool_name=name, arguments=call.arguments)
