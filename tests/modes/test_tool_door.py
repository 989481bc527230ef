"""``sloyd tool`` as a program drives it: signals, odd lines, closed streams, order."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import psutil
import pytest

from tests.sloyd_process import alive, lines_of, run, shell, started, wait_for

SLEEP = {"command": "echo began; sleep 600"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_signal_stops_the_command(
    tmp_path: Path, home: Path, number: signal.Signals, streamed: bool
) -> None:
    words = ("--jsonl",) if streamed else ("bash", json.dumps(SLEEP))
    process = started("tool", *words, cwd=tmp_path)
    assert process.stdin is not None
    if streamed:
        process.stdin.write(json.dumps({"tool": "bash", "arguments": SLEEP}).encode() + b"\n")
        process.stdin.flush()
    parent = psutil.Process(process.pid)
    wait_for(lambda: any("sleep" in child.name() for child in parent.children(recursive=True)))
    children = parent.children(recursive=True)
    begin = time.monotonic()
    process.send_signal(number)
    assert process.wait(timeout=10) == 128 + number
    assert time.monotonic() - begin < 2
    wait_for(lambda: not any(alive(child) for child in children), seconds=2)
    process.communicate()


def test_a_signal_ends_the_wait_for_a_line(tmp_path: Path, home: Path) -> None:
    process = started("tool", "--jsonl", cwd=tmp_path)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b'{"id":1,"tool":"ls","arguments":{}}\n')
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1, "each answer is flushed on its own"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=10) == 143
    process.communicate()


def test_odd_lines_get_an_error_each(tmp_path: Path, home: Path) -> None:
    deep = "[" * 50_000 + "]" * 50_000
    lines = [
        "not json",
        f'{{"id":1,"tool":"read","arguments":{deep}}}',
        '{"id":{"a":1},"tool":"ls"}',
        '{"id":3,"tool":"raed"}',
        '{"id":4,"tool":"read","arguments":{"path":' + "[" * 400 + "]" * 400 + "}}",
        "[1]",
        "",
        '{"id":"last","tool":"ls","arguments":{}}',
    ]
    done = run("tool", "--jsonl", cwd=tmp_path, stdin="\n".join(lines).encode())
    answers = lines_of(done.stdout)
    assert [each["id"] for each in answers] == [None, None, None, 3, 4, None, "last"]
    assert [each["isError"] for each in answers] == [True] * 6 + [False]
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_very_long_line(tmp_path: Path, home: Path) -> None:
    content = "x" * 20_000_000
    call = {"id": 1, "tool": "write", "arguments": {"path": "big.txt", "content": content}}
    done = run("tool", "--jsonl", cwd=tmp_path, stdin=json.dumps(call).encode())
    assert [each["isError"] for each in lines_of(done.stdout)] == [False]
    assert (tmp_path / "big.txt").stat().st_size == len(content)


def test_bytes_that_are_no_utf8_name_a_file(tmp_path: Path, home: Path) -> None:
    line = b'{"id":1,"tool":"write","arguments":{"path":"caf\xe9.txt","content":"x"}}\n'
    done = run("tool", "--jsonl", cwd=tmp_path, stdin=line)
    assert not lines_of(done.stdout)[0]["isError"]
    assert (tmp_path / b"caf\xe9.txt".decode("utf-8", "surrogateescape")).exists()


def test_closed_streams(tmp_path: Path, home: Path) -> None:
    for line in ("sloyd tool --jsonl <&-", "sloyd tool ls '{}' >&-", "sloyd tool --jsonl >&-"):
        done = shell(line, tmp_path)
        assert (done.returncode, done.stderr) == (0, b""), line
    full = shell('echo \'{"tool":"ls"}\' | sloyd tool --jsonl > /dev/full', tmp_path)
    assert full.returncode == 1
    assert full.stderr.count(b"\n") == 1
    gone = shell('yes \'{"tool":"ls","arguments":{}}\' | sloyd tool --jsonl | head -1', tmp_path)
    assert len(lines_of(gone.stdout)) == 1
    assert gone.stderr == b""


def test_one_call(tmp_path: Path, home: Path) -> None:
    done = run("tool", "bash", '{"command":"echo hi; exit 3"}', cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith(b"hi\n")
    whole = run("tool", "--json", "bash", '{"command":"echo hi"}', cwd=tmp_path)
    assert whole.returncode == 0
    assert set(json.loads(whole.stdout)) == {"content", "details", "isError"}
    for words in (("bash", "{"), ("bash", "[" * 50_000), ("nope", "{}"), ("bash",)):
        wrong = run("tool", *words, cwd=tmp_path)
        assert (wrong.returncode, wrong.stdout) == (2, b""), words[0]
        assert b"Traceback" not in wrong.stderr


def test_a_mark_and_blanks_around_a_name_do_no_harm(tmp_path: Path, home: Path) -> None:
    lines = b'\xef\xbb\xbf{"id":1,"tool":" ls\\n","arguments":{}}\n'
    done = run("tool", "--jsonl", cwd=tmp_path, stdin=lines)
    assert not lines_of(done.stdout)[0]["isError"]


def test_the_users_settings_count(tmp_path: Path, home: Path) -> None:
    kept = home / ".sloyd"
    kept.mkdir()
    (kept / "config.toml").write_text(
        '[shell]\nprefix = "export SET=yes"\ntimeout = 0.3\n'
        '[tools]\nsearch_program = "/no/such/rg"\njournal_bytes = 0\n'
    )
    done = run("tool", "bash", '{"command":"echo $SET; sleep 30"}', cwd=tmp_path)
    assert done.stdout == b"yes\n\n\nCommand timed out after 0.3 seconds\n"
    searched = run("tool", "grep", '{"pattern":"x"}', cwd=tmp_path)
    assert b"/no/such/rg" in searched.stdout
    for text in ("one", "two"):
        run("tool", "write", json.dumps({"path": "f", "content": text}), cwd=tmp_path)
    assert b"no change to undo" in run("undo", cwd=tmp_path).stderr, "the journal keeps 0 bytes"
