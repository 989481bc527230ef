"""Pickers of models, thinking levels, sessions and settings, by their keys."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from textual import events

from sloyd.harness.coding_agent import CodingAgent
from sloyd.llm.messages import AssistantMessage, Text, UserMessage
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.messages import ModelPicked
from sloyd.modes.tui.pickers.model_picker import ModelPicker
from sloyd.modes.tui.pickers.session_picker import SessionPicker
from sloyd.modes.tui.pickers.thinking_picker import ThinkingPicker
from sloyd.modes.tui.settings_screen import SettingsScreen
from sloyd.sessions.session import Session
from tests.tui.composing import open_agent
from tests.tui.picking import OPEN, labels, picking, press, type_text

KEYS = KeyMap()


async def test_a_model_is_found_and_picked(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
    async with open_agent(home) as agent, picking(lambda: ModelPicker(agent, KEYS)) as (app, pilot):
        assert labels(app)[0].startswith("anthropic/")  # there is a key
        await type_text(app, pilot, "gpt sol")
        assert labels(app)[0].startswith("openai/gpt-")
        await press(app, pilot, "enter")
        assert isinstance(app.result, ModelPicked)
        assert app.result.choice.provider == "openai"
        assert not app.result.save


async def test_keys_that_come_at_once_choose_what_was_typed(home: Path) -> None:
    make = ThinkingPicker
    async with open_agent(home) as agent, picking(lambda: make(agent, KEYS)) as (app, pilot):
        for key in "high":
            app.post_message(events.Key(key, key))
        app.post_message(events.Key("enter", "\r"))
        await pilot.pause()
        assert app.result == "high"


async def test_a_model_becomes_the_default(home: Path) -> None:
    async with open_agent(home) as agent, picking(lambda: ModelPicker(agent, KEYS)) as (app, pilot):
        await type_text(app, pilot, "anthropic sonnet")
        name = labels(app)[0]
        await press(app, pilot, "ctrl+s")
        assert app.result.save
        config = tomllib.loads((agent.home / "config.toml").read_text())
        assert config["model"]["default"] == name


def favourites_of(agent: CodingAgent) -> tuple[str, ...]:
    return agent.settings.model.favourites


async def test_favourites_are_kept_and_count_at_once(home: Path) -> None:
    async with open_agent(home) as agent, picking(lambda: ModelPicker(agent, KEYS)) as (app, pilot):
        await type_text(app, pilot, "anthropic sonnet")
        name = labels(app)[0]
        await press(app, pilot, "ctrl+f")
        assert labels(app)[0] == f"★ {name}"
        assert favourites_of(agent) == (name,)
        config = tomllib.loads((agent.home / "config.toml").read_text())
        assert config["model"]["favourites"] == [name]
        await press(app, pilot, "ctrl+p")
        assert len(favourites_of(agent)) > 3
        assert all(each.startswith("anthropic/") for each in favourites_of(agent))
        await press(app, pilot, "ctrl+x", "escape")
        assert favourites_of(agent) == ()
        assert app.result is None


async def test_a_thinking_level_is_picked(home: Path) -> None:
    make = ThinkingPicker
    async with open_agent(home) as agent, picking(lambda: make(agent, KEYS)) as (app, pilot):
        assert f"● {agent.thinking}" in labels(app)
        await type_text(app, pilot, "off")
        await press(app, pilot, "enter")
        assert app.result == "off"


def saved(agent: CodingAgent, cwd: str, said: str, name: str | None = None) -> Path:
    """A session in a file."""
    with Session.create(agent.sessions_directory, cwd) as session:
        session.append_message(UserMessage(content=said))
        session.append_message(AssistantMessage(content=(Text(f"answer to {said}"),)))
        if name:
            session.set_name(name)
        assert session.path is not None
        return session.path


async def test_sessions_are_found_by_name_and_by_words_inside(home: Path) -> None:
    async with open_agent(home) as agent:
        cwd = agent.workspace.cwd
        first = saved(agent, cwd, "mend the till")
        saved(agent, cwd, "write a poem", name="poems")
        saved(agent, "/elsewhere", "other work")
        async with picking(lambda: SessionPicker(agent, KEYS)) as (app, pilot):
            assert labels(app) == ["poems", "mend the till"]
            await type_text(app, pilot, "answer till")
            assert labels(app)[0] == "mend the till"
            await press(app, pilot, "enter")
            assert app.result == first


async def test_sessions_of_other_directories_order_and_names(home: Path) -> None:
    async with open_agent(home) as agent:
        cwd = agent.workspace.cwd
        saved(agent, cwd, "zebra")
        saved(agent, cwd, "ant", name="beetle")
        saved(agent, "/elsewhere", "other work")
        async with picking(lambda: SessionPicker(agent, KEYS)) as (app, pilot):
            await press(app, pilot, "tab")
            assert labels(app) == ["other work", "beetle", "zebra"]
            await press(app, pilot, "ctrl+s", "ctrl+s")
            assert labels(app) == ["beetle", "other work", "zebra"]
            await press(app, pilot, "ctrl+n")
            assert labels(app) == ["beetle"]


async def test_a_session_is_renamed_and_deleted(home: Path) -> None:
    async with open_agent(home) as agent:
        path = saved(agent, agent.workspace.cwd, "mend the till")
        async with picking(lambda: SessionPicker(agent, KEYS)) as (app, pilot):
            await press(app, pilot, "ctrl+r")
            await type_text(app, pilot, "till work")
            await press(app, pilot, "enter")
            assert labels(app) == ["till work"]
            await press(app, pilot, "ctrl+d", "n")
            assert path.exists()
            await press(app, pilot, "ctrl+d", "y")
            assert not path.exists()
            assert labels(app) == []
            await press(app, pilot, "enter")
            assert app.result is OPEN


async def test_settings_are_changed_in_the_file(home: Path) -> None:
    async with open_agent(home) as agent:
        async with picking(lambda: SettingsScreen(agent, KEYS)) as (app, pilot):
            await type_text(app, pilot, "reduced motion")
            await press(app, pilot, "enter")
            assert labels(app)[0] == "display.reduced_motion = true"
            await press(app, pilot, "ctrl+u")
            await type_text(app, pilot, "model thinking")
            await press(app, pilot, "enter")
            await type_text(app, pilot, "xhigh")
            await press(app, pilot, "enter")
            assert 'model.thinking = "xhigh"' in labels(app)
            await press(app, pilot, "ctrl+u")
            await type_text(app, pilot, "retry attempts")
            await press(app, pilot, "enter")
            await press(app, pilot, "ctrl+u")
            await type_text(app, pilot, "many")
            await press(app, pilot, "enter")
            assert any("whole number" in note for note in app.notes)
            await press(app, pilot, "escape")
        config = tomllib.loads((agent.home / "config.toml").read_text())
    assert config == {"display": {"reduced_motion": True}, "model": {"thinking": "xhigh"}}
    assert app.result == ("display.reduced_motion", "model.thinking")


async def test_a_picker_fits_into_forty_columns(home: Path) -> None:
    async with (
        open_agent(home) as agent,
        picking(lambda: ModelPicker(agent, KEYS), size=(40, 20)) as (app, _pilot),
    ):
        strips = app.screen._compositor.render_strips()
        shown = [strip.text for strip in strips]
        assert all(strip.cell_length == 40 for strip in strips)
        assert any("╰" in line for line in shown)
        assert any("ctrl+s" in line for line in shown)
