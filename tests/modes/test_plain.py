"""The plain conversation, by hand: the real ``sloyd`` on a terminal of its own."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sloyd.harness.trust import TrustFile
from tests.sloyd_process import SLOYD, lines_of, only_session, script


class Terminal:
    """A terminal with ``sloyd --plain`` in it: what it shows, and keys to press."""

    def __init__(self, descriptor: int, process: subprocess.Popen[bytes]) -> None:
        self._descriptor = descriptor
        self.process = process
        self.shown = ""

    def wait_for(self, text: str, seconds: float = 15) -> str:
        """Read until the text is there; returns what came up to its end, and forgets that."""
        deadline = time.monotonic() + seconds
        while text not in self.shown:
            left = deadline - time.monotonic()
            assert left > 0, f"{text!r} did not come in {self.shown!r}"
            if select.select([self._descriptor], [], [], min(left, 0.1))[0]:
                try:
                    self.shown += os.read(self._descriptor, 65536).decode(errors="replace")
                except OSError:
                    # The other side is closed: what is there is all there will be.
                    assert text in self.shown, f"{text!r} did not come in {self.shown!r}"
        front, _, self.shown = self.shown.partition(text)
        return front + text

    def type(self, line: str) -> None:
        os.write(self._descriptor, line.encode() + b"\n")

    def ask(self, line: str, text: str) -> str:
        """Type at the prompt, and wait for what comes of it."""
        self.wait_for("> ")
        self.type(line)
        return self.wait_for(text)


@contextmanager
def terminal(directory: Path, *words: str) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [SLOYD, "--plain", *words],
        cwd=directory,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Terminal(ours, process)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_commands_shell_lines_and_leaving(home: Path, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "I see it."})
    with terminal(tmp_path, "--model", model) as it:
        it.ask("/help", "/quit")
        it.ask("/nmae x", "did you mean /name?")
        it.ask("!echo from the shell; exit 3", "exit code 3")
        it.ask("!!echo not for the model", "not for the model\r\n")
        it.ask("look", "I see it.")
        it.ask("/fork", "number, or Enter for none: ")
        it.type("7")
        it.wait_for("none of 1 to 1")
        it.type("")
        it.ask("/quit", "\r\n")
        assert it.process.wait(timeout=10) == 0
    entries = lines_of(only_session(home).read_bytes())
    messages = [entry["message"] for entry in entries if "message" in entry]
    commands = [m for m in messages if m["role"] == "bashExecution"]
    assert [m.get("excludeFromContext", False) for m in commands] == [False, True]
    assert commands[0]["exitCode"] == 3
    assert commands[0]["output"] == "from the shell\n"


def test_an_interrupt_stops_a_shell_line_and_not_the_conversation(
    home: Path, tmp_path: Path
) -> None:
    with terminal(tmp_path, "--model", script(tmp_path)) as it:
        it.ask("!echo started; sleep 60", "started\r\n")
        os.killpg(it.process.pid, signal.SIGINT)
        it.wait_for("stopped")
        it.ask("/quit", "\r\n")
        assert it.process.wait(timeout=10) == 0


def test_a_gate_asks_the_person(home: Path, tmp_path: Path) -> None:
    gate = Path(__file__).parents[2] / "examples" / "permission_gate.py"
    call = {"name": "bash", "arguments": {"command": "rm -rf kept"}}
    model = script(tmp_path, {"calls": [call]}, {"text": "It was not wanted."})
    (tmp_path / "kept").mkdir()
    with terminal(tmp_path, "--model", model, "-e", str(gate)) as it:
        it.ask("go", "Run this command? [y/N] ")
        it.type("n")
        it.wait_for("It was not wanted.")
        assert (tmp_path / "kept").exists()


def test_an_unknown_project_is_asked_about_once(home: Path, tmp_path: Path) -> None:
    prompts = tmp_path / ".sloyd" / "prompts"
    prompts.mkdir(parents=True)
    (prompts / "mine.md").write_text("text")
    model = script(tmp_path, {"text": "x"})
    with terminal(tmp_path, "--model", model) as it:
        assert ".sloyd/prompts" in it.wait_for("ne[v]er: ")
        it.type("")
        it.wait_for("not trusted")
        it.ask("/trust yes", "is trusted")
        it.ask("/help", "/mine")
    assert TrustFile(home / ".sloyd").decision(tmp_path) == "trusted"
    with terminal(tmp_path, "--model", model) as it:
        assert "Trust it?" not in it.ask("/help", "/mine")
