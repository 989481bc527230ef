"""``sloyd tool --jsonl`` killed at random instants while it writes and edits files."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sloyd_process import SLOYD, run, wait_for

KILLS = 300 if os.environ.get("SLOYD_TEST_PROFILE") == "fuzz" else 8
CALLS = 60


def body_of(number: int) -> str:
    """A text of its own length for each number, up to 70 kB, so both below and above 64 KiB."""
    return f"{number:08d}.\n" * (1 + number * 7919 % 7_000)


def content_of(number: int) -> bytes:
    return f"number {number:08d}\n{body_of(number)}".encode()


def number_in(path: Path) -> int:
    """The number whose content the file has; fails for a torn one."""
    data = path.read_bytes()
    number = int(data[7:15])
    assert data == content_of(number)
    return number


def calls(rng: random.Random, numbers: dict[str, int]) -> Iterator[dict[str, object]]:
    """Calls that count up in a plain file and in one with two names, and make new files."""
    yield {"tool": "write", "arguments": {"path": "begun", "content": ""}}
    for each in range(CALLS):
        name = rng.choice(["plain", "linked", "other name", "new"])
        if name == "new":
            content = content_of(each).decode()
            yield {"tool": "write", "arguments": {"path": f"new/{each}/f", "content": content}}
            continue
        key = "plain" if name == "plain" else "linked"
        old, new = numbers[key], numbers[key] + 1
        numbers[key] = new
        if rng.random() < 0.5:
            content = content_of(new).decode()
            yield {"tool": "write", "arguments": {"path": name, "content": content}}
        else:
            edits = [
                {"oldText": f"number {old:08d}\n", "newText": f"number {new:08d}\n"},
                {"oldText": body_of(old), "newText": body_of(new)},
            ]
            yield {"tool": "edit", "arguments": {"path": name, "edits": edits}}


def kill_at_work(directory: Path, script: Path, seconds: float) -> None:
    begun = directory / "begun"
    begun.unlink(missing_ok=True)
    with script.open("rb") as source:
        process = subprocess.Popen(
            [SLOYD, "tool", "--jsonl"], cwd=directory, stdin=source, stdout=subprocess.DEVNULL
        )
    wait_for(begun.exists)
    time.sleep(seconds)
    process.kill()
    process.wait()


@pytest.mark.kills
@pytest.mark.timeout(3600)
def test_a_kill_at_any_instant_leaves_whole_files_and_a_true_journal(
    tmp_path: Path, home: Path
) -> None:
    rng = random.Random(1)
    directory, script = tmp_path / "d", tmp_path / "calls"
    directory.mkdir()
    newest = {"plain": 1, "linked": 1}
    for name in newest:
        (directory / name).write_bytes(content_of(1))
    (directory / "other name").hardlink_to(directory / "linked")
    kills = 0
    # On a busy machine many are killed before they have done anything.
    while kills < KILLS or (sum(newest.values()) < 3 * KILLS and kills < 10 * KILLS):
        kills += 1
        script.write_bytes(b"".join(json.dumps(c).encode() + b"\n" for c in calls(rng, {**newest})))
        kill_at_work(directory, script, rng.uniform(0, 0.1))
        # The next process clears up what the killed one left.
        assert run("tool", "read", '{"path":"plain"}', cwd=directory).returncode == 0
        for name, number in newest.items():
            newest[name] = number_in(directory / name)
            assert newest[name] >= number
        assert (directory / "linked").samefile(directory / "other name")
        for path in (directory / "new").glob("*/*"):
            assert number_in(path) >= 0, "nothing but whole files, no litter"
        shutil.rmtree(directory / "new", ignore_errors=True)
        assert {path.name for path in directory.iterdir()} == {*newest, "other name", "begun"}
    assert sum(newest.values()) > KILLS, "too little was done to be a test"
    run("tool", "write", json.dumps({"path": "plain", "content": "last"}), cwd=directory)
    assert run("undo", cwd=directory).returncode == 0
    for _ in range(6):
        # Refused where the change made a file that this test has removed.
        assert run("undo", cwd=directory).returncode in (0, 2)
        assert all(number_in(directory / name) <= number for name, number in newest.items())
