"""Truncation: the table of pi's behaviour, and the invariants against a naive oracle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.text.truncate import (
    MAX_BYTES,
    MAX_LINES,
    Truncation,
    byte_length,
    count_lines,
    format_size,
    last_bytes,
    truncate_head,
    truncate_line,
    truncate_tail,
)

TEXTS = st.text(st.sampled_from("ab\n\n\r\u2028é€😀"), max_size=60)
LIMITS = st.integers(min_value=0, max_value=30)


def naive_lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def naive_keep(lines: list[str], max_lines: int, max_bytes: int) -> int:
    """How many lines of the list fit, from its start."""
    kept = 0
    while kept < min(len(lines), max_lines):
        if len("\n".join(lines[: kept + 1]).encode()) > max_bytes:
            break
        kept += 1
    return kept


@pytest.mark.parametrize(
    ("text", "max_lines", "max_bytes", "head", "tail", "by"),
    [
        ("", 2000, 100, "", "", None),
        ("a\n", 2000, 100, "a\n", "a\n", None),
        ("a\nb\nc", 2, 100, "a\nb", "b\nc", "lines"),
        ("a\nb\nc\n", 3, 100, "a\nb\nc\n", "a\nb\nc\n", None),
        ("aaaa\nbbbb\ncccc", 2000, 9, "aaaa\nbbbb", "bbbb\ncccc", "bytes"),
        ("aaaa\nbbbb", 2000, 3, "", "bbb", "bytes"),
        ("éé\nab", 2000, 4, "éé", "ab", "bytes"),
        ("a\nb", 0, 100, "", "", "lines"),
        ("x\r\ny\rz\n", 1, 100, "x\r", "y\rz", "lines"),
    ],
)
def test_table(
    text: str, max_lines: int, max_bytes: int, head: str, tail: str, by: str | None
) -> None:
    first, last = (
        truncate_head(text, max_lines, max_bytes),
        truncate_tail(text, max_lines, max_bytes),
    )
    assert (first.content, first.truncated_by) == (head, by)
    assert (last.content, last.truncated_by) == (tail, by)
    assert first.truncated is last.truncated is (by is not None)


def test_a_first_or_last_line_over_the_limit_is_told() -> None:
    assert truncate_head("aaaa\nbbbb", 9, 3).first_line_exceeds_limit
    assert truncate_tail("aaaa\nbbbb\n", 9, 3).last_line_partial
    assert not truncate_tail("aaaa\nbbbb\n", 9, 4).last_line_partial


def test_a_partial_last_line_never_splits_a_character() -> None:
    cut = truncate_tail("x" * 9 + "😀€", 5, 6)
    assert (cut.content, cut.output_bytes, cut.output_lines) == ("€", 3, 1)


def test_default_limits_are_two_thousand_lines_and_fifty_kilobytes() -> None:
    text = "".join(f"{n}\n" for n in range(1, 3001))
    assert truncate_tail(text).content.split("\n")[0] == "1001"
    assert truncate_head(text).content.endswith("\n2000")
    wide = ("x" * 203 + "\n") * 1000
    assert truncate_head(wide).output_lines == 51_200 // 204
    assert truncate_head(wide).truncated_by == "bytes"
    assert truncate_head("x" * 51_200).truncated is False


@given(TEXTS, LIMITS, LIMITS)
def test_head_and_tail_keep_what_the_oracle_keeps(text: str, lines: int, size: int) -> None:
    whole = naive_lines(text)
    head, tail = truncate_head(text, lines, size), truncate_tail(text, lines, size)
    if len(whole) <= lines and len(text.encode()) <= size:
        assert head.content == tail.content == text
        return
    assert head.content == "\n".join(whole[: naive_keep(whole, lines, size)])
    kept = naive_keep(whole[::-1], lines, size)
    if tail.last_line_partial:
        assert kept == 0
        assert whole[-1].endswith(tail.content)
        assert len(tail.content.encode()) > size - 4
    else:
        assert tail.content == "\n".join(whole[len(whole) - kept :])


@given(TEXTS, LIMITS, LIMITS)
def test_limits_hold_and_numbers_are_those_of_the_content(text: str, lines: int, size: int) -> None:
    def check(result: Truncation) -> None:
        assert result.output_bytes == len(result.content.encode()) <= size
        assert result.output_lines <= lines
        assert result.total_lines == len(naive_lines(text)) == count_lines(text)
        assert result.total_bytes == len(text.encode()) == byte_length(text)
        assert result.truncated == (result.content != text)
        if result.truncated and result.content and not result.last_line_partial:
            assert result.output_lines == result.content.count("\n") + 1

    check(truncate_head(text, lines, size))
    check(truncate_tail(text, lines, size))


@given(st.text(max_size=40), st.integers(min_value=0, max_value=50))
def test_last_bytes_is_the_longest_end_that_fits(text: str, limit: int) -> None:
    end = last_bytes(text, limit)
    assert text.endswith(end)
    assert len(end.encode()) <= limit
    if end != text:
        assert len(text[len(text) - len(end) - 1 :].encode()) > limit


def test_lone_surrogates_are_counted_not_refused() -> None:
    assert truncate_tail("\ud800" * 5, 10, 7).content == "\ud800" * 2


def test_a_line_is_cut_between_characters() -> None:
    assert truncate_line("ab😀cd", 3) == ("ab... [truncated]", True)
    assert truncate_line("ab😀cd", 4) == ("ab😀... [truncated]", True)
    assert truncate_line("ab😀cd", 6) == ("ab😀cd", False)
    assert truncate_line("é" * 500) == ("é" * 500, False)
    assert truncate_line("é" * 501) == ("é" * 500 + "... [truncated]", True)
    assert truncate_line("abc", 3) == ("abc", False)


@pytest.mark.parametrize(
    ("size", "shown"),
    [(0, "0B"), (1023, "1023B"), (1024, "1.0KB"), (51_200, "50.0KB"), (1_048_576, "1.0MB")],
)
def test_sizes(size: int, shown: str) -> None:
    assert format_size(size) == shown


def test_limits_are_those_the_model_is_told() -> None:
    assert truncate_tail("\n" * (MAX_LINES + 1)).output_lines == MAX_LINES
    assert truncate_tail("x" * (MAX_BYTES + 1)).output_bytes == MAX_BYTES
