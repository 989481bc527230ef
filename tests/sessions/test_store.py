"""Files: private, append-only, durable, one writer, whole after a cut at any byte."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sloyd.errors import SessionError
from sloyd.sessions.session import Session
from tests.sessions.builders import answer, call, lines_of, result, texts, user


def _session(tmp_path: Path) -> Session:
    return Session.create(tmp_path / "home" / "sessions", "/code/project")


def test_the_file_is_made_by_the_first_message_and_is_private(tmp_path: Path) -> None:
    with _session(tmp_path) as session:
        session.set_name("a name")
        assert session.path is not None
        assert not (tmp_path / "home").exists()
        session.append_message(user("hello"))
        assert session.path.parent.name == "--code-project--"
        assert stat.S_IMODE(session.path.stat().st_mode) == 0o600
        for directory in (session.path.parent, session.path.parent.parent, tmp_path / "home"):
            assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        assert [line["type"] for line in lines_of(session.path)] == [
            "session",
            "session_info",
            "message",
        ]
        assert session.path.name.endswith(f"_{session.id}.jsonl")
    assert not list(session.path.parent.glob("*.lock"))


def test_each_entry_is_in_the_file_when_append_returns(tmp_path: Path) -> None:
    with _session(tmp_path) as session:
        assert session.path is not None
        for number in range(5):
            entry = session.append_message(user(f"message {number}"))
            assert lines_of(session.path)[-1]["id"] == entry.id


def test_truncated_at_every_byte_of_the_last_three_lines(tmp_path: Path) -> None:
    with _session(tmp_path) as session:
        session.append_message(user("look at it"))
        session.append_message(answer("näher \u2028 hin", call("c1", path="a")))
        session.append_message(result("c1", "content 😀"))
        session.append_message(answer("that was it"))
        path = session.path
    assert path is not None
    whole = path.read_bytes()
    lines = whole.split(b"\n")
    start = len(whole) - sum(len(line) + 1 for line in lines[-4:-1])
    everything = ["look at it", "näher \u2028 hin", "content 😀", "that was it"]
    for end in range(start, len(whole) + 1):
        path.write_bytes(whole[:end])
        complete = whole[: end + 1].count(b"\n") - 1  # a line may lack only its line end
        with Session.open(path, durable=False) as cut:
            assert texts(cut) == everything[:complete]
            torn = end < len(whole) and whole[end - 1] != 10 and whole[end] != 10
            assert len(cut.problems) == torn
            cut.append_message(user("next"))
        with Session.open(path) as again:
            assert texts(again) == [*everything[:complete], "next"]
            assert len(again.problems) == torn


def test_a_second_session_on_the_file_is_refused(tmp_path: Path) -> None:
    with _session(tmp_path) as session:
        session.append_message(user("mine"))
        assert session.path is not None
        with pytest.raises(SessionError, match="in use by this process"):
            Session.open(session.path)
        with Session.open(session.path, on_conflict="read") as reader:
            assert texts(reader) == ["mine"]
            with pytest.raises(SessionError, match="reading only"):
                reader.append_message(user("no"))
    with Session.open(session.path) as free:
        assert texts(free) == ["mine"]


def test_a_second_session_on_the_file_forks(tmp_path: Path) -> None:
    with _session(tmp_path) as session:
        session.append_message(user("shared"))
        session.set_label(next(session.branch()).id, "start")
        assert session.path is not None
        before = session.path.read_bytes()
        with Session.open(session.path, on_conflict="fork") as other:
            other.append_message(user("theirs"))
            assert other.path != session.path
            assert len(other.notices) == 1
            assert str(other.path) in other.notices[0]
            assert texts(other) == ["shared", "theirs"]
            assert list(other.labels.values()) == ["start"]
        assert session.path.read_bytes() == before


_WRITER = """
import sys
from pathlib import Path
from sloyd.llm.messages import UserMessage
from sloyd.sessions.session import Session

path, who = Path(sys.argv[1]), sys.argv[2]
session = Session.open(path, on_conflict="fork")
print("open", flush=True)
sys.stdin.readline()
for number in range(50):
    session.append_message(UserMessage(content=f"{who} {number} " + "x" * 3000))
print(session.path, len(session.notices), flush=True)
sys.stdin.readline()
"""


def test_two_processes_on_one_file_never_interleave(tmp_path: Path) -> None:
    with _session(tmp_path) as session:
        session.append_message(user("start"))
        path = session.path
    assert path is not None
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path), who],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for who in "ab"
    ]
    outputs = []
    for step in range(2):
        for writer in writers:
            assert writer.stdout is not None
            outputs.append(writer.stdout.readline().strip())
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("go\n")
            writer.stdin.flush()
        assert len(outputs) == 2 * (step + 1)
    for writer in writers:
        writer.communicate(timeout=20)
        assert writer.returncode == 0
    files = {Path(output.rsplit(" ", 1)[0]) for output in outputs[2:]}
    assert len(files) == 2
    assert path in files
    for file in files:
        with Session.open(file) as reopened:
            assert reopened.problems == ()
            said = texts(reopened)[1:]
            assert len(said) == 50
            assert len({text[0] for text in said}) == 1


def test_a_lease_dies_with_its_process(tmp_path: Path) -> None:
    with _session(tmp_path) as session:
        session.append_message(user("start"))
        path = session.path
    assert path is not None
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path), "a"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        with pytest.raises(SessionError, match=f"in use by process {writer.pid}"):
            Session.open(path)
        writer.kill()
    with Session.open(path) as session:
        assert texts(session) == ["start"]


def _foreign_append(path: Path) -> None:
    """Append as a program does that knows nothing of leases."""
    entry = {
        "type": "message",
        "id": "f0e1d2c3",
        "parentId": lines_of(path)[-1]["id"],
        "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": "foreign", "timestamp": 1},
    }
    with path.open("a") as file:
        file.write(json.dumps(entry) + "\n")


def test_a_writer_without_a_lease_is_noticed_and_refused(tmp_path: Path) -> None:
    with _session(tmp_path) as session:
        session.append_message(user("start"))
        path = session.path
    assert path is not None
    with Session.open(path) as session:
        _foreign_append(path)
        before = path.read_bytes()
        with pytest.raises(SessionError, match="written by another program"):
            session.append_message(user("mine"))
        assert path.read_bytes() == before
        assert texts(session) == ["start"]


def test_a_writer_without_a_lease_is_noticed_and_left_alone(tmp_path: Path) -> None:
    with _session(tmp_path) as session:
        session.append_message(user("start"))
        old = session.path
        assert old is not None
        _foreign_append(old)
        before = old.read_bytes()
        session.append_message(user("mine"))
        assert session.path != old
        assert texts(session) == ["start", "mine"]
        assert "written by another program" in session.notices[0]
        assert old.read_bytes() == before


def test_a_deleted_file_is_noticed(tmp_path: Path) -> None:
    with _session(tmp_path) as session:
        session.append_message(user("start"))
        old = session.path
        assert old is not None
        old.unlink()
        session.append_message(user("mine"))
        assert session.path is not None
        with Session.open(session.path, on_conflict="read") as copy:
            assert texts(copy) == ["start", "mine"]


def test_a_failed_write_leaves_the_session_as_it_was(tmp_path: Path) -> None:
    script = """
import resource, signal, sys
from pathlib import Path
from sloyd.errors import SessionError
from sloyd.llm.messages import UserMessage
from sloyd.sessions.session import Session

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
session = Session.open(path)
before = path.read_bytes()
resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, resource.RLIM_INFINITY))
leaf = session.leaf_id
try:
    session.append_message(UserMessage(content="x" * 5000))
except SessionError as error:
    assert "cannot write" in str(error), error
else:
    raise SystemExit("not noticed")
assert path.read_bytes() == before
assert session.leaf_id == leaf
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
session.append_message(UserMessage(content="fits"))
"""
    with _session(tmp_path) as session:
        session.append_message(user("start"))
        path = session.path
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert path is not None
    with Session.open(path) as session:
        assert texts(session) == ["start", "fits"]


def test_a_large_session_opens_fast_and_appends_in_constant_time(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    count = 100_000
    with path.open("w") as file:
        header = {"type": "session", "version": 3, "id": "big", "timestamp": "", "cwd": "/"}
        file.write(json.dumps(header) + "\n")
        content = "y" * 850
        for number in range(count):
            parent = f'"{number - 1:08x}"' if number else "null"
            file.write(
                f'{{"type":"message","id":"{number:08x}","parentId":{parent},'
                '"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user",'
                f'"content":"{number} {content}","timestamp":1}}}}\n'
            )
    assert path.stat().st_size > 99_000_000
    started = time.process_time()
    session = Session.open(path)
    opened = time.process_time() - started
    with session:
        assert session.leaf_id == f"{count - 1:08x}"
        started = time.process_time()
        for _ in range(100):
            session.append_message(user("more"))
        appended = time.process_time() - started
    assert opened < 1.0
    assert appended < 0.2, "100 appends"


def test_closed_sessions_say_so(tmp_path: Path) -> None:
    session = _session(tmp_path)
    session.append_message(user("start"))
    session.close()
    session.close()
    with pytest.raises(SessionError, match="closed"):
        session.append_message(user("late"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match=r"none\.jsonl.*No such file"):
        Session.open(tmp_path / "none.jsonl")


def test_a_newer_format_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "new.jsonl"
    path.write_text('{"type":"session","version":4,"id":"s","timestamp":"","cwd":"/"}\n')
    with pytest.raises(SessionError, match="version 4"):
        Session.open(path)
    with Session.open(path, on_conflict="read") as session:
        assert session.id == "s"


def test_descriptors_are_given_back(tmp_path: Path) -> None:
    with _session(tmp_path) as session:
        session.append_message(user("start"))
        path = session.path
    assert path is not None
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    for _ in range(20):
        with Session.open(path, on_conflict="fork"):
            pass
    after = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    assert after <= before
