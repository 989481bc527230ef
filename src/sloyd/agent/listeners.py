"""Who hears the events of a run: awaited one after the other, and kept apart from the run.

A slow listener slows the run, so it never misses an event. One that raises is reported in the log
and goes on receiving; neither the run nor other listeners notice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Generic, TypeAlias, TypeVar

from sloyd.agent.events import AgentEvent

__all__ = ["Emit", "Event", "Listener", "Listeners"]

Listener: TypeAlias = Callable[[AgentEvent], Awaitable[None] | None]
Emit: TypeAlias = Callable[[AgentEvent], Awaitable[None]]

_log = logging.getLogger(__name__)


Event = TypeVar("Event")


class Listeners(Generic[Event]):
    """Those who hear one kind of events, in the order in which they subscribed."""

    def __init__(self) -> None:
        self._listeners: tuple[Callable[[Event], Awaitable[None] | None], ...] = ()
        self.on_cancelled: Callable[[], None] | None = None

    def subscribe(self, listener: Callable[[Event], Awaitable[None] | None]) -> Callable[[], None]:
        """Add a listener, plain or async. Returns a function that removes it."""
        self._listeners += (listener,)

        def unsubscribe() -> None:
            self._listeners = tuple(each for each in self._listeners if each is not listener)

        return unsubscribe

    async def emit(self, event: Event) -> None:
        """Tell all listeners, and wait for each."""
        for listener in self._listeners:
            try:
                waiting = listener(event)
                if waiting is not None:
                    await waiting
            except Exception:  # noqa: BLE001 - a listener's fault is not the run's
                _log.exception("a listener failed on %s", type(event).__name__)
            except asyncio.CancelledError:
                # Only a shutdown of the event loop does this. The run is to end, but in order.
                if (task := asyncio.current_task()) is not None:
                    task.uncancel()
                if self.on_cancelled is not None:
                    self.on_cancelled()
