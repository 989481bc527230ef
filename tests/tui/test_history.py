"""History and drafts on real files, by several processes."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

from sloyd.modes.tui.draft import Draft
from sloyd.modes.tui.history import Browser, History

WRITER = """
import sys
from pathlib import Path
from sloyd.modes.tui.history import History
history = History(Path(sys.argv[1]), most=int(sys.argv[3]))
for number in range(100):
    history.add(f"{sys.argv[2]} {number}")
"""
DRAFTER = """
import sys, time
from pathlib import Path
from sloyd.modes.tui.draft import Draft
draft = Draft(Path(sys.argv[1]), "/project")
left = draft.take()
draft.save(sys.argv[2])
print(left, flush=True)
time.sleep(60)
"""


def test_is_private_and_in_order_without_repetition(tmp_path: Path) -> None:
    path = tmp_path / "home" / "history.jsonl"
    history = History(path)
    for text in ("one", "two\nlines", "one", "  "):
        history.add(text)
    assert History(path).texts() == ["two\nlines", "one"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert History(path).search("LINES") == ["two\nlines"]


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, "1000"])
        for name in ("a", "b")
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    texts = History(path).texts()
    assert sorted(texts) == sorted(f"{name} {n}" for name in "ab" for n in range(100))


def test_the_file_stays_small_while_two_write(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, "10"]) for name in "ab"
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert len(path.read_bytes().splitlines()) <= 21
    assert len(History(path, most=10).texts()) == 10
    assert {"a 99", "b 99"} & set(History(path, most=10).texts())


def test_a_torn_line_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text('{"text":"one"}\n{"text":"tw')
    History(path).add("three")
    assert History(path).texts() == ["one", "three"]


def test_a_history_that_cannot_be_written_still_works(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = History(tmp_path / "file" / "history.jsonl")
    history.add("one")
    assert history.texts() == ["one"]


def test_leafing_gives_back_what_was_being_written(tmp_path: Path) -> None:
    history = History(tmp_path / "history.jsonl")
    history.add("one")
    history.add("two")
    browser = Browser(history)
    assert browser.older("draft") == "two"
    assert browser.older("two") == "one"
    assert browser.older("one") is None
    assert browser.newer() == "two"
    assert browser.newer() == "draft"
    assert browser.newer() is None
    assert not browser.is_active


def test_a_draft_outlives_the_kill_of_its_process(tmp_path: Path) -> None:
    first = _drafter(tmp_path, "half a thought")
    assert first.stdout is not None
    assert first.stdout.readline() == "\n"
    draft = Draft(tmp_path, "/project")
    assert draft.take() == ""  # its owner lives
    draft.close()
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    second = _drafter(tmp_path, "short")
    assert second.stdout is not None
    assert second.stdout.readline() == "half a thought\n"
    second.kill()
    second.communicate()
    assert Draft(tmp_path, "/elsewhere").take() == ""
    assert Draft(tmp_path, "/project").take() == "short"


def test_a_sent_draft_leaves_no_file(tmp_path: Path) -> None:
    draft = Draft(tmp_path, "/project")
    draft.take()
    draft.save("text é\n")
    (file,) = (tmp_path / "drafts").iterdir()
    assert file.read_text("utf-8").startswith("text é\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    draft.save("")
    draft.close()
    assert list((tmp_path / "drafts").iterdir()) == []


def _drafter(home: Path, text: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", DRAFTER, str(home), text], stdout=subprocess.PIPE, text=True
    )
