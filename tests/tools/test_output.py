"""The accumulator: what it shows equals the whole, truncated; its log holds the raw bytes."""

from __future__ import annotations

import os
import resource
import stat
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sloyd.text.terminal import plain_text
from sloyd.text.truncate import truncate_tail
from sloyd.tools.output import OutputAccumulator, OutputSnapshot
from sloyd.workspace.output_log import KEPT_DAYS, OutputLog, output_directory

PIECES = st.sampled_from(
    [
        b"a",
        b"\n",
        b"\r",
        b"\r\n",
        b"line of text\n",
        b"x" * 50,
        "é😀".encode(),
        b"\xf0\x9f",
        b"\x98\x80",
        b"\xff",
        b"\x1b[31m",
        b"\x1b[2K",
        b"\x1b]0;t",
        b"\x07",
        b"\0",
    ]
)
OUTPUTS = st.lists(st.lists(PIECES, max_size=8).map(b"".join), max_size=30)


def no_log() -> OutputLog:
    raise OSError(28, "No space left on device")


def accumulate(chunks: list[bytes], lines: int, size: int) -> OutputAccumulator:
    output = OutputAccumulator(no_log, max_lines=lines, max_bytes=size)
    for chunk in chunks:
        output.feed(chunk)
    return output


def shown_by_oracle(data: bytes, lines: int, size: int) -> str:
    """Truncate the whole; then the end of a line that is over the limit, if it is next."""
    text = plain_text(data.decode("utf-8", "replace"))
    cut = truncate_tail(text, lines, size)
    body = text.removesuffix("\n")
    room = size - cut.output_bytes - 1
    if cut.truncated_by != "bytes" or cut.last_line_partial or room <= 0:
        return cut.content
    if cut.output_lines in (lines, cut.total_lines):
        return cut.content
    before = body[: len(body) - len(cut.content) - 1].rpartition("\n")[2]
    if len(before.encode()) <= size:
        return cut.content
    end = before.encode()[-room:].decode("utf-8", "ignore")
    return f"{end}\n{cut.content}" if end else cut.content


@given(OUTPUTS, st.integers(1, 12), st.integers(1, 80))
@example([b"x" * 100 + b"\n", b"y\n"], 5, 80)
@example([b"first\n", b"x" * 100, b"x" * 100 + b"\nlast\n"], 5, 80)
def test_shows_the_whole_truncated_for_any_chunks(
    chunks: list[bytes], lines: int, size: int
) -> None:
    output = accumulate(chunks, lines, size)
    finished = output.finish()
    data = b"".join(chunks)
    text = plain_text(data.decode("utf-8", "replace"))
    expected = truncate_tail(text, lines, size)
    assert finished.text == shown_by_oracle(data, lines, size)
    assert finished.truncation.total_lines == expected.total_lines
    assert finished.truncation.total_bytes == len(data)
    assert finished.truncation.truncated == expected.truncated
    assert finished.truncation.output_bytes == len(finished.text.encode()) <= size
    assert finished.truncation.output_lines <= lines


@given(OUTPUTS, st.integers(1, 12), st.integers(1, 80))
def test_looking_on_the_way_changes_nothing(chunks: list[bytes], lines: int, size: int) -> None:
    watched = OutputAccumulator(no_log, max_lines=lines, max_bytes=size)
    for chunk in chunks:
        watched.feed(chunk)
        seen = watched.snapshot()
        assert seen.truncation.output_bytes <= size
    unwatched = accumulate([b"".join(chunks)], lines, size)
    assert watched.finish() == unwatched.finish()


@given(
    st.lists(
        st.sampled_from(
            [b"short\n" * 3000, b"y" * 300_000, b"\r" * 9000, b"\x1b[1m" * 90_000, b"z\n", b"\n"]
        ),
        max_size=6,
    )
)
@settings(max_examples=20)
def test_floods_show_the_same_as_small_portions(chunks: list[bytes]) -> None:
    size, lines = 2000, 100
    flood = accumulate(chunks, lines, size).finish()
    assert flood.text == shown_by_oracle(b"".join(chunks), lines, size)
    data = b"".join(chunks)
    portions = [data[start : start + 70_000] for start in range(0, len(data), 70_000)]
    slow = OutputAccumulator(no_log, max_lines=lines, max_bytes=size)
    for portion in portions:
        slow.feed(portion)
        slow.snapshot()
    assert slow.finish() == flood


def test_a_character_is_shown_once_it_is_whole() -> None:
    output = OutputAccumulator(no_log)
    seen = []
    for byte in "é😀".encode():
        output.feed(bytes([byte]))
        seen.append(output.snapshot().text)
    assert seen == ["", "é", "é", "é", "é", "é😀"]
    output.feed(b"\xe4\xb8")
    assert output.finish().text == "é😀\ufffd"


def notice(data: bytes, directory: Path) -> tuple[str, OutputSnapshot]:
    output = OutputAccumulator(lambda: OutputLog(str(directory), prefix="t", limit=10**9))
    output.feed(data)
    finished = output.finish()
    return finished.notice().replace(finished.log_path or "<none>", "LOG"), finished


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"1\n" * 2000, ""),
        (b"1\n" * 2001, "[Showing lines 2-2001 of 2001. Full output: LOG]"),
        (b"x" * 51_200 + b"\n", ""),
        (
            b"x" * 200_000,
            "[Showing last 50.0KB of line 1 (line is 195.3KB). Full output: LOG]",
        ),
        (
            b"x" * 60_000 + b"\n",
            "[Showing last 50.0KB of line 1 (line is 58.6KB). Full output: LOG]",
        ),
        (
            b"first\n" + b"x" * 60_000 + b"\nlast\n",
            (
                "[Showing last 50.0KB of line 2 (line is 58.6KB) and lines 3-3 of 3 "
                "(50.0KB limit). Full output: LOG]"
            ),
        ),
        (
            (b"y" * 99 + b"\n") * 600,
            "[Showing lines 89-600 of 600 (50.0KB limit). Full output: LOG]",
        ),
        (b"".join(b"\r%d%%" % n for n in range(30_000)), ""),
    ],
)
def test_the_notice_measures_lines_rightly(data: bytes, words: str, tmp_path: Path) -> None:
    said, finished = notice(data, tmp_path)
    assert said == words
    if finished.log_path is not None:
        assert Path(finished.log_path).read_bytes() == data
    # A log that holds no more than the result does is not left lying about.
    assert len(list(tmp_path.iterdir())) == (1 if words else 0)


def test_without_a_log_the_notice_says_why() -> None:
    output = accumulate([b"1\n" * 3000], 2000, 51_200)
    assert "could not be kept: No space left on device" in output.finish().notice()


def test_the_log_is_private_and_never_follows_a_link(tmp_path: Path) -> None:
    log = OutputLog(str(tmp_path), prefix="sloyd-bash", limit=1000)
    log.write(b"secret")
    log.close()
    assert stat.S_IMODE(Path(log.path).stat().st_mode) == 0o600
    assert Path(log.path).read_bytes() == b"secret"


@given(chunks=st.lists(st.binary(max_size=60), max_size=12), limit=st.integers(100, 400))
def test_a_bounded_log_keeps_head_and_tail(
    chunks: list[bytes], limit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = OutputLog(str(tmp_path_factory.getbasetemp()), prefix="t", limit=limit)
    for chunk in chunks:
        log.write(chunk)
    log.close()
    data, kept = b"".join(chunks), Path(log.path).read_bytes()
    log.remove()
    head, tail = limit - limit // 4 - 80, limit // 4
    if len(data) <= max(head, 0) + tail:
        assert kept == data
    else:
        missing = len(data) - max(head, 0) - tail
        note = b"\n[... %d bytes omitted: the log is limited ...]\n" % missing
        assert kept == data[: max(head, 0)] + note + data[len(data) - tail :]
        assert len(kept) <= max(limit, tail + 80)


def test_a_log_that_cannot_grow_says_so_and_output_goes_on(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        said, finished = notice(b"1\n" * 3000, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert said.endswith("Full output: LOG (not complete: File too large)]")
    assert finished.truncation.total_lines == 3000


def test_old_logs_are_removed_and_nothing_else(tmp_path: Path) -> None:
    old, young, foreign = (
        tmp_path / "sloyd-bash-1.log",
        tmp_path / "sloyd-bash-2.log",
        tmp_path / "mine.log",
    )
    for path in (old, young, foreign):
        path.write_text("x")
    past = time.time() - (KEPT_DAYS + 1) * 24 * 3600
    os.utime(old, (past, past))
    os.utime(foreign, (past, past))
    OutputLog(str(tmp_path), prefix="sloyd-bash", limit=100).remove()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.log", "sloyd-bash-2.log"]


def test_the_directory_is_ours_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first = output_directory()
    assert Path(first).parent == tmp_path
    assert stat.S_IMODE(Path(first).stat().st_mode) == 0o700
    Path(first).chmod(0o755)
    assert output_directory() == first
    assert stat.S_IMODE(Path(first).stat().st_mode) == 0o700
    Path(first).rmdir()
    (tmp_path / "elsewhere").mkdir()
    Path(first).symlink_to(tmp_path / "elsewhere")
    second = output_directory()
    assert second != first
    assert stat.S_IMODE(Path(second).stat().st_mode) == 0o700
    assert output_directory(str(tmp_path / "own" / "logs")) == str(tmp_path / "own" / "logs")
