"""Work that can be aborted, and the one place that waits for it.

Everything in a run that may take long (a model's stream, a tool, a hook) is a `Job`: a task of its
own with a cancel scope around it. The run itself is never cancelled; it waits in `Supervisor.wait`,
and is the only one that emits events. So an abort ends the work at once, a listener is never
interrupted half-way, and work that ignores the abort is left behind after a grace time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, Generic, TypeVar

from anyio import CancelScope

__all__ = ["Job", "Mailbox", "Supervisor"]

T = TypeVar("T")

_ROOM = 256
"""Items that may wait in a mailbox before the sender has to wait as well."""


class Job(Generic[T]):
    """One piece of work in a task of its own.

    Attributes:
        finished: the work has ended in whatever way.
        completed: it returned, and ``value`` is what it returned.
        error: what it raised, if it did. Work that was cancelled has neither.
    """

    __slots__ = ("_scope", "_task", "completed", "error", "finished", "value")

    def __init__(
        self, work: Callable[[], Coroutine[Any, Any, T]], on_end: Callable[[Job[T]], None]
    ) -> None:
        self.finished = False
        self.completed = False
        self.value: T | None = None
        self.error: Exception | None = None
        self._scope = CancelScope()
        self._task = asyncio.create_task(self._run(work, on_end))

    def cancel(self) -> None:
        """Cancel the work; shielded parts of it still run to their end."""
        self._scope.cancel()

    async def _run(
        self, work: Callable[[], Coroutine[Any, Any, T]], on_end: Callable[[Job[T]], None]
    ) -> None:
        try:
            with self._scope:
                self.value = await work()
                self.completed = True
        except Exception as error:  # noqa: BLE001 - the waiting side decides what it means
            self.error = error
        except asyncio.CancelledError:
            # The event loop shuts down, or the work cancelled itself; either way it has ended.
            pass
        finally:
            self.finished = True
            on_end(self)


class Supervisor:
    """Starts jobs, waits for them, and aborts them all at once.

    Args:
        grace: seconds for which `wait` still waits after an abort.
        left_behind: receives the jobs that did not end in that time. It must hold them: a task
            that nobody holds may vanish.
        on_wake: awaited by `wait` whenever there may be something new.
    """

    def __init__(
        self,
        grace: float,
        left_behind: set[Job[Any]],
        on_wake: Callable[[], Awaitable[None]],
    ) -> None:
        self.grace = grace
        self._on_wake = on_wake
        self._left_behind = left_behind
        self._running: set[Job[Any]] = set()
        self._wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._deadline: float | None = None

    @property
    def aborted(self) -> bool:
        """Whether the run is to end as soon as its history is complete."""
        return self._deadline is not None

    def abort(self) -> None:
        """Cancel what runs, now and in the future of this run. Safe to call again."""
        if self._deadline is None:
            self._deadline = self._loop.time() + self.grace
            for job in tuple(self._running):
                job.cancel()
            self._wake.set()

    def wake(self) -> None:
        """Let `wait` look at the mailboxes again."""
        self._wake.set()

    def start(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Job[T]:
        """Begin ``work`` in a task of its own; after an abort it is cancelled from the start."""
        job = Job(work, self._ended)
        self._running.add(job)
        if self.aborted:
            job.cancel()
        return job

    async def wait(
        self, jobs: Iterable[Job[Any]], on_wake: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Wait until all of ``jobs`` have finished, or the grace time after an abort is over.

        ``on_wake`` is awaited whenever there may be something new, and once after the end.
        """
        jobs = tuple(jobs)
        while True:
            self._wake.clear()
            ended = all(job.finished for job in jobs) or self._overdue()
            await self._on_wake()
            if on_wake is not None:
                await on_wake()
            if ended:
                break
            await self._sleep()
        for job in jobs:
            if not job.finished:
                self._left_behind.add(job)

    def _ended(self, job: Job[Any]) -> None:
        self._running.discard(job)
        self._left_behind.discard(job)
        self._wake.set()

    def _overdue(self) -> bool:
        return self._deadline is not None and self._loop.time() >= self._deadline

    async def _sleep(self) -> None:
        try:
            if self._deadline is None:
                await self._wake.wait()
            else:
                async with asyncio.timeout_at(self._deadline):
                    await self._wake.wait()
        except TimeoutError:
            return
        except asyncio.CancelledError:
            # Nobody but an event loop that shuts down cancels a run; it ends as if aborted.
            if (task := asyncio.current_task()) is not None:
                task.uncancel()
            self.abort()


class Mailbox(Generic[T]):
    """Carries items from jobs to the run, in order and with a bound."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._items: deque[T] = deque()
        self._room = asyncio.Event()
        self._supervisor = supervisor

    def post(self, item: T) -> None:
        """Add an item without waiting."""
        self._items.append(item)
        self._supervisor.wake()

    async def put(self, item: T) -> None:
        """Add an item, and wait while too many of them have not been taken."""
        self.post(item)
        if len(self._items) >= _ROOM:
            self._room.clear()
            await self._room.wait()

    def take(self) -> list[T]:
        """All items that wait, oldest first."""
        items = list(self._items)
        self._items.clear()
        self._room.set()
        return items
