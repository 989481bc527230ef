"""Hands the events of a run to one consumer that iterates over them, with a bound."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar

from anyio import CancelScope

__all__ = ["Event", "Handoff", "events_of"]

_ROOM = 64
"""Events that may wait for the consumer before the run waits for it."""


Event = TypeVar("Event")


class Handoff(Generic[Event]):
    """A listener on one side, `get` on the other."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._ready = asyncio.Event()
        self._room = asyncio.Event()
        self._ended = False
        self._left = False

    async def put(self, event: Event) -> None:
        """Take an event from the run; waits while the consumer is far behind."""
        if self._left:
            return
        self._events.append(event)
        self._ready.set()
        if len(self._events) >= _ROOM:
            self._room.clear()
            await self._room.wait()

    async def get(self) -> Event | None:
        """The next event, or None when there will be none."""
        while not self._events:
            if self._ended:
                return None
            self._ready.clear()
            await self._ready.wait()
        event = self._events.popleft()
        self._room.set()
        return event

    def end(self) -> None:
        """There will be no further event."""
        self._ended = True
        self._ready.set()

    def leave(self) -> None:
        """The consumer is gone; the run must not wait for it."""
        self._left = True
        self._events.clear()
        self._room.set()


async def events_of(
    run: Callable[[], Coroutine[Any, Any, object]],
    *,
    subscribe: Callable[[Callable[[Event], Awaitable[None]]], Callable[[], None]],
    abort: Callable[[], None],
) -> AsyncGenerator[Event, None]:
    """The events that are told while ``run`` runs. Leaving early aborts it and waits for its end.

    What ``run`` raises is raised here, after its last event.
    """
    handoff: Handoff[Event] = Handoff()
    unsubscribe = subscribe(handoff.put)
    task = asyncio.create_task(run())
    task.add_done_callback(lambda _: handoff.end())
    try:
        while (event := await handoff.get()) is not None:
            yield event
        await task
    finally:
        unsubscribe()
        handoff.leave()
        if not task.done():
            abort()
            with CancelScope(shield=True):
                await asyncio.wait([task])
