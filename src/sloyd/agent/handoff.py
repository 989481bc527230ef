"""Hands the events of a run to one consumer that iterates over them, with a bound."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, TypeVar

__all__ = ["Event", "Handoff"]

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
