"""Occurrences: exact ones counted with overlaps, tolerant ones mapped to whole characters."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.text.folding import fold, fold_line
from sloyd.text.match import MAX_PLACES, find_exact, find_tolerant

TRICKY = (
    "aA '\"-\u2019\u201c\u2013\u00a0\u3000\ufb01\u00bd\uff21\u2026e\u0301\u00e9\u1100\u1161 \t\n\n"
)


def tolerant(text: str, needle: str) -> list[str]:
    data = text.encode("utf-8", "surrogateescape")
    found = find_tolerant(data, needle).places
    return [data[place.start : place.end].decode("utf-8", "surrogateescape") for place in found]


@given(st.text("ab", max_size=30), st.text("ab", min_size=1, max_size=4))
def test_exact_places_are_all_places(text: str, needle: str) -> None:
    expected = [found.start() for found in re.finditer(f"(?={re.escape(needle)})", text)]
    found = find_exact(text.encode(), needle.encode())
    assert [place.start for place in found.places] == expected
    assert found.count == len(expected)


def test_counts_go_on_beyond_the_places_that_are_listed() -> None:
    found = find_exact(b"ab" * 5000, b"ab")
    assert len(found.places) == MAX_PLACES
    assert (found.count, found.more) == (5000, False)
    assert find_exact(b"a" * 5000, b"aa").more


@pytest.mark.parametrize(
    ("text", "needle"),
    [
        # In é (C3 A9) neither half is a place of its own.
        (b"caf\xc3\xa9", b"\xa9"),
        (b"caf\xc3\xa9", b"f\xc3"),
        (b"\xf0\x9f\x98\x80", b"\x98"),
    ],
)
def test_a_byte_never_matches_inside_a_character(text: bytes, needle: bytes) -> None:
    assert find_exact(text, needle).count == 0


def test_an_undecodable_byte_matches_where_it_stands_alone() -> None:
    assert [place.start for place in find_exact(b"\xc3\xa9 \xe9 \xa9", b"\xa9").places] == [5]


@pytest.mark.parametrize(
    ("text", "needle", "matches"),
    [
        ("say “hi” now", 'say "hi"', ["say “hi”"]),
        ("foo’s bar", "foo's", ["foo’s"]),
        ("a – b — c", "a - b - c", ["a – b — c"]),
        ("x\u00a0=\u202f1", "x = 1", ["x\u00a0=\u202f1"]),
        ("\uff21\uff22\uff23", "ABC", ["\uff21\uff22\uff23"]),
        ("wait…", "wait...", ["wait…"]),
        ("\ufb01x", "fix", ["\ufb01x"]),
        ("cafe\u0301 = 1", "caf\u00e9 =", ["cafe\u0301 ="]),
        ("foo   \nbar\t\nbaz", "foo\nbar", ["foo   \nbar"]),
        ("foo\nbar\n", "foo  \nbar", ["foo\nbar"]),
        # The blanks at the end of the needle stand for the end of a line.
        ("x = 1 + 2\n", "x = 1   ", []),
        ("x = 1 \n", "x = 1   ", ["x = 1 "]),
        # Half an expanded character is no place.
        ("\ufb01x", "ix", []),
        # Never loosened: indentation, inner spacing, case, invisible characters.
        ("\tfoo", "    foo", []),
        ("a  b", "a b", []),
        ("Foo", "foo", []),
        ("a\u200bb", "ab", []),
        ("foo", "  \n ", []),
    ],
)
def test_tolerance(text: str, needle: str, matches: list[str]) -> None:
    assert tolerant(text, needle) == matches


@given(st.text(TRICKY, max_size=25), st.text(TRICKY, min_size=1, max_size=5))
def test_what_matches_tolerantly_is_equal_when_folded(text: str, needle: str) -> None:
    for match in tolerant(text, needle):
        assert fold(match) == fold(needle)


@given(st.text(TRICKY, min_size=1, max_size=25), st.integers(0, 25), st.integers(0, 25))
def test_whole_characters_are_found_in_their_folded_form(text: str, first: int, last: int) -> None:
    line = max(text.split("\n"), key=len)
    places = fold_line(line).starts or range(len(line) + 1)
    start, end = sorted((places[first % len(places)], places[last % len(places)]))
    part = fold(line[start:end])
    if part.strip() and part == fold(part + "|")[:-1]:
        assert part in [fold(match) for match in tolerant(text, part)]


def test_places_do_not_depend_on_where_blocks_end() -> None:
    line = "x" * 99 + "\n"
    text = line * 10_480 + "say “one”  \nand “two”\n" + line * 12_000
    assert tolerant(text, 'say "one"\nand "two"') == ["say “one”  \nand “two”"]
    for shift in range(0, 40, 7):
        moved = "y" * shift + text
        assert len(tolerant(moved, 'one"\nand "two"\nx')) == 1
