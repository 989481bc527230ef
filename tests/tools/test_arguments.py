"""What models send, mended or refused; never guessed, never turned into text."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.errors import ToolError
from sloyd.tools.arguments import validate
from sloyd.tools.schema import schema_of


class Edit(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    old_text: str
    new_text: str


class Parameters(msgspec.Struct, rename="camel"):
    path: str
    edits: Annotated[list[Edit], msgspec.Meta(min_length=1)]
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = None


class Even(msgspec.Struct):
    number: int

    def __post_init__(self) -> None:
        if self.number % 2:
            raise ValueError("must be even")


class Outer(msgspec.Struct):
    evens: list[Even]


EDIT = {"oldText": "a", "newText": "b"}


def one(schema: dict[str, Any], value: Any, *, required: bool = True) -> Any:
    """The value of a property ``x`` of this schema; `ToolError` when it is refused."""
    whole = {"type": "object", "properties": {"x": schema}, "required": ["x"] if required else []}
    return validate("t", whole, {"x": value}, None).get("x", "removed")


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("number", "42", 42),
        ("number", " 42 ", 42),
        ("number", "4.5", 4.5),
        ("number", "-4.5", -4.5),
        ("number", "1e3", 1000),
        ("number", "0x10", 16),
        ("number", 4.5, 4.5),
        ("integer", "10", 10),
        ("integer", 10.0, 10),
        ("integer", "10.0", 10),
        ("integer", 2**70, 2**70),
        ("boolean", "true", True),
        ("boolean", "True", True),
        ("boolean", "1", True),
        ("boolean", 1, True),
        ("boolean", "false", False),
        ("boolean", 0, False),
        ("boolean", False, False),
        ("string", "", ""),
        ("string", "42", "42"),
        ("null", None, None),
    ],
)
def test_harmless_slips_are_mended(kind: str, value: Any, expected: Any) -> None:
    got = one({"type": kind}, value)
    assert got == expected
    assert type(got) is type(expected)


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        ("number", "abc", 'expected number, got string "abc"'),
        ("number", "", 'expected number, got string ""'),
        ("number", "NaN", 'got string "NaN"'),
        ("number", "Infinity", "expected number"),
        ("number", float("nan"), "expected number"),
        ("number", "9" * 5000, "expected number, got string"),
        ("number", True, "expected number, got boolean"),
        ("number", None, "expected number, got null"),
        ("number", [5], "expected number, got array"),
        ("integer", 4.7, "expected integer, got 4.7"),
        ("integer", "4.5", "expected integer"),
        ("boolean", "yes", 'expected boolean, got string "yes"'),
        ("boolean", "", "expected boolean"),
        ("boolean", 2, "expected boolean, got 2"),
        ("boolean", 1.0, "expected boolean"),
        ("boolean", None, "expected boolean, got null"),
        ("string", None, "expected string, got null"),
        ("string", 5, "expected string, got number"),
        ("string", True, "expected string, got boolean"),
        ("string", {"a": 1}, "expected string, got object"),
        ("string", ["a"], "expected string, got array"),
        ("object", "src", "expected object, got string"),
        ("null", 0, "expected null"),
    ],
)
def test_guesses_are_refused(kind: str, value: Any, problem: str) -> None:
    with pytest.raises(ToolError) as caught:
        one({"type": kind}, value)
    assert f"  - x: {problem}" in str(caught.value) or problem in str(caught.value).splitlines()[1]


@pytest.mark.parametrize("kind", ["number", "integer", "string", "boolean", "array", "object"])
def test_null_leaves_an_optional_property_out(kind: str) -> None:
    assert one({"type": kind}, None, required=False) == "removed"


def test_null_stays_where_the_schema_allows_it() -> None:
    for schema in ({"anyOf": [{"type": "number"}, {"type": "null"}]}, {"type": ["number", "null"]}):
        assert one(schema, None) is None
        assert one(schema, None, required=False) is None
        assert one(schema, "5") == 5


STRINGS = {"type": "array", "items": {"type": "string"}}
OBJECTS = {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (STRINGS, "a", ["a"]),
        (STRINGS, '["a", "b"]', ["a", "b"]),
        (STRINGS, "[abc]", ["[abc]"]),
        (STRINGS, "[1]", ["[1]"]),
        (STRINGS, [], []),
        (OBJECTS, {"a": "1"}, [{"a": 1}]),
        (OBJECTS, '[{"a": 1}]', [{"a": 1}]),
        (OBJECTS, ['{"a": 1}'], [{"a": 1}]),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, '{"a": "1"}', {"a": 1}),
    ],
)
def test_lists_and_objects_in_other_clothes(schema: Any, value: Any, expected: Any) -> None:
    assert one(schema, value) == expected


@pytest.mark.parametrize("value", [None, 5, [None]])
def test_null_and_numbers_are_no_lists_of_text(value: Any) -> None:
    with pytest.raises(ToolError):
        one(STRINGS, value)


def test_every_problem_is_listed_with_its_path() -> None:
    raw = {"edits": [EDIT, {"oldText": None, "new_text": "b"}], "limit": 0}
    with pytest.raises(ToolError) as caught:
        validate("edit", schema_of(Parameters), raw, Parameters)
    assert caught.value.for_model == "\n".join(
        [
            'Validation failed for tool "edit":',
            "  - edits.1.oldText: expected string, got null",
            "  - edits.1.new_text: unknown field (known: oldText, newText)",
            "  - edits.1.newText: missing",
            "  - limit: expected >= 1, got 0",
            "  - path: missing",
            "",
            "Received arguments:",
            json.dumps(raw, indent=2),
        ]
    )


@pytest.mark.parametrize(
    ("raw", "name"), [([], "array"), ("src", "string"), (5, "number"), (True, "boolean")]
)
def test_what_is_no_object_is_refused(raw: Any, name: str) -> None:
    with pytest.raises(ToolError, match=f"root: expected object, got {name}"):
        validate("ls", {"type": "object", "properties": {}}, raw, None)


def test_null_means_no_arguments() -> None:
    assert (
        validate("ls", {"type": "object", "properties": {"path": {"type": "string"}}}, None, None)
        == {}
    )
    with pytest.raises(ToolError, match="path: missing"):
        validate("read", schema_of(Parameters), None, Parameters)


def test_text_that_is_no_json_is_called_that() -> None:
    with pytest.raises(ToolError) as caught:
        validate("edit", schema_of(Parameters), {"path": "f", "edits": "[{bad json"}, Parameters)
    assert "edits: expected array, got string that could not be parsed as JSON" in str(caught.value)


@pytest.mark.parametrize(
    ("schema", "good", "bad", "problem"),
    [
        ({"enum": ["a", 1, None]}, ["a", 1, None], ["b", True], 'expected one of ["a", 1, null]'),
        ({"const": "x"}, ["x"], ["y"], 'expected one of ["x"]'),
        ({"enum": [1, 2]}, ["1", 2.0], ["3"], "expected one of [1, 2]"),
        ({"type": "number", "minimum": 1, "maximum": 3}, [1, "3"], [0, 4], "expected"),
        ({"type": "number", "exclusiveMinimum": 1}, [1.5], [1], "expected > 1"),
        ({"type": "number", "exclusiveMaximum": 1}, [0], [1], "expected < 1"),
        ({"type": "number", "multipleOf": 0.1}, [0.3, 5], [0.25], "a multiple of 0.1"),
        ({"type": "string", "minLength": 3}, ["abc"], ["ab"], "expected at least 3 characters"),
        ({"type": "string", "maxLength": 1}, ["a"], ["ab"], "expected at most 1 character"),
        ({"type": "string", "pattern": "^a+$"}, ["aa"], ["b"], "matches ^a+$"),
        ({"type": "string", "pattern": "(?<bad"}, ["anything"], [], ""),
        ({"type": "array", "minItems": 1, "maxItems": 2}, [[1], [1, 2]], [[], [1, 2, 3]], "item"),
        ({"allOf": [{"type": "number"}, {"minimum": 2, "type": "number"}]}, ["2"], [1], ">= 2"),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, ["a", 5], [[]], "string or integer"),
        (
            {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
            [5, True],
            ["x"],
            "expected integer or boolean",
        ),
        ({"properties": {"a": {}}, "required": ["a"]}, [{"a": None}], [{}], "x.a: missing"),
        (
            {"type": "object", "additionalProperties": {"type": "number"}},
            [{"k": "1"}],
            [{"k": "a"}],
            "x.k",
        ),
        (
            {"$ref": "#/properties/x/$defs/n", "$defs": {"n": {"type": "integer"}}},
            [1],
            ["a"],
            "integer",
        ),
        (True, [1, None, {}], [], ""),
        ({}, [1, None, {}], [], ""),
        ({"type": "no such type"}, [1], [], ""),
    ],
)
def test_json_schema_of_others(schema: Any, good: list[Any], bad: list[Any], problem: str) -> None:
    for value in good:
        one(schema, value)
    for value in bad:
        with pytest.raises(ToolError) as caught:
            one(schema, value)
        assert problem in str(caught.value)


def test_the_telling_alternative_is_reported() -> None:
    schema = {
        "anyOf": [
            {"type": "string"},
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        ]
    }
    with pytest.raises(ToolError, match=r"x\.a: expected integer"):
        one(schema, {"a": "b"})


def test_extra_fields_pass_unless_forbidden() -> None:
    assert validate("t", {"type": "object"}, {"more": 1}, None) == {"more": 1}
    with pytest.raises(ToolError, match="unknown field"):
        validate("t", {"type": "object", "additionalProperties": False}, {"more": 1}, None)


def test_schemas_that_contain_themselves_are_followed() -> None:
    schema = {
        "type": "object",
        "properties": {"next": {"$ref": "#"}, "value": {"type": "integer"}},
        "required": ["value"],
    }
    assert validate("t", schema, {"value": 1, "next": {"value": "2"}}, None)["next"] == {"value": 2}
    with pytest.raises(ToolError, match=r"next\.next\.value: missing"):
        validate("t", schema, {"value": 1, "next": {"value": 2, "next": {}}}, None)
    deep: Any = {"value": 1}
    for _ in range(5_000):
        deep = {"value": 1, "next": deep}
    with pytest.raises(ToolError, match="nested too deeply"):
        validate("t", schema, deep, None)


def test_what_the_class_itself_refuses_is_a_problem_like_others() -> None:
    assert validate("t", schema_of(Outer), {"evens": [{"number": "2"}]}, Outer) == Outer([Even(2)])
    with pytest.raises(ToolError, match=r"evens\.1: must be even"):
        validate("t", schema_of(Outer), {"evens": [{"number": 2}, {"number": 3}]}, Outer)


def test_dataclasses_are_built() -> None:
    @dataclass
    class Options:
        name: str
        count: int = 1

    assert validate("t", schema_of(Options), {"name": "n", "count": "2"}, Options) == Options(
        "n", 2
    )


def test_long_arguments_are_not_repeated_in_full() -> None:
    with pytest.raises(ToolError) as caught:
        validate(
            "write", schema_of(Parameters), {"path": None, "content": "x" * 5_000_000}, Parameters
        )
    assert len(str(caught.value)) < 3_000
    assert "more characters" in str(caught.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
arguments = st.dictionaries(
    st.sampled_from(["path", "edits", "limit", "other"]),
    st.one_of(json_values, st.just([EDIT]), st.just("f.txt"), st.just("7")),
)


@given(st.one_of(json_values, arguments))
def test_any_json_is_built_or_refused_and_never_changed(raw: Any) -> None:
    before = copy.deepcopy(raw)
    refused: ToolError | None = None
    try:
        built = validate("edit", schema_of(Parameters), raw, Parameters)
    except ToolError as error:
        refused = error
    if refused is not None:
        assert refused.for_model.startswith('Validation failed for tool "edit":\n  - ')
    else:
        assert isinstance(built, Parameters)
        assert built.edits
        assert (
            validate("edit", schema_of(Parameters), msgspec.to_builtins(built), Parameters) == built
        )
    assert repr(raw) == repr(before)
