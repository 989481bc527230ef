"""The LF view, against a walk over single units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.text.newlines import LineEnding, line_number, line_view

SOURCES = st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"a", b"\xc3\xa9"])).map(b"".join)


def units(source: bytes) -> list[bytes]:
    """The source in single bytes, but each CRLF whole."""
    found: list[bytes] = []
    position = 0
    while position < len(source):
        width = 2 if source[position : position + 2] == b"\r\n" else 1
        found.append(source[position : position + width])
        position += width
    return found


@pytest.mark.parametrize(
    ("source", "ending"),
    [
        (b"", "none"),
        (b"a", "none"),
        (b"a\nb", "lf"),
        (b"a\r\nb\r\n", "crlf"),
        (b"a\r\nb\n", "mixed"),
        (b"50%\r100%\nnext\n", "lf"),
        (b"a\rb\r", "cr"),
        (b"a\r\nb\rc\r\n", "crlf"),
    ],
)
def test_names_the_line_ending(source: bytes, ending: LineEnding) -> None:
    assert line_view(source).ending == ending


@given(SOURCES)
def test_offsets_map_back(source: bytes) -> None:
    view = line_view(source)
    if view.ending == "cr":
        assert view.text == source.replace(b"\r", b"\n")
        assert all(view.original(offset) == offset for offset in range(len(source) + 1))
        return
    parts = units(source)
    assert view.text == b"".join(b"\n" if part == b"\r\n" else part for part in parts)
    starts = [sum(map(len, parts[:count])) for count in range(len(parts) + 1)]
    assert [view.original(offset) for offset in range(len(view.text) + 1)] == starts


@given(SOURCES, st.integers(0, 20), st.integers(0, 20))
def test_knows_the_line_ends_of_any_part(source: bytes, first: int, second: int) -> None:
    view = line_view(source)
    start, end = sorted((min(first, len(view.text)), min(second, len(view.text))))
    if view.ending == "cr":
        assert view.breaks(start, end) == [b"\r"] * view.text.count(b"\n", start, end)
        return
    parts = units(source)[start:end]
    assert view.breaks(start, end) == [part for part in parts if part in (b"\n", b"\r\n")]


def test_a_new_line_follows_its_own_line_then_the_one_before() -> None:
    view = line_view(b"a\r\nb\nc")
    assert view.break_near(0) == b"\r\n"
    assert view.break_near(2) == b"\n"
    assert view.break_near(5) == b"\n"
    assert line_view(b"a").break_near(0) is None


def test_line_numbers_begin_at_one() -> None:
    assert [line_number(b"a\nb\n", offset) for offset in range(5)] == [1, 1, 2, 2, 3]
