"""The whole screen with a scripted model, for tests of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual._context import visible_screen_stack
from textual.pilot import Pilot

from sloyd.harness.coding_agent import CodingAgent
from sloyd.harness.options import AgentOptions
from sloyd.harness.settings import DisplaySettings, Settings
from sloyd.llm.messages import UserMessage
from sloyd.llm.wires.scripted import ScriptedModel
from sloyd.modes.tui.app import SloydApp
from sloyd.modes.tui.keys import KeyMap

__all__ = ["Hands", "screen_text", "screening"]

STILL = Settings(display=DisplaySettings(reduced_motion=True))


class Hands:
    """An open screen and what a person can do at it."""

    def __init__(self, app: SloydApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        """Press keys, and see what comes of it."""
        await self.pilot.press(*keys)
        await self.settle()

    async def say(self, text: str) -> None:
        """Write a text and send it."""
        self.app.composer.set_text(text)
        await self.pilot.press("enter")

    async def settle(self) -> None:
        """Until what is new is drawn."""
        await self.pilot.pause()
        await asyncio.sleep(0.06)
        await self.pilot.pause()

    async def until(self, true: Callable[[], bool], what: str = "") -> None:
        """Wait for something; fail with the screen's text when it does not come."""
        for _ in range(400):
            await self.pilot.pause()
            if true():
                await self.settle()
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"never came: {what}\n{self.text}")

    async def until_shown(self, words: str) -> None:
        """Wait until the screen shows something."""
        await self.until(lambda: words in self.text, words)

    async def until_idle(self) -> None:
        """Wait for the end of the run."""
        await self.until(lambda: not self.app.agent.is_running, "the end of the run")

    @property
    def text(self) -> str:
        """What the screen shows."""
        return screen_text(self.app)


def screen_text(app: SloydApp) -> str:
    """The characters of the screen, lines without the blanks at their ends."""
    visible_screen_stack.set(app._background_screens)
    strips = app.screen._compositor.render_strips(app.size)
    return "\n".join(strip.text.rstrip() for strip in strips)


@asynccontextmanager
async def screening(
    cwd: Path,
    turns: Sequence[dict[str, Any]] = (),
    *,
    size: tuple[int, int] = (80, 24),
    settings: Settings = STILL,
    keys: KeyMap | None = None,
    prompts: Sequence[str] = (),
    **options: Any,
) -> AsyncIterator[Hands]:
    """An open screen; the model plays the turns."""
    chosen = AgentOptions(
        model=ScriptedModel(list(turns)),
        cwd=cwd,
        settings=settings,
        trust_project=False,
        context_files=False,
        find_extensions=False,
        **options,
    )
    async with CodingAgent.open(chosen) as agent:
        said = [UserMessage(content=prompt) for prompt in prompts]
        app = SloydApp(agent, keys or KeyMap(), said)
        async with app.run_test(size=size, notifications=True) as pilot:
            hands = Hands(app, pilot)
            await hands.settle()
            yield hands
