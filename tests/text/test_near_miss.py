"""What a model is told about a text that is not there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.text.near_miss import MAX_EXPLANATION, explain_miss

FILE = """def foo(a):
\tif a:
\t\treturn 1
\treturn bar(a)

class Zed:
    x = 1
    p = "a\\nb"
"""


@pytest.mark.parametrize(
    ("old", "parts"),
    [
        ("    if a:\n        return 1\n", ["lines 2-3", "indentation", "1 tab", "4 spaces"]),
        ("def FOO(a):", ["line 1", "upper and lower case"]),
        ("return  bar(a)", ["line 4", "spacing"]),
        ("def foo(b):\n\tif b:", ["lines 1-2", "line 1 differs", "`def foo(a):`"]),
        ("x = 1\\n    p", ["line 7", "escaped"]),
        ('p = "a\nb"', ["line 8", "two characters"]),
        ("1\tdef foo(a):\n2\t\tif a:", ["line 1", "line numbers"]),
        ("-def foo(a):\n-\tif a:", ["line 1", "diff signs"]),
        ("class Zeb:\n    x = 1", ["lines 6-7", "line 6 differs", "`class Zed:`"]),
        ("nothing like this at all", ["No place resembles it"]),
    ],
)
def test_names_the_place_and_the_difference(old: str, parts: list[str]) -> None:
    explanation = explain_miss(FILE.encode(), old, "something else")
    assert [part for part in parts if part not in explanation] == []


def test_an_applied_edit_is_recognised() -> None:
    explanation = explain_miss(b"a\nvalue = 2\n", "value = 1", "value = 2")
    assert "already, at line 2" in explanation


def test_part_of_a_word_is_no_applied_edit() -> None:
    assert "already" not in explain_miss(b"values = 2\n", "total = 1", "value")


def test_a_missing_final_newline_is_named() -> None:
    assert "ends without a line break" in explain_miss(b"a\nb", "b\n", "c\n")


def test_an_empty_file_is_named() -> None:
    assert "empty" in explain_miss(b"", "a", "b")


def test_undecodable_bytes_are_named() -> None:
    explanation = explain_miss(b"name = caf\xe9\n", "name = caf\u00e9", "name = tea")
    assert "not UTF-8" in explanation
    assert "⟨E9⟩" in explanation


def test_a_huge_file_is_searched_by_its_lines() -> None:
    text = b"one two three\n" * 200_000 + b"  the special line\n\tnext\n"
    explanation = explain_miss(text, "the special line\n  next", "x")
    assert "line 200002 differs in indentation" in explanation


@given(st.text(max_size=2000), st.text(min_size=1, max_size=2000), st.text(max_size=300))
def test_explanations_are_short(text: str, old: str, new: str) -> None:
    data = text.replace("\r", "").encode()
    assert len(explain_miss(data, old, new).encode("utf-8", "replace")) <= MAX_EXPLANATION
