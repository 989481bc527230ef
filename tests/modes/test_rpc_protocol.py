"""The RPC door below its client: framing, order, back-pressure, shutdown, a clean stdout."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Self

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.modes.rpc_commands import COMMANDS
from sloyd.modes.rpc_protocol import BadLine, Response, decode_line
from tests.sloyd_process import alive, lines_of, run, script, started, wait_for

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def bash_call(command: str) -> dict[str, Any]:
    """A turn that runs a command."""
    return {"calls": [{"name": "bash", "arguments": {"command": command}}]}


class Server:
    """A process that is written to and read from line by line."""

    def __init__(
        self, directory: Path, *turns: dict[str, Any], words: tuple[str, ...] = ("--no-session",)
    ) -> None:
        model = script(directory, *turns)
        self.process = started("--mode", "rpc", "--model", model, *words, cwd=directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        with self.process:
            self.process.kill()

    def send(self, *commands: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in commands))
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), "the process has ended"
        found = json.loads(line)
        assert isinstance(found, dict)
        return found

    def until(self, kind: str) -> list[dict[str, Any]]:
        """All records up to one of that type."""
        found = [self.read()]
        while found[-1]["type"] != kind:
            found.append(self.read())
        return found

    def end(self) -> tuple[list[dict[str, Any]], bytes]:
        output, errors = self.process.communicate(timeout=10)
        return lines_of(output), errors


def refusal_of(line: bytes) -> Response | None:
    try:
        decode_line(line)
    except BadLine as error:
        return error.response
    return None


@given(JSON, JSON)
def test_any_line_is_a_command_or_refused(identity: Any, value: Any) -> None:
    for line in (
        json.dumps(value).encode(),
        json.dumps({"id": identity, "type": value}).encode(),
        json.dumps({"id": identity, "type": "prompt", "message": value}).encode(),
    ):
        refusal = refusal_of(line)
        assert refusal is None or (not refusal.success and refusal.error)


@given(st.binary())
def test_any_bytes_are_refused_in_words(line: bytes) -> None:
    with pytest.raises(BadLine) as raised:
        decode_line(line)
    assert raised.value.response.command == "parse"


@pytest.mark.parametrize("line", [b"[" * 100_000, b'{"type":' * 100_000, b'{"type":"x","id":true}'])
def test_nasty_lines(line: bytes) -> None:
    with pytest.raises(BadLine):
        decode_line(line)


def test_lone_surrogates_are_taken() -> None:
    command = decode_line(b'{"type":"prompt","message":"a\\ud800b"}')
    assert getattr(command, "message", None) == "a\ud800b"


def test_every_command_can_be_sent_with_its_required_fields_only(
    tmp_path: Path, home: Path
) -> None:
    """None of them brings the server down, or goes without exactly one response."""
    fields = {
        "message": "hi",
        "sessionPath": "nothing",
        "entryId": "nothing",
        "modelId": "scripted:nothing",
        "level": "low",
        "mode": "all",
        "enabled": True,
        "command": "true",
        "name": "n",
        "names": ["read"],
    }
    sent = [{"type": name, "id": name, **fields} for name in COMMANDS if name != "export_html"]
    with Server(tmp_path, {"text": "yes"}) as server:
        server.send(*sent)
        server.send({"type": "abort", "id": "last"})
        seen: dict[str, int] = {}
        while "last" not in seen or len(seen) <= len(sent):
            record = server.read()
            if record["type"] == "response":
                seen[record["id"]] = seen.get(record["id"], 0) + 1
        rest, errors = server.end()
        assert set(seen.values()) == {1}
        assert (server.process.returncode, errors) == (0, b"")
        assert not any(record["type"] == "response" for record in rest)


def test_commands_are_taken_in_their_order(tmp_path: Path, home: Path) -> None:
    with Server(tmp_path, {"text": "yes"}) as server:
        server.send(
            {"id": 1, "type": "set_session_name", "name": "old"},
            {"id": 2, "type": "new_session"},
            {"id": 3, "type": "get_state"},
            {"id": 4, "type": "prompt", "message": "hi"},
            {"id": 5, "type": "new_session"},
            {"id": 6, "type": "abort"},
        )
        answers: list[dict[str, Any]] = []
        while len(answers) < 6:
            record = server.read()
            answers += [record] if record["type"] == "response" else []
        assert [each["id"] for each in answers] == [1, 2, 3, 4, 5, 6]
        assert answers[2]["data"]["sessionName"] is None
        assert answers[3]["data"] == {"disposition": "started"}
        assert "is running" in answers[4]["error"]
        server.end()


def test_events_are_those_of_the_json_door(tmp_path: Path, home: Path) -> None:
    call = {"name": "bash", "arguments": {"command": "echo one"}}
    turns = ({"text": "first", "calls": [call]}, {"text": "done \u2028 here"})
    model = script(tmp_path, *turns)
    done = run("--mode", "json", "--no-session", "-p", "hi", "--model", model, cwd=tmp_path)
    with Server(tmp_path, *turns) as server:
        server.send({"type": "prompt", "message": "hi"})
        events = [each for each in server.until("agent_settled") if each["type"] != "response"]
        server.end()
        header, *others = lines_of(done.stdout)
        assert header["type"] == "session"
        kinds = [event["type"] for event in events if "update" not in event["type"]]
        assert kinds == [event["type"] for event in others if "update" not in event["type"]]
        assert events[-2]["messages"][-1]["content"][0]["text"] == "done \u2028 here"


def test_a_slow_reader_slows_the_run(tmp_path: Path, home: Path) -> None:
    turns = [{"text": "word " * 20_000}, {"text": "word " * 20_000}]
    turns[0]["calls"] = [{"name": "ls", "arguments": {}}]  # type: ignore[assignment]
    with Server(tmp_path, *turns) as server:
        server.send({"type": "prompt", "message": "talk"})
        server.until("agent_start")
        process = psutil.Process(server.process.pid)
        time.sleep(0.5)
        before = process.memory_info().rss
        time.sleep(0.7)
        assert process.memory_info().rss - before < 2 << 20
        # Whoever stops reading can still end it, and soon.
        begin = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=10) == 143
        assert time.monotonic() - begin < 3
        server.process.communicate()


def test_end_of_input_during_a_run(tmp_path: Path, home: Path) -> None:
    call = {"name": "bash", "arguments": {"command": "sleep 60 & sleep 60"}}
    with Server(tmp_path, {"calls": [call]}) as server:
        server.send({"type": "prompt", "message": "hi"})
        parent = psutil.Process(server.process.pid)
        wait_for(lambda: len(parent.children(recursive=True)) >= 3)
        children = parent.children(recursive=True)
        begin = time.monotonic()
        records, errors = server.end()
        assert time.monotonic() - begin < 2
        assert (server.process.returncode, errors) == (0, b"")
        assert records[-1]["outcome"] == "aborted"
        wait_for(lambda: not any(alive(child) for child in children), seconds=2)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_it_in_order(tmp_path: Path, home: Path, number: signal.Signals) -> None:
    with Server(tmp_path, bash_call("sleep 60")) as server:
        server.send({"type": "prompt", "message": "hi"})
        server.until("tool_execution_start")
        server.process.send_signal(number)
        records, _ = server.end()
        assert server.process.returncode == 128 + number
        assert records[-1] == {"type": "agent_settled", "outcome": "aborted", "errorMessage": None}


def test_a_second_signal_ends_it_at_once(tmp_path: Path, home: Path) -> None:
    stubborn = "trap '' TERM INT; while :; do sleep 0.1; done"
    with Server(tmp_path, bash_call(stubborn)) as server:
        server.send({"type": "prompt", "message": "hi"})
        server.until("tool_execution_update")
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        server.process.send_signal(signal.SIGTERM)
        begin = time.monotonic()
        server.process.communicate(timeout=10)
        assert time.monotonic() - begin < 1.5
        assert server.process.returncode == 143


def test_nothing_but_protocol(tmp_path: Path, home: Path) -> None:
    """What a library prints goes to standard error, and a child cannot read the commands."""
    noisy = tmp_path / "noisy.py"
    noisy.write_text(
        "import os, subprocess, sys\n"
        "print('from an extension')\n"
        "def setup(api):\n"
        "    print('from its setup')\n"
        "    os.write(1, b'straight to the descriptor\\n')\n"
        "    subprocess.run(['cat'])\n"
        "    subprocess.run(['echo', 'from a child'])\n"
    )
    with Server(tmp_path, {"text": "yes"}, words=("-e", str(noisy), "--no-session")) as server:
        server.send({"id": 1, "type": "get_state"})
        answers, errors = server.end()
        assert [each["id"] for each in answers if each["type"] == "response"] == [1]
        said = (b"from an extension", b"from its setup", b"straight to", b"from a child")
        assert all(text in errors for text in said)


def test_the_same_holds_for_the_json_door(tmp_path: Path, home: Path) -> None:
    noisy = tmp_path / "noisy.py"
    noisy.write_text("def setup(api):\n    print('hello from the extension')\n")
    model = script(tmp_path, {"text": "yes"})
    words = ("--mode", "json", "-p", "hi", "--model", model, "-e", str(noisy))
    done = run(*words, cwd=tmp_path)
    assert lines_of(done.stdout)[-1]["outcome"] == "done"
    assert b"hello from the extension" in done.stderr


def test_a_line_without_end(tmp_path: Path, home: Path) -> None:
    """A client gone mad is told so, and is not kept in memory."""
    with Server(tmp_path, {"text": "yes"}) as server:
        assert server.process.stdin is not None
        server.send({"id": 1, "type": "get_state"})
        server.until("response")
        process = psutil.Process(server.process.pid)
        before = process.memory_info().rss
        for _ in range(80):
            server.process.stdin.write(b"x" * (1 << 20))
        server.process.stdin.write(b"\n")
        server.send({"id": 2, "type": "get_state"})
        refused, answered = server.read(), server.read()
        assert "longer than" in refused["error"]
        assert answered["id"] == 2
        assert process.memory_info().rss - before < 90 << 20
        server.end()


def test_standard_streams_in_non_blocking_mode(tmp_path: Path, home: Path) -> None:
    """Node and others hand such pipes to their children."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    model = script(tmp_path, {"text": "word " * 30_000})
    process = subprocess.Popen(
        ["sloyd", "--mode", "json", "-p", "hi", "--no-session", "--model", model],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=write,
    )
    os.close(write)
    time.sleep(0.5)
    with os.fdopen(read, "rb") as output:
        events = lines_of(output.read())
    assert process.wait(timeout=10) == 0
    assert events[-1]["type"] == "agent_settled"


@pytest.mark.parametrize("kind", ["prompt", "steer", "follow_up"])
@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_message_without_text_is_refused(tmp_path: Path, kind: str, blank: str) -> None:
    with Server(tmp_path, {"text": "never"}) as server:
        server.send({"type": kind, "message": blank, "id": "1"})
        lines, _errors = server.end()
    assert [line["error"] for line in lines if line["type"] == "response"] == [
        "The message is empty"
    ]
