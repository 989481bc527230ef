"""How a door without a screen reacts to signals: stop the run cleanly, then leave with 128 + n.

Code of an extension may hold the event loop and never give it back. So signals are counted beside
the loop as well: the second one, or a first one that the loop does not hear of, ends the process.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

__all__ = ["Interruption", "stopping_on_signals"]

_PATIENCE = 3.0
"""Seconds that the loop has to hear of a signal."""


@dataclass(slots=True)
class Interruption:
    """The signal that asked us to stop, if one did."""

    number: int | None = None

    @property
    def exit_code(self) -> int | None:
        """128 + the signal's number, as shells report it; None when there was no signal."""
        return None if self.number is None else 128 + self.number


def _stop_signals() -> list[signal.Signals]:
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


@asynccontextmanager
async def stopping_on_signals(stop: Callable[[], None]) -> AsyncIterator[Interruption]:
    """Call ``stop`` on the first SIGINT, SIGTERM or SIGHUP; leave at once on the second."""
    interruption = Interruption()

    def heed(number: int, _frame: object) -> None:
        """Runs beside the loop, between any two steps of Python code."""
        if heard or interruption.number is not None:
            _leave_now(number)
        heard.append(number)
        waiting = threading.Timer(_PATIENCE, leave_unless_told, (number,))
        waiting.daemon = True
        waiting.start()

    def leave_unless_told(number: int) -> None:
        if interruption.number is None and not finished.is_set():
            _leave_now(number)

    async def watch() -> None:
        with anyio.open_signal_receiver(*_stop_signals()) as signals:
            # The loop hears of signals by another way than these handlers, which are empty.
            for each in _stop_signals():
                signal.signal(each, heed)
            started.set()
            async for number in signals:
                interruption.number = number
                stop()

    heard: list[int] = []
    finished = threading.Event()
    started = anyio.Event()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            await started.wait()
            try:
                yield interruption
            finally:
                finished.set()
                tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # What the caller's own code raised goes on as it was; that a task watches is our affair.
        if len(group.exceptions) == 1:
            raise group.exceptions[0] from None
        raise


def _leave_now(number: int) -> None:
    from sloyd.workspace.processes import stop_all_nowait

    stop_all_nowait()
    os._exit(128 + number)
