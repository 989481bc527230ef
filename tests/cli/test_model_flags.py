"""Flags about models, run as people run them: lists, cassettes, limits, keys, local servers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from sloyd.cli.durations import seconds_of
from sloyd.errors import UsageError
from sloyd.llm.local_servers import LOCAL_PROVIDERS
from sloyd.llm.providers import PROVIDERS
from tests.servers import ProviderServer, Reply, Request, chat, error

NOBODY = {PROVIDERS[name].base_url_variable or "": "127.0.0.1:9" for name in LOCAL_PROVIDERS}


def sloyd(
    home: Path, *arguments: str, variables: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """One run of the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "sloyd", *arguments],
        env={**os.environ, **NOBODY, "SLOYD_HOME": str(home / ".sloyd"), **(variables or {})},
        cwd=cwd or home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )


def at(server: ProviderServer, model: str = "m") -> list[str]:
    """The flags that reach a test server."""
    return ["--base-url", f"{server.url}/v1", "--api-key", "sk-secret-key", "--model", model]


LOOK = chat(calls=[("bash", {"command": "ls"})])


def test_models_are_listed_and_searched(home: Path) -> None:
    done = sloyd(home, "--list-models", "sonnet", "5-5", variables={"ANTHROPIC_API_KEY": "k"})
    header, line = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert header.split()[:4] == ["provider", "model", "window", "output"]
    assert line.split() == [
        *("anthropic", "claude-sonnet-5-5", "1M", "128k", "text+image", "low..max", "2", "10"),
        "yes",
    ]
    assert "no model fits `zzz`" in sloyd(home, "--list-models", "zzz").stdout
    whole = sloyd(home, "--list-models").stdout
    assert whole.count("\n") > 400
    assert "sk-" not in whole


def test_models_of_servers_here_and_of_the_configuration_are_listed(home: Path) -> None:
    (home / ".sloyd").mkdir()
    (home / ".sloyd/config.toml").write_text(
        "[providers.mine]\nbase_url = 'http://x/v1'\n"
        "[[providers.mine.models]]\nid = 'big'\ncontext_window = 9000\n"
        "[providers.broken]\nbase_ulr = 'http://x'\n"
    )
    listed = error(200, {"data": [{"id": "qwen3:8b"}]})
    with ProviderServer(listed, repeat=True) as server:
        done = sloyd(home, "--list-models", variables={"OLLAMA_HOST": server.url})
    _, first, second = done.stdout.splitlines()[:3]
    assert first.split() == ["ollama", "qwen3:8b", "?", "?", "?", "?", "?", "?", "-"]
    assert second.split()[:4] == ["mine", "big", "9k", "16k"]
    assert "config.toml:6: providers.broken: unknown key base_ulr" in done.stderr


def test_a_recorded_run_is_played_without_a_server(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "cassette.jsonl"
    here, there = tmp_path / "here", tmp_path / "there"
    for directory in (here, there):
        directory.mkdir()
        (directory / "a.txt").write_text("hello")
    with ProviderServer(LOOK, chat("Done.")) as server:
        done = sloyd(home, "-p", "list", *at(server), "--record", str(file), cwd=here)
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert "sk-secret-key" not in file.read_text()
    played = sloyd(home, "-p", "list", "--replay", str(file), cwd=there)
    assert (played.returncode, played.stdout) == (0, "Done.\n"), played.stderr
    (there / "b.txt").write_text("more")
    changed = sloyd(home, "-p", "list", "--replay", str(file), cwd=there)
    assert changed.returncode == 1
    assert "the request differs from recorded exchange 2" in changed.stderr
    assert "b.txt" in changed.stderr
    again = sloyd(home, "-p", "list", "--provider", "openai", "--record", str(file), "--api-key=k")
    assert (again.returncode, "exists already" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--max-cost", "0.0001"), "the limit of $0.0001 is reached"),
        (("--max-time", "0.01s"), "the limit of 0.0 s is reached"),
        (("--max-turns", "2"), "the limit of 2 turns is reached"),
    ],
)
def test_limits_stop_a_run(flags: tuple[str, str], words: str, home: Path) -> None:
    with ProviderServer(LOOK, repeat=True) as server:
        done = sloyd(home, "-p", "go", *at(server, "gpt-6.2-sol"), *flags)
        assert len(server.requests) <= 2
    assert done.returncode == 1
    assert words in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--max-time", "soon"), "--max-time takes a time above 0"),
        (("--max-cost", "0"), "--max-cost takes an amount above 0"),
        (("--replay", "f", "--model", "m"), "--replay and --model exclude each other"),
        (("--replay", "f", "--record", "g"), "--replay and --record exclude each other"),
        (("--replay", "nowhere"), "cannot read the cassette nowhere"),
        (("--model", "gtp-6.2-sol", "--provider", "opnai"), "did you mean openai?"),
    ],
)
def test_what_cannot_be_meant_is_told(arguments: tuple[str, ...], words: str, home: Path) -> None:
    done = sloyd(home, "-p", "go", *arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_without_key_and_server_the_first_words_help(home: Path) -> None:
    done = sloyd(home, "-p", "go")
    assert done.returncode == 1
    for words in ("ANTHROPIC_API_KEY", "--base-url", "sloyd demo", "--list-models"):
        assert words in done.stderr


def local(*names: str) -> ProviderServer:
    def reply(request: Request) -> Reply:
        if request.method == "GET":
            return error(200, {"data": [{"id": name} for name in names]})
        return error(404, {}) if request.path == "/api/show" else chat("Hello.")

    return ProviderServer(reply, repeat=True)


def test_the_only_model_here_is_used_and_named(home: Path) -> None:
    with local("qwen3:8b") as server:
        done = sloyd(home, "-p", "go", variables={"OLLAMA_HOST": server.url})
    assert (done.returncode, done.stdout) == (0, "Hello.\n")
    assert "using qwen3:8b of Ollama on this machine" in done.stderr


def test_several_models_here_are_offered_with_the_command(home: Path) -> None:
    with local("one", "two") as server:
        variables = {"OLLAMA_HOST": server.url}
        done = sloyd(home, "-p", "go", variables=variables)
        assert done.returncode == 1
        assert "  sloyd --provider ollama --model two" in done.stderr
        chosen = sloyd(
            home, "-p", "go", "--provider", "ollama", "--model", "two", variables=variables
        )
        assert chosen.stdout == "Hello.\n"


def test_a_configured_provider_answers(home: Path) -> None:
    (home / ".sloyd").mkdir()
    with ProviderServer(chat("Hello.")) as server:
        (home / ".sloyd/config.toml").write_text(
            f"[model]\ndefault = 'quick'\n[models]\nquick = 'mine/big'\n"
            f"[providers.mine]\nbase_url = '{server.url}/v1'\nkey = '!echo printed-key'\n"
        )
        done = sloyd(home, "-p", "go")
        assert (done.returncode, done.stdout, done.stderr) == (0, "Hello.\n", "")
        assert server.requests[0].headers["authorization"] == "Bearer printed-key"
        assert server.requests[0].json["model"] == "big"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("1.5", 1.5), ("90s", 90), ("10m", 600), ("1h30m", 5400), ("1.5H", 5400)],
)
def test_times(text: str, seconds: float) -> None:
    assert seconds_of("--max-time", text) == seconds


@pytest.mark.parametrize("text", ["", "0", "0m", "-5", "m", "1x", "30m1h", "1e3"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(UsageError, match="--max-time takes a time"):
        seconds_of("--max-time", text)
