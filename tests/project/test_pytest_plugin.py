"""The fixture `recorded_model` in somebody else's project: record once, then play."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.servers import ProviderServer, chat

TEST = """
import pytest
from sloyd import CodingAgent, MemoryWorkspace

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.anyio
@pytest.mark.parametrize("word", ["first/one"])
async def test_agent(recorded_model, tmp_path, word):
    async with recorded_model("openai/m") as model:
        async with CodingAgent.open(model=model, cwd=tmp_path) as agent:
            result = await agent.prompt("PROMPT")
    assert result.text == "Hello."
"""
FILE = "cassettes/test_mine/test_agent-first-one.jsonl"


def pytest_run(directory: Path, *arguments: str, url: str = "") -> subprocess.CompletedProcess[str]:
    """pytest in a process of its own, with a key only when there is a server."""
    keys = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-secret-key"} if url else {}
    plugins = ["-p", "no:cacheprovider", "-p", "sloyd.pytest_plugin"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, *arguments],
        cwd=directory,
        env={**os.environ, **keys},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )


def test_record_once_then_play(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(TEST)
    missing = pytest_run(tmp_path)
    assert missing.returncode == 1, missing.stdout
    assert "there is no cassette" in missing.stdout
    assert "pytest --sloyd-record 'test_mine.py::test_agent[" in missing.stdout
    with ProviderServer(chat("Hello."), repeat=True) as server:
        recorded = pytest_run(tmp_path, "--sloyd-record", url=f"{server.url}/v1")
        assert recorded.returncode == 0, recorded.stdout
        assert len(server.requests) == 1
    assert "sk-secret-key" not in (tmp_path / FILE).read_text()
    played = pytest_run(tmp_path)
    assert played.returncode == 0, played.stdout


def test_what_differs_and_what_is_left_over_fails(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(TEST)
    with ProviderServer(chat("Hello."), repeat=True) as server:
        pytest_run(tmp_path, "--sloyd-record", url=f"{server.url}/v1")
    file = tmp_path / FILE
    file.write_text(file.read_text() + file.read_text().splitlines()[1] + "\n")
    left = pytest_run(tmp_path)
    assert left.returncode == 1
    assert "1 exchanges of" in left.stdout
    (tmp_path / "test_mine.py").write_text(TEST.replace('"PROMPT"', '"another"'))
    changed = pytest_run(tmp_path)
    assert changed.returncode == 1
    assert "were not played" not in changed.stdout
