"""A screen with nothing but a composer, for tests of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from sloyd.harness.coding_agent import CodingAgent
from sloyd.harness.options import AgentOptions
from sloyd.harness.settings import Settings
from sloyd.llm.wires.scripted import ScriptedModel
from sloyd.modes.tui.composer import Composer
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.messages import Interrupt, Submitted, TakeBack

__all__ = ["ComposerApp", "composing", "open_agent"]


@asynccontextmanager
async def open_agent(cwd: Path, settings: Settings | None = None) -> AsyncIterator[CodingAgent]:
    """An agent in a directory, with a model that has nothing to say."""
    options = AgentOptions(
        model=ScriptedModel([]), cwd=cwd, settings=settings or Settings(), trust_project=False
    )
    async with CodingAgent.open(options) as agent:
        yield agent


class ComposerApp(App[None]):
    """Keeps what its composer posts."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, agent: CodingAgent, history: Path, keys: KeyMap) -> None:
        super().__init__()
        self.composer = Composer(agent, keys, history)
        self.sent: list[Submitted] = []
        self.interrupts = 0
        self.taken_back = 0

    def compose(self) -> ComposeResult:
        yield self.composer

    def on_mount(self) -> None:
        self.composer.focus()

    def on_submitted(self, message: Submitted) -> None:
        self.sent.append(message)

    def on_interrupt(self, _message: Interrupt) -> None:
        self.interrupts += 1

    def on_take_back(self, _message: TakeBack) -> None:
        self.taken_back += 1

    @property
    def texts(self) -> list[str]:
        """What was sent."""
        return [message.text for message in self.sent]

    @property
    def screen_lines(self) -> list[str]:
        """What the screen shows, line by line."""
        strips = self.screen._compositor.render_strips()
        return [strip.text.rstrip() for strip in strips]


@asynccontextmanager
async def composing(
    cwd: Path,
    *,
    size: tuple[int, int] = (80, 24),
    settings: Settings | None = None,
    keys: KeyMap | None = None,
) -> AsyncIterator[tuple[ComposerApp, Pilot[None]]]:
    """A composer in a directory, and the hands on its keys."""
    history = cwd.parent / "sloyd-home" / "history.jsonl"
    async with open_agent(cwd, settings) as agent:
        app = ComposerApp(agent, history, keys or KeyMap())
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            yield app, pilot
