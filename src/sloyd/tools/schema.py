"""From a parameter class to the JSON Schema that a model reads.

msgspec derives the schema; this module makes it plain: every reference replaced by what it points
to, no titles, no ``null`` alternative where leaving the field out says the same. Providers differ
in what they accept of JSON Schema, and all of them accept this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from sloyd.agent.tool import JsonSchema

__all__ = ["plain_schema", "schema_of"]

_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLES = ("items", "additionalProperties", "not")
_MAPS = ("properties", "patternProperties")


_derived: WeakKeyDictionary[type, JsonSchema] = WeakKeyDictionary()


def schema_of(struct: type) -> JsonSchema:
    """The JSON Schema of a `msgspec.Struct` or dataclass, as an object without references.

    The class's own docstring is left out: the tool's description is what the model reads. A class
    that contains itself keeps its ``$defs``, for there is no other way to write it down. Callers
    must not change the result; it is shared.
    """
    known = _derived.get(struct)
    if known is not None:
        return known
    schema = plain_schema(msgspec.json.schema(struct))
    schema.pop("description", None)
    _derived[struct] = schema
    return schema


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema with local references inlined, and without titles and needless nulls."""
    definitions: Mapping[str, Any] = schema.get("$defs") or schema.get("definitions") or {}
    inliner = _Inliner(definitions)
    body = {key: value for key, value in schema.items() if key not in ("$defs", "definitions")}
    plain = inliner.plain(body, ())
    if inliner.recursive:
        kept: dict[str, Any] = {}
        while missing := sorted(inliner.recursive - kept.keys()):
            for name in missing:
                kept[name] = inliner.plain(definitions[name], (name,))
        plain["$defs"] = kept
    return plain


class _Inliner:
    """Replaces references, and remembers which of them cannot be replaced."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self.definitions = definitions
        self.recursive: set[str] = set()

    def plain(self, schema: Mapping[str, Any], within: tuple[str, ...]) -> dict[str, Any]:
        reference = schema.get("$ref")
        if isinstance(reference, str):
            name = reference.rpartition("/")[2]
            if name in within:
                self.recursive.add(name)
                return {"$ref": f"#/$defs/{name}"}
            if name in self.definitions:
                beside = {key: value for key, value in schema.items() if key != "$ref"}
                return self.plain({**self.definitions[name], **beside}, (*within, name))
        out: dict[str, Any] = {}
        for key, value in schema.items():
            if key == "title" and isinstance(value, str):
                continue
            out[key] = self._part(key, value, within)
        names = out.get("enum")
        if names and "type" not in out and all(isinstance(name, str) for name in names):
            out["type"] = "string"  # implied, but Google's API wants it said
        self._drop_needless_nulls(out)
        return out

    def _part(self, key: str, value: Any, within: tuple[str, ...]) -> Any:
        if key in _SINGLES and isinstance(value, Mapping):
            return self.plain(value, within)
        if key in _LISTS and isinstance(value, (list, tuple)):
            return [self.plain(each, within) for each in value]
        if key in _MAPS and isinstance(value, Mapping):
            return {name: self.plain(each, within) for name, each in value.items()}
        return value

    def _drop_needless_nulls(self, schema: dict[str, Any]) -> None:
        """``T | None = None`` is, for a model, an optional ``T``."""
        required = schema.get("required", ())
        for name, field in schema.get("properties", {}).items():
            if name in required or field.get("default", 0) is not None:
                continue
            del field["default"]
            choices = [each for each in field.get("anyOf", ()) if each.get("type") != "null"]
            if len(choices) == 1:
                del field["anyOf"]
                for key, value in choices[0].items():
                    field.setdefault(key, value)
            elif choices:
                field["anyOf"] = choices
