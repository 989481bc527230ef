"""The schemas that models read: plain, complete, without references."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec

from sloyd.tools.schema import plain_schema, schema_of


class Edit(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """One replacement."""

    old_text: Annotated[str, msgspec.Meta(description="what is there")]
    new_text: str


class Parameters(msgspec.Struct, rename="camel", kw_only=True):
    """Not for the model."""

    path: Annotated[str, msgspec.Meta(description="the file")]
    edits: Annotated[list[Edit], msgspec.Meta(description="all of them", min_length=1)]
    title: str | None = None
    limit: Annotated[int, msgspec.Meta(description="lines", ge=1)] | None = None
    mode: Literal["a", "b"] = "a"
    either: int | str | None = None
    needed: int | None


class Tree(msgspec.Struct):
    """Contains itself."""

    value: int
    branches: list[Tree] = []


def test_schema_says_everything_and_nothing_else() -> None:
    assert schema_of(Parameters) == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "the file"},
            "edits": {
                "type": "array",
                "description": "all of them",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "description": "One replacement.",
                    "properties": {
                        "oldText": {"type": "string", "description": "what is there"},
                        "newText": {"type": "string"},
                    },
                    "required": ["oldText", "newText"],
                    "additionalProperties": False,
                },
            },
            "title": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "description": "lines"},
            "mode": {"type": "string", "enum": ["a", "b"], "default": "a"},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "needed": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["path", "edits", "needed"],
    }


def test_a_class_that_contains_itself_keeps_its_definition() -> None:
    schema = schema_of(Tree)
    items = schema["properties"]["branches"]["items"]
    assert items == {"$ref": "#/$defs/Tree"}
    assert schema["$defs"]["Tree"]["properties"]["value"] == {"type": "integer"}


def test_dataclasses_are_described_too() -> None:
    @dataclass
    class Options:
        name: str
        tags: list[str] = field(default_factory=list)

    assert schema_of(Options)["properties"]["tags"]["items"] == {"type": "string"}
    assert schema_of(Options)["required"] == ["name"]


def test_a_property_may_be_called_title() -> None:
    raw: dict[str, Any] = {
        "title": "Parameters",
        "type": "object",
        "properties": {"title": {"title": "Title", "type": "string"}, "x": {"$ref": "#/$defs/X"}},
        "$defs": {
            "X": {"title": "X", "type": "array", "items": {"$ref": "#/$defs/Y"}},
            "Y": {"type": "null"},
        },
    }
    before = json.dumps(raw)
    assert plain_schema(raw) == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "x": {"type": "array", "items": {"type": "null"}},
        },
    }
    assert json.dumps(raw) == before
