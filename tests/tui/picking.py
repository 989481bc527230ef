"""A screen with one picker over it, for tests of pickers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from textual import events
from textual.app import App
from textual.pilot import Pilot
from textual.screen import ModalScreen

from sloyd.modes.tui.pickers.fuzzy_screen import FuzzyScreen

__all__ = ["PickerApp", "labels", "picking", "press", "type_text"]

OPEN = object()
"""The result while the picker is still open."""


class PickerApp(App[None]):
    """Opens a picker and keeps what it gives back."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, make: Callable[[], ModalScreen[Any]]) -> None:
        super().__init__()
        self._make = make
        self.result: Any = OPEN

    def on_mount(self) -> None:
        def keep(result: Any) -> None:
            self.result = result

        self.push_screen(self._make(), keep)

    @property
    def notes(self) -> list[str]:
        """What the person was told."""
        return [str(note.message) for note in self._notifications]


@asynccontextmanager
async def picking(
    make: Callable[[], ModalScreen[Any]], *, size: tuple[int, int] = (100, 30)
) -> AsyncIterator[tuple[PickerApp, Pilot[None]]]:
    """The picker, open, and the hands on its keys."""
    app = PickerApp(make)
    async with app.run_test(size=size) as pilot:
        await settle(app, pilot)
        yield app, pilot


async def settle(app: PickerApp, pilot: Pilot[None]) -> None:
    """Until the picker has nothing more to load."""
    for _ in range(3):
        await pilot.pause()
        workers = [w for w in app.workers if w.group in ("load", "search") or w._thread_worker]
        if workers:
            await app.workers.wait_for_complete(workers)
    await pilot.pause()


async def press(app: PickerApp, pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else None))
        await pilot.pause()
    await settle(app, pilot)


async def type_text(app: PickerApp, pilot: Pilot[None], text: str) -> None:
    for character in text:
        app.post_message(events.Key("space" if character == " " else character, character))
    await settle(app, pilot)


def labels(app: PickerApp) -> list[str]:
    """The rows of the picker, without their marks."""
    screen = app.screen
    assert isinstance(screen, FuzzyScreen)
    return [row.label.strip() for row in screen.list.rows]
