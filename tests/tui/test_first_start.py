"""The first start: every way to a model, and what is in the configuration afterwards."""

from __future__ import annotations

import stat
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from sloyd.harness.model_choice import ModelChoice
from sloyd.harness.model_config import read_model_tables
from sloyd.harness.settings import Settings
from sloyd.harness.settings_files import load_settings
from sloyd.modes.tui.first_start import DEMO, FirstStart
from sloyd.modes.tui.messages import ModelPicked
from tests.tui.picking import PickerApp, labels, picking, press, type_text

KEY = "sk-test-0123456789"


class _Models(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"data": [{"id": "small-coder"}, {"id": "big-coder"}]}'
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture
def server() -> Iterator[str]:
    """The address of a server of one's own."""
    serving = HTTPServer(("127.0.0.1", 0), _Models)
    thread = threading.Thread(target=serving.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{serving.server_port}/v1"
    serving.shutdown()
    serving.server_close()
    thread.join()


def config_of(home: Path) -> dict[str, Any]:
    return tomllib.loads((home / ".sloyd" / "config.toml").read_text())


def screen_text(app: PickerApp) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def variables(home: Path, **more: str) -> dict[str, str]:
    # A port of loopback where nothing answers, in the place of the usual ones.
    nowhere = "127.0.0.1:9"
    names = ("OLLAMA_HOST", "LLAMACPP_BASE_URL", "LMSTUDIO_BASE_URL", "VLLM_BASE_URL")
    return {"SLOYD_HOME": str(home / ".sloyd"), **dict.fromkeys(names, nowhere), **more}


async def test_a_typed_key_is_kept_and_never_shown(home: Path) -> None:
    make = FirstStart
    environment = variables(home)
    async with picking(lambda: make(Settings(), variables=environment)) as (app, pilot):
        await type_text(app, pilot, "anthropic")
        await press(app, pilot, "enter")
        await type_text(app, pilot, KEY)
        assert KEY not in screen_text(app)
        assert "console.anthropic.com" in screen_text(app)
        await press(app, pilot, "enter")
        assert KEY not in screen_text(app)
        await type_text(app, pilot, "which only you")
        await press(app, pilot, "enter")
        picked = app.result
    assert isinstance(picked, ModelPicked)
    assert picked.save
    assert picked.choice.model is not None
    config = config_of(home)
    assert config["model"]["default"] == picked.choice.model
    assert config["model"]["default"].startswith("anthropic/")
    assert config["providers"]["anthropic"]["key"] == KEY
    path = home / ".sloyd" / "config.toml"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    tables, problems = read_model_tables(load_settings(path))
    assert not problems
    assert tables.keys["anthropic"] == KEY


async def test_a_key_may_be_kept_nowhere(home: Path) -> None:
    environment = variables(home)
    async with picking(lambda: FirstStart(Settings(), variables=environment)) as (app, pilot):
        await type_text(app, pilot, "openrouter")
        await press(app, pilot, "enter")
        await type_text(app, pilot, KEY)
        await press(app, pilot, "enter")
        await type_text(app, pilot, "nowhere")
        await press(app, pilot, "enter")
        assert app.result.choice.api_key == KEY
        assert app.result.choice.provider == "openrouter"
    assert KEY not in (home / ".sloyd" / "config.toml").read_text()
    assert config_of(home)["model"]["default"].startswith("openrouter/")


async def test_a_server_on_this_machine_is_found(home: Path, server: str) -> None:
    environment = variables(home, OLLAMA_HOST=server.removesuffix("/v1"))
    async with picking(lambda: FirstStart(Settings(), variables=environment)) as (app, pilot):
        assert labels(app)[:2] == ["Ollama: small-coder", "Ollama: big-coder"]
        await press(app, pilot, "down", "enter")
        assert app.result.choice == ModelChoice(model="ollama/big-coder")
    config = config_of(home)
    assert config["model"]["default"] == "ollama/big-coder"
    assert config["providers"]["ollama"]["base_url"] == server


async def test_another_server_by_its_address(home: Path, server: str) -> None:
    environment = variables(home)
    async with picking(lambda: FirstStart(Settings(), variables=environment)) as (app, pilot):
        await type_text(app, pilot, "another server")
        await press(app, pilot, "enter", "ctrl+u")
        await type_text(app, pilot, server)
        await press(app, pilot, "enter")
        await type_text(app, pilot, "small")
        await press(app, pilot, "enter", "enter")
        assert app.result.choice == ModelChoice(model="own/small-coder")
    tables, problems = read_model_tables(load_settings(home / ".sloyd" / "config.toml"))
    assert not problems
    assert tables.providers["own"].base_url == server


async def test_the_demo_keeps_nothing(home: Path) -> None:
    environment = variables(home)
    async with picking(lambda: FirstStart(Settings(), variables=environment)) as (app, pilot):
        await type_text(app, pilot, "the demo")
        await press(app, pilot, "enter")
        assert app.result.choice.model == DEMO
    assert not (home / ".sloyd" / "config.toml").exists()


async def test_what_stands_in_the_file_stays(home: Path) -> None:
    path = home / ".sloyd" / "config.toml"
    path.parent.mkdir()
    path.write_text('# mine\n[display]\ntheme = "light" # bright\n')
    environment = variables(home)
    async with picking(lambda: FirstStart(Settings(), variables=environment)) as (app, pilot):
        await type_text(app, pilot, "openai")
        await press(app, pilot, "enter")
        await type_text(app, pilot, "$odd-key")
        await press(app, pilot, "enter", "enter")
        assert app.result is not None
    assert path.read_text().startswith('# mine\n[display]\ntheme = "light" # bright\n')
    assert config_of(home)["providers"]["openai"]["key"] == "$$odd-key"
