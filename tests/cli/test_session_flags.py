"""Which session a run works in, through the real process; and the handed session cases."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sloyd.sessions.session import Session
from tests.project.sources import ROOT
from tests.sloyd_process import lines_of, only_session, run, script, started, wait_for

CASES = ROOT / "tests" / "cases"
PI_SESSION = ROOT / "tests" / "sessions" / "data" / "pi_session.jsonl"
REFUSED = {"empty.jsonl": b"is empty"}


def say(
    directory: Path, text: str, *words: str, answer: str = "yes"
) -> subprocess.CompletedProcess[bytes]:
    """Run a prompt; the scripted model gives the answer."""
    model = script(directory, {"text": answer})
    return run("-p", text, "--model", model, *words, cwd=directory)


def sessions(home: Path) -> list[Path]:
    return sorted((home / ".sloyd" / "sessions").glob("*/*.jsonl"))


def texts(path: Path) -> list[str]:
    """What was said, in the order of the file."""
    messages = [entry["message"] for entry in lines_of(path.read_bytes()) if "message" in entry]
    return [_text(message["content"]) for message in messages]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else str(content[0].get("text"))


def test_a_run_is_kept_and_continued(tmp_path: Path, home: Path) -> None:
    assert say(tmp_path, "one", "--name", "My work").returncode == 0
    assert say(tmp_path, "two", "-c", answer="again").returncode == 0
    path = only_session(home)
    assert texts(path) == ["one", "yes", "two", "again"]
    assert path.stat().st_mode & 0o777 == 0o600
    say(tmp_path, "three", "--session", "My work")
    assert texts(path)[-2:] == ["three", "yes"]
    assert len(sessions(home)) == 1


def test_no_session_keeps_nothing(tmp_path: Path, home: Path) -> None:
    assert say(tmp_path, "secret", "--no-session").returncode == 0
    assert sessions(home) == []


def test_an_id_of_ones_own(tmp_path: Path, home: Path) -> None:
    say(tmp_path, "one", "--session-id", "build-42")
    say(tmp_path, "two", "--session-id", "build-42")
    assert texts(only_session(home)) == ["one", "yes", "two", "yes"]
    done = say(tmp_path, "three", "--session-id", "no/slash")
    assert done.returncode == 1
    assert b"cannot be a session id" in done.stderr


def test_a_fork_leaves_the_old_one(tmp_path: Path, home: Path) -> None:
    say(tmp_path, "one", "--session-id", "old")
    say(tmp_path, "two", "--fork", "old")
    old, copy = sessions(home)
    assert texts(old) == ["one", "yes"]
    assert texts(copy) == ["one", "yes", "two", "yes"]


def test_a_directory_of_ones_own(tmp_path: Path, home: Path) -> None:
    say(tmp_path, "one", "--session-dir", "kept")
    say(tmp_path, "two", "--session-dir", "kept", "-c")
    (path,) = (tmp_path / "kept").glob("*/*.jsonl")
    assert texts(path) == ["one", "yes", "two", "yes"]
    assert sessions(home) == []


def test_an_unknown_session_is_told(tmp_path: Path, home: Path) -> None:
    done = say(tmp_path, "x", "--session", "nothing-like-it")
    assert done.returncode == 1
    assert b"sloyd sessions" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_two_processes_on_one_session(tmp_path: Path, home: Path) -> None:
    """The second one goes on in a copy and says so; neither loses a line."""
    say(tmp_path, "one", "--session-id", "shared")
    call = {
        "name": "bash",
        "arguments": {"command": "touch began; while ! [ -e go ]; do sleep 0.02; done"},
    }
    model = script(tmp_path, {"calls": [call]}, {"text": "first"})
    process = started("-p", "two", "--session", "shared", "--model", model, cwd=tmp_path)
    assert process.stdin is not None
    process.stdin.close()
    process.stdin = None
    wait_for((tmp_path / "began").exists)
    second = say(tmp_path, "three", "--session", "shared", answer="second")
    (tmp_path / "go").touch()
    process.communicate(timeout=10)
    assert (process.returncode, second.returncode) == (0, 0)
    assert b"going on in a copy" in second.stderr
    first, copy = sessions(home)
    assert texts(first)[:3] == ["one", "yes", "two"]
    assert texts(first)[-1] == "first"
    assert "three" not in texts(first)
    assert texts(copy)[-2:] == ["three", "second"]


@pytest.mark.parametrize(
    "case", json.loads((CASES / "session_cases.json").read_text()), ids=lambda case: case["file"]
)
def test_a_damaged_session_goes_on(case: dict[str, str], tmp_path: Path, home: Path) -> None:
    path = Path(shutil.copy(CASES / "sessions" / case["file"], tmp_path / case["file"]))
    before = path.read_bytes()
    done = say(tmp_path, "and now?", "--session", str(path))
    assert b"Traceback" not in done.stderr
    if case["file"] in REFUSED:
        assert done.returncode == 1
        assert REFUSED[case["file"]] in done.stderr
        assert path.read_bytes() == before
        return
    assert (done.returncode, done.stdout) == (0, b"yes\n"), done.stderr
    assert path.read_bytes().startswith(before.rstrip(b"\r\n")), "what was there is there"
    with Session.open(path, on_conflict="read") as session:
        said = [message.content for message in session.context().messages]
        problems = session.problems
    assert said[-2] == "and now?"
    for problem in problems[:5]:
        assert f"line {problem.line}:".encode() in done.stderr
    if case["file"] == "cwd_gone.jsonl":
        assert b"is gone; the tools work in" in done.stderr


def test_a_session_of_pi_is_continued_and_exported(tmp_path: Path, home: Path) -> None:
    path = Path(shutil.copy(PI_SESSION, tmp_path / "pi.jsonl"))
    before = path.read_bytes()
    assert say(tmp_path, "go on", "--session", "pi.jsonl", answer="gone on").returncode == 0
    assert path.read_bytes().startswith(before)
    assert texts(path)[-2:] == ["go on", "gone on"]
    done = run("--export", "pi.jsonl", "page.html", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"page.html\n")
    page = (tmp_path / "page.html").read_text()
    assert "gone on" in page
    assert 'http-equiv="Content-Security-Policy"' in page


def test_resume_asks_at_a_terminal_only(tmp_path: Path, home: Path) -> None:
    done = run("--resume", cwd=tmp_path)
    assert done.returncode == 2
    assert b"--resume needs a terminal" in done.stderr


def test_a_session_that_cannot_be_kept_is_told_once_with_ways_out(
    home: Path, tmp_path: Path
) -> None:
    (home / ".sloyd").mkdir()
    (home / ".sloyd" / "sessions").touch()
    done = run("--model", script(tmp_path, {"text": "hello"}), "-p", "hi", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count(b"stopped: cannot make the session") == 1
    assert b"--no-session" in done.stderr


def test_an_empty_directory_for_sessions_is_not_the_working_directory(
    home: Path, tmp_path: Path
) -> None:
    model = script(tmp_path, {"text": "hello"})
    before = sorted(tmp_path.rglob("*.jsonl"))
    done = run("--model", model, "--session-dir", "", "-p", "hi", cwd=tmp_path)
    assert done.returncode == 2
    assert sorted(tmp_path.rglob("*.jsonl")) == before
    assert home
