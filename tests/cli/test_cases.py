"""The handed command-line cases, each through the real process: streams, signals, locales, RPC."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.project.sources import ROOT
from tests.servers import ProviderServer, error
from tests.sloyd_process import (
    SLOYD,
    alive,
    lines_of,
    only_session,
    run,
    script,
    shell,
    started,
    wait_for,
)

CASES = json.loads((ROOT / "tests" / "cases" / "cli_cases.json").read_text())
TROUBLE = (b"Traceback", b"Exception ignored", b"UnicodeEncodeError", b"UnicodeDecodeError")


def asked(provider: ProviderServer) -> str:
    """What the user said in the last request."""
    content = provider.requests[-1].json["messages"][-1]["content"]
    return content if isinstance(content, str) else content[0]["text"]


def test_every_case_is_here() -> None:
    tests = {name.removeprefix("test_").replace("_", "-") for name in globals()}
    assert {case["id"] for case in CASES} <= tests


def test_idle_stdin(tmp_path: Path, home: Path, server: ProviderServer) -> None:
    process = started("-p", "say hi", cwd=tmp_path)
    begin = time.monotonic()
    assert process.stdout is not None
    assert process.stdout.read() == b"Hi there.\n"
    assert time.monotonic() - begin < 8
    _, errors = process.communicate()
    assert process.returncode == 0
    assert b"standard input is a pipe that sent nothing" in errors


def test_stdin_bad_utf8(tmp_path: Path, home: Path, server: ProviderServer) -> None:
    done = run("-p", "x", cwd=tmp_path, stdin=b"caf\xe9")
    assert (done.returncode, done.stdout) == (0, b"Hi there.\n")
    assert asked(server) == "caf\ufffd\nx"


def test_stdin_closed(tmp_path: Path, home: Path, server: ProviderServer) -> None:
    done = shell("sloyd -p 'say hi' <&-", tmp_path)
    assert (done.returncode, done.stdout) == (0, b"Hi there.\n")


@pytest.mark.parametrize("mode", ["text", "json"])
def test_json_error_exit(tmp_path: Path, home: Path, mode: str) -> None:
    with ProviderServer(error(401, {"error": {"message": "bad key"}}), repeat=True) as provider:
        url = provider.base_url("openai")
        words = ("--mode", mode, "-p", "x", "--provider", "openai", "--model", "m")
        done = run(*words, "--base-url", url, "--api-key", "sk-no", cwd=tmp_path)
    assert done.returncode == 1
    assert b"bad key" in done.stderr
    if mode == "json":
        assert lines_of(done.stdout)[-1]["outcome"] == "error"
    else:
        assert done.stdout == b""


def test_epipe(tmp_path: Path, home: Path, server: ProviderServer) -> None:
    done = shell("sloyd --mode json -p x | head -1", tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["type"] == "session"
    assert done.stderr == b""


def test_stdout_closed(tmp_path: Path, home: Path, server: ProviderServer) -> None:
    for words in ("-p x", "--mode json -p x", "-p x <&- 2>&-"):
        done = shell(f"sloyd {words} >&-", tmp_path)
        assert (done.returncode, done.stderr) == (0, b""), words


def test_non_tty_no_prompt(tmp_path: Path, home: Path, server: ProviderServer) -> None:
    done = run(cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"no prompt was given" in done.stderr
    assert server.requests == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("mode", ["text", "json"])
def test_ctrl_c(tmp_path: Path, home: Path, number: signal.Signals, mode: str) -> None:
    command = {"name": "bash", "arguments": {"command": "echo began; sleep 600"}}
    model = script(tmp_path, {"calls": [command]}, {"text": "never said"})
    process = started("--mode", mode, "-p", "run it", "--model", model, cwd=tmp_path)
    assert process.stdin is not None
    process.stdin.close()
    process.stdin = None
    parent = psutil.Process(process.pid)
    wait_for(lambda: any("sleep" in child.name() for child in parent.children(recursive=True)))
    children = parent.children(recursive=True)
    begin = time.monotonic()
    process.send_signal(number)
    output, errors = process.communicate(timeout=10)
    assert time.monotonic() - begin < 2
    assert process.returncode == 128 + number
    assert not any(alive(child) for child in children)
    assert b"interrupted" in errors
    if mode == "json":
        assert lines_of(output)[-1] == {
            "type": "agent_settled",
            "outcome": "aborted",
            "errorMessage": None,
        }
    entries = lines_of(only_session(home).read_bytes())
    assert entries[-1]["message"]["role"] == "toolResult"
    assert "began" in entries[-1]["message"]["content"][0]["text"]


def test_ascii_locale(tmp_path: Path, home: Path) -> None:
    model = script(tmp_path, {"text": "caf\u00e9 \U0001f600"})
    done = subprocess.run(
        [SLOYD, "-p", "say caf\u00e9", "--model", model],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LC_ALL": "POSIX",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONPATH": os.environ["PYTHONPATH"],
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == "caf\u00e9 \U0001f600\n"
    first = next(
        entry["message"]["content"]
        for entry in lines_of(only_session(home).read_bytes())
        if entry["type"] == "message"
    )
    assert first == "say caf\u00e9"


def rpc(tmp_path: Path, stdin: bytes) -> list[dict[str, Any]]:
    """What the RPC door answers to an input."""
    model = script(tmp_path, {"text": "yes"})
    done = run("--mode", "rpc", "--no-session", "--model", model, cwd=tmp_path, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b"")
    return lines_of(done.stdout)


def test_rpc_bad_line(tmp_path: Path, home: Path) -> None:
    answers = rpc(tmp_path, b'not json\n{"type":"nope"}\n\xff\xfe\n[1]\n{"id":7,"type":"prompt"}\n')
    assert [each["success"] for each in answers] == [False] * 5
    commands = [each["command"] for each in answers]
    assert commands == ["parse", "nope", "parse", "parse", "prompt"]
    assert answers[1]["error"].startswith("Unknown command: nope")
    assert answers[4]["id"] == 7


def test_rpc_crlf(tmp_path: Path, home: Path) -> None:
    command = b'{"id":"a","type":"set_session_name","name":"one"}\r\n{"id":2,"type":"get_state"}'
    answers = [each for each in rpc(tmp_path, command + b"\r\n") if each["type"] == "response"]
    assert [(each["id"], each["success"]) for each in answers] == [("a", True), (2, True)]
    assert answers[1]["data"]["sessionName"] == "one"


def test_rpc_split(tmp_path: Path, home: Path) -> None:
    name = "na\u00efve \U0001f600\u2028 line"
    command = json.dumps({"type": "set_session_name", "name": name}, ensure_ascii=False)
    whole = f'{command}\n{{"type":"get_state"}}\n'.encode()
    model = script(tmp_path, {"text": "yes"})
    process = started("--mode", "rpc", "--no-session", "--model", model, cwd=tmp_path)
    assert process.stdin is not None
    for place in range(len(whole)):
        process.stdin.write(whole[place : place + 1])
        process.stdin.flush()
    output, errors = process.communicate(timeout=10)
    assert (process.returncode, errors) == (0, b"")
    assert lines_of(output)[-1]["data"]["sessionName"] == "na\u00efve \U0001f600 line"


def test_disk_full(tmp_path: Path, home: Path, server: ProviderServer) -> None:
    for line in ("sloyd -p x", "sloyd -p x --mode json", "sloyd --help", "sloyd sessions --json"):
        done = shell(f"{line} > /dev/full", tmp_path)
        assert done.returncode == 1, line
        assert done.stderr.count(b"\n") == 1
        assert b"No space left" in done.stderr


@pytest.mark.parametrize("line", ["sloyd --help", "sloyd sessions --help", "sloyd config list"])
def test_reader_gone(tmp_path: Path, home: Path, line: str) -> None:
    done = shell(f"{line} | true", tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")


def test_no_trouble_is_ever_printed(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mistakes of a user: one line each, exit code 2, no traceback."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    mistakes: dict[str, Callable[[str], bool]] = {
        "sloyd --bogus x": lambda text: "unknown option --bogus" in text,
        "sloyd -p x --tools raed": lambda text: "read" in text,
        "sloyd -p x --cwd /nowhere": lambda text: "/nowhere" in text,
        "sloyd -c --session abc -p x": lambda text: "exclude each other" in text,
        "sloyd --mode rpc hello": lambda text: "takes no prompt" in text,
        "sloyd -p x @missing.txt": lambda text: "missing.txt" in text,
        "sloyd -r -p x": lambda text: "exclude each other" in text,
        "sloyd sessions frobnicate": lambda text: "frobnicate" in text,
        "sloyd tool read": lambda text: "usage" in text,
    }
    for line, fits in mistakes.items():
        done = shell(line, tmp_path)
        text = done.stderr.decode()
        assert done.returncode == 2, (line, text)
        assert fits(text), text
        assert not any(trouble in done.stderr for trouble in TROUBLE), text


@pytest.mark.parametrize("signals", [1, 2])
def test_an_extension_that_holds_the_loop_does_not_hold_the_process(
    home: Path, tmp_path: Path, signals: int
) -> None:
    """Nobody hears of a signal in the loop any more; one ends it in a while, two at once."""
    mark = tmp_path / "held"
    extension = tmp_path / "holding.py"
    extension.write_text(
        "from pathlib import Path\n"
        "def setup(api):\n"
        "    @api.on('turn_start')\n"
        "    def hold(event):\n"
        f"        Path({str(mark)!r}).touch()\n"
        "        while True:\n"
        "            pass\n"
    )
    model = script(tmp_path, {"text": "never"})
    with started("--model", model, "-e", str(extension), "-p", "hi", cwd=tmp_path) as process:
        assert process.stdin is not None
        process.stdin.close()
        wait_for(mark.exists)
        began = time.monotonic()
        for _ in range(signals):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.2)
        assert process.wait(8) == 143
    assert (time.monotonic() - began < 2) == (signals == 2)
