"""A provider's model over HTTP: send, retry, read the stream, keep what came.

One request may take several attempts, but only until the answer has begun; what fails later ends
the stream with `Failed`, and whoever asked decides whether to ask again.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from types import TracebackType
from typing import Self

import anyio

from sloyd.errors import ProviderError
from sloyd.llm.events import Failed, Retrying, Start, StreamEvent
from sloyd.llm.fixes import Fixes
from sloyd.llm.messages import AssistantMessage
from sloyd.llm.models import Context, ModelInfo, StreamOptions
from sloyd.llm.retry import RetryPolicy
from sloyd.llm.sending import Sender
from sloyd.llm.sse import SseParser
from sloyd.llm.transport import Response, Transport
from sloyd.llm.wires import wire_for
from sloyd.llm.wires.base import Reader, Wire, WireRequest

__all__ = ["HttpModel", "HttpStream"]

_DEFAULT_OPTIONS = StreamOptions()
_AFTER_ANSWER = 2.0
"""Seconds that a server may take for usage and end mark once the stop reason is known."""
_DRAIN = 0.2
"""Seconds spent on reading the end of the body, so that the connection can be used again."""
_HEAD_LIMIT = 4 * 1024 * 1024
"""Most bytes of a body without any event that are kept: a whole answer that is no stream."""


class HttpModel:
    """A model at a provider.

    Args:
        info: which model, which wire, where.
        api_key: the key, or None; a server that is not the provider's own is asked without one.
        transport: shares its connections with other models; the model does not close it.
        retries: how to wait between attempts. How often is `StreamOptions.max_retries`.
    """

    def __init__(
        self,
        info: ModelInfo,
        *,
        api_key: str | None = None,
        transport: Transport | None = None,
        retries: RetryPolicy | None = None,
    ) -> None:
        self._info = info
        self._wire = wire_for(info.api)
        self._key = api_key.strip() if api_key and api_key.strip() else None
        self._transport = transport or Transport()
        self._owns_transport = transport is None
        self._retries = retries or RetryPolicy()
        self._fixes = Fixes()

    @property
    def info(self) -> ModelInfo:
        return self._info

    def stream(self, context: Context, options: StreamOptions = _DEFAULT_OPTIONS) -> HttpStream:
        """Ask for one answer. Leaving the block early closes the connection."""
        sender = Sender(self._info, self._wire, self._transport, self._key, self._fixes)
        return HttpStream(sender, self._wire, self._retries, context, options)

    def through(self, transport: Transport) -> HttpModel:
        """The same model over another transport, which the new one owns and closes."""
        model = HttpModel(self._info, api_key=self._key, transport=transport, retries=self._retries)
        model._owns_transport = True
        return model

    async def aclose(self) -> None:
        """Close the connections, unless they belong to a shared transport."""
        if self._owns_transport:
            await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


class HttpStream:
    """The events of one answer. See `sloyd.llm.models.ModelStream`."""

    def __init__(
        self,
        sender: Sender,
        wire: Wire,
        retries: RetryPolicy,
        context: Context,
        options: StreamOptions,
    ) -> None:
        self._sender = sender
        self._info = info = sender.info
        self._wire = wire
        self._policy = retries
        self._context = context
        self._options = options
        self._taken = _call_ids(context)
        self._reader: Reader = wire.reader(info, self._taken)
        self._response: Response | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._close_response()

    @property
    def message(self) -> AssistantMessage:
        """The message as far as it has come, whatever has happened to the stream."""
        return self._reader.message

    async def __aiter__(self) -> AsyncIterator[StreamEvent]:
        request = self._wire.payload(self._info, self._context, self._options)
        attempt = 0
        while True:
            failed: Failed | None = None
            # An answer has begun when something of it has come; until then it can be asked for
            # again, and nobody was told about a start that led to nothing.
            begun = False
            async with aclosing(self._attempt(request)) as batches:
                async for batch in batches:
                    for event in batch:
                        if begun:
                            yield event
                        elif type(event) is Failed:
                            failed = event
                        elif type(event) is not Start:
                            begun = True
                            yield Start()
                            yield event
            await self._close_response()
            if failed is None:
                return
            attempt += 1
            delay = self._delay(failed.error, attempt)
            if delay is None:
                yield self._final(failed)
                return
            yield Retrying(failed.error, attempt, self._options.max_retries, delay)
            await anyio.sleep(delay)
            self._reader = self._wire.reader(self._info, self._taken)

    def _delay(self, error: ProviderError, attempt: int) -> float | None:
        if not error.retryable or attempt > self._options.max_retries:
            return None
        return self._policy.delay(error, attempt)

    def _final(self, failed: Failed) -> Failed:
        from sloyd.llm.explain import too_long_a_wait

        error = failed.error
        if error.retryable and error.retry_after and error.retry_after > self._policy.cap:
            self._reader = self._wire.reader(self._info, self._taken)
            (event,) = self._reader.fail(too_long_a_wait(error, self._policy.cap))
            if isinstance(event, Failed):
                return event
        return failed

    async def _attempt(self, request: WireRequest) -> AsyncGenerator[list[StreamEvent], None]:
        """One request; yields the events chunk by chunk and ends with the end of the message."""
        try:
            self._response = await self._sender.send(request, self._options.idle_timeout)
            async with aclosing(self._read(self._response)) as batches:
                async for batch in batches:
                    yield batch
        except ProviderError as error:
            yield self._reader.fail(error)

    async def _read(self, response: Response) -> AsyncGenerator[list[StreamEvent], None]:
        reader, parser = self._reader, SseParser()
        head = bytearray()
        heard, heard_at = 0, anyio.current_time()
        async with aclosing(response.chunks()) as chunks:
            while not reader.finished:
                chunk = await self._next(chunks, heard_at if reader.answered else None)
                if chunk is None:
                    break
                batch: list[StreamEvent] = []
                for event in parser.feed(chunk):
                    batch += reader.feed(event)
                if batch:
                    yield batch
                if reader.heard != heard:
                    heard, heard_at = reader.heard, anyio.current_time()
                elif self._is_overdue(heard_at):
                    raise _no_event(self._options.idle_timeout)
                if not parser.fields and len(head) < _HEAD_LIMIT:
                    head += chunk
            if not reader.finished:
                yield self._end(parser, bytes(head))
            with anyio.move_on_after(_DRAIN):
                async for _ in chunks:
                    pass

    def _is_overdue(self, heard_at: float) -> bool:
        silence = anyio.current_time() - heard_at
        return silence > self._options.idle_timeout and not self._reader.answered

    async def _next(
        self, chunks: AsyncGenerator[bytes, None], answered_at: float | None
    ) -> bytes | None:
        """The next piece of the body; None at its end.

        Once the answer is known to be whole, a server that only waits, or breaks off, ends it too.
        """
        if answered_at is None:
            return await anext(chunks, None)
        with anyio.move_on_at(answered_at + _AFTER_ANSWER), suppress(ProviderError):
            return await anext(chunks, None)
        return None

    def _end(self, parser: SseParser, head: bytes) -> list[StreamEvent]:
        batch: list[StreamEvent] = []
        for event in parser.finish():
            batch += self._reader.feed(event)
        if not self._reader.finished and not parser.fields:
            from sloyd.llm.explain import not_a_stream

            whole = self._reader.whole(head)
            if whole is None:
                raise not_a_stream(head, self._info.base_url)
            return batch + whole
        return batch + self._reader.finish()

    async def _close_response(self) -> None:
        response, self._response = self._response, None
        if response is not None:
            await response.aclose()


def _no_event(seconds: float) -> ProviderError:
    return ProviderError(
        f"The answer stopped coming: bytes, but no event for {seconds:g} s.",
        problem="timeout",
        retryable=True,
    )


def _call_ids(context: Context) -> frozenset[str]:
    return frozenset(
        call.id
        for message in context.messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    )
