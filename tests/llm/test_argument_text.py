"""Arguments as models write them: one reading is taken, a cut text never completed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.llm.argument_text import parse_arguments

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
_OBJECTS = st.dictionaries(st.text(), _JSON, max_size=4)


@given(_OBJECTS)
def test_valid_objects_stay_what_they_are(value: dict[str, Any]) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert parse_arguments(text) == (value, None)
    assert parse_arguments(json.dumps(json.dumps(value))) == (value, None)


@given(st.dictionaries(st.text(), _JSON, min_size=1, max_size=4), st.data())
def test_a_cut_object_is_refused_at_every_place(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = data.draw(st.integers(1, len(text) - 1))
    arguments, problem = parse_arguments(text[:cut])
    assert arguments == {}
    assert problem is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        (" \n", {}),
        ("null", {}),
        ('{"a":"x\n\ty"}', {"a": "x\n\ty"}),
        (r'{"pattern":"\d+\s"}', {"pattern": r"\d+\s"}),
        (r'{"path":"C:\Users\q"}', {"path": r"C:\Users\q"}),
        (r'{"a":"\u12"}', {"a": r"\u12"}),
        ('{"a":[1,2,],"b":{"c":1,},}', {"a": [1, 2], "b": {"c": 1}}),
        ('{"a":",}"}', {"a": ",}"}),
        (r'{"a":"\ud83d\ude00"}', {"a": "\U0001f600"}),
        (r'{"a":"\ud83d x"}', {"a": "\ufffd x"}),
    ],
)
def test_what_has_one_reading_is_repaired(text: str, expected: dict[str, Any]) -> None:
    assert parse_arguments(text) == (expected, None)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"command":"rm -rf build/ca', "Unterminated string"),
        ('{"a":1}{"b":2}', "Extra data"),
        ('["a.txt"]', "an array"),
        ('"just text"', "not valid JSON"),
        ("12", "a number"),
        ("true", "a boolean"),
        ('{"a": NaN}', "NaN"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_what_has_none_is_refused_with_the_text(text: str, says: str) -> None:
    arguments, problem = parse_arguments(text)
    assert arguments == {}
    assert problem is not None
    assert says in problem
    assert f"Arguments as sent: {text[:100]}" in problem


def test_a_long_bad_text_is_not_repeated_whole() -> None:
    _, problem = parse_arguments('{"content":"' + "x" * 1_000_000)
    assert problem is not None
    assert len(problem) < 3000
