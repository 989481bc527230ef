"""The screen in every theme, in one that is not there, and without colours."""

from __future__ import annotations

from pathlib import Path

import pytest

from sloyd.harness.settings import DisplaySettings, Settings
from tests.tui.screening import screening


@pytest.mark.parametrize("theme", ["dark", "light", "terminal", "system"])
async def test_every_theme_draws(tmp_path: Path, theme: str) -> None:
    settings = Settings(display=DisplaySettings(theme=theme, reduced_motion=True))
    async with screening(tmp_path, [{"text": "`code`"}], settings=settings) as hands:
        await hands.say("hi")
        await hands.until_shown("code")


async def test_a_theme_that_is_not_there_is_named(tmp_path: Path) -> None:
    settings = Settings(display=DisplaySettings(theme="nosuch", reduced_motion=True))
    async with screening(tmp_path, settings=settings) as hands:
        await hands.until_shown("there is no theme nosuch")


async def test_no_color_draws_no_colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with screening(tmp_path, [{"text": "`code`"}]) as hands:
        await hands.say("hi")
        await hands.until_shown("code")
        colours = {
            segment.style.color.name
            for strip in hands.app.screen._compositor.render_strips(hands.app.size)
            for segment in strip
            if segment.style is not None and segment.style.color is not None
        }
        assert colours <= {"default"}
