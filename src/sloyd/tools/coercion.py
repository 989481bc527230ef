"""Values against a JSON Schema: checked, and mended where that needs no guess.

What is mended, following what models are seen to send:

=================  =============================================================================
schema             mended
=================  =============================================================================
number, integer    a numeric string (``"42"``, ``" 4.5 "``, ``"1e3"``, ``"0x10"``)
integer            a number without a fraction (``10.0``)
boolean            ``"true"``, ``"True"``, ``"1"``, 1 and the same for false
array              JSON text of an array; a single item
object             JSON text of an object
optional property  null, which removes it, unless the schema allows null
=================  =============================================================================
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

__all__ = ["Checker", "Path", "Problem"]

Path: TypeAlias = "tuple[str | int, ...]"
Problem: TypeAlias = "tuple[Path, str]"

_TRUE = ("true", "True", "TRUE", "1")
_FALSE = ("false", "False", "FALSE", "0")
_NUMBER = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?"
_HEX = r"0[xX][0-9a-fA-F]+"
_LONGEST_NUMBER = 400


class Checker:
    """Checks values against ``root`` and its parts."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._kinds: dict[str, Callable[[Mapping[str, Any], Any, Path, list[Problem]], Any]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "number": self._number,
            "integer": self._number,
            "boolean": self._boolean,
            "null": self._null,
        }

    def check(self, schema: Any, value: Any, path: Path, problems: list[Problem]) -> Any:
        """The mended value; what is wrong with it is added to ``problems``."""
        if schema is False:
            problems.append((path, "not allowed"))
            return value
        if not isinstance(schema, Mapping):
            return value
        schema = self._resolved(schema)
        if "enum" in schema or "const" in schema:
            return self._enum(schema, value, path, problems)
        for part in schema.get("allOf", ()):
            value = self.check(part, value, path, problems)
        choices = schema.get("anyOf") or schema.get("oneOf")
        kind = schema.get("type")
        if isinstance(kind, (list, tuple)):
            choices = [{**schema, "type": each} for each in kind]
        if choices:
            return self._any_of(choices, value, path, problems)
        if kind is None and "properties" in schema:
            kind = "object"
        checked = self._kinds.get(kind) if isinstance(kind, str) else None
        return value if checked is None else checked(schema, value, path, problems)

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        for _ in range(16):
            reference = schema.get("$ref")
            if not isinstance(reference, str) or not reference.startswith("#"):
                return schema
            target: Any = self._root
            for step in reference.lstrip("#/").split("/") if reference != "#" else ():
                key = step.replace("~1", "/").replace("~0", "~")
                target = target.get(key) if isinstance(target, Mapping) else None
            if not isinstance(target, Mapping):
                return {}
            schema = target
        return {}

    def _enum(
        self, schema: Mapping[str, Any], value: Any, path: Path, problems: list[Problem]
    ) -> Any:
        allowed = list(schema["enum"]) if "enum" in schema else [schema["const"]]
        for each in allowed:
            if each == value and isinstance(each, bool) == isinstance(value, bool):
                return each
        for each in allowed:
            kind = "boolean" if isinstance(each, bool) else "number"
            found: list[Problem] = []
            mended = self._kinds[kind]({}, value, path, found)
            if isinstance(each, (int, float)) and not found and mended == each:
                return each
        shown = json.dumps(allowed, ensure_ascii=False, default=str)
        problems.append((path, f"expected one of {shown}, got {_shown(value)}"))
        return value

    def _any_of(self, choices: Any, value: Any, path: Path, problems: list[Problem]) -> Any:
        choices = [self._resolved(each) if isinstance(each, Mapping) else each for each in choices]
        best: list[Problem] | None = None
        for mended in (False, True):
            for choice in choices:
                found: list[Problem] = []
                result = self.check(choice, value, path, found)
                if not found and (mended or _same_kind(choice, value)):
                    return result
                # Of several refusals the telling one is that of the alternative it resembles.
                if found and _same_kind(choice, value) and best is None:
                    best = found
        if best is None:
            kinds = " or ".join(dict.fromkeys(_kind_of(choice) for choice in choices))
            best = [(path, f"expected {kinds}, got {_name(value)}")]
        problems += best
        return value

    def _object(
        self, schema: Mapping[str, Any], value: Any, path: Path, problems: list[Problem]
    ) -> Any:
        note = ""
        if isinstance(value, str) and path:
            value, note = _from_json(value, dict)
        if not isinstance(value, Mapping):
            problems.append((path, f"expected object, got {_name(value)}{note}"))
            return value
        properties: Mapping[str, Any] = schema.get("properties") or {}
        required = schema.get("required") or ()
        others = schema.get("additionalProperties", True)
        out: dict[str, Any] = {}
        for key, each in value.items():
            if key in properties:
                if each is None and key not in required and not self._nullable(properties[key]):
                    continue
                out[key] = self.check(properties[key], each, (*path, key), problems)
            elif others is False:
                known = ", ".join(map(str, properties)) or "none"
                problems.append(((*path, key), f"unknown field (known: {known})"))
            else:
                out[key] = self.check(others, each, (*path, key), problems)
        problems += [((*path, key), "missing") for key in required if key not in value]
        return out

    def _nullable(self, schema: Any) -> bool:
        """Whether null is a value of its own here, and not a way to leave the property out."""
        found: list[Problem] = []
        self.check(schema, None, (), found)
        return not found

    def _array(
        self, schema: Mapping[str, Any], value: Any, path: Path, problems: list[Problem]
    ) -> Any:
        note = ""
        given = value
        if isinstance(value, str):
            value, note = _from_json(value, list)
        items = schema.get("items", True)
        if isinstance(value, (list, tuple)):
            found: list[Problem] = []
            out = [self.check(items, each, (*path, at), found) for at, each in enumerate(value)]
            if not found or not isinstance(given, str):
                problems += found
                _check_size(schema, out, path, problems)
                return out
        # One item where a list of them belongs: a list of one, if it is such an item.
        found = []
        item = self.check(items, given, path, found) if given is not None else None
        if given is None or found or items is True:
            problems.append((path, f"expected array, got {_name(given)}{note}"))
            return given
        out = [item]
        _check_size(schema, out, path, problems)
        return out

    def _string(
        self, schema: Mapping[str, Any], value: Any, path: Path, problems: list[Problem]
    ) -> Any:
        if not isinstance(value, str):
            problems.append((path, f"expected string, got {_name(value)}"))
            return value
        least, most = schema.get("minLength"), schema.get("maxLength")
        if least is not None and len(value) < least:
            problems.append((path, f"expected at least {_count(least, 'character')}"))
        if most is not None and len(value) > most:
            problems.append((path, f"expected at most {_count(most, 'character')}"))
        pattern = schema.get("pattern")
        if isinstance(pattern, str) and not _matches(pattern, value):
            problems.append((path, f"expected text that matches {pattern}"))
        return value

    def _number(
        self, schema: Mapping[str, Any], value: Any, path: Path, problems: list[Problem]
    ) -> Any:
        kind = schema.get("type", "number")
        number = _to_number(value)
        if number is None:
            problems.append((path, f"expected {kind}, got {_shown(value)}"))
            return value
        if kind == "integer" and isinstance(number, float):
            problems.append((path, f"expected integer, got {_shown(value)}"))
            return value
        for word, sign, holds in (
            ("minimum", ">=", number >= schema.get("minimum", number)),
            ("maximum", "<=", number <= schema.get("maximum", number)),
            ("exclusiveMinimum", ">", number > schema.get("exclusiveMinimum", -math.inf)),
            ("exclusiveMaximum", "<", number < schema.get("exclusiveMaximum", math.inf)),
        ):
            if not holds:
                problems.append((path, f"expected {sign} {schema[word]}, got {_shown(value)}"))
        step = schema.get("multipleOf")
        if step and not _near_whole(number / step):
            problems.append((path, f"expected a multiple of {step}"))
        return number

    def _boolean(
        self, schema: Mapping[str, Any], value: Any, path: Path, problems: list[Problem]
    ) -> Any:
        if isinstance(value, bool):
            return value
        # A float would compare equal to 1 or 0 as well, but no model means a truth by it.
        if isinstance(value, (str, int)):
            if str(value).strip() in _TRUE:
                return True
            if str(value).strip() in _FALSE:
                return False
        problems.append((path, f"expected boolean, got {_shown(value)}"))
        return value

    def _null(
        self, schema: Mapping[str, Any], value: Any, path: Path, problems: list[Problem]
    ) -> Any:
        if value is not None:
            problems.append((path, f"expected null, got {_name(value)}"))
        return value


def _check_size(
    schema: Mapping[str, Any], value: list[Any], path: Path, problems: list[Problem]
) -> None:
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        problems.append((path, f"expected at least {_count(least, 'item')}, got {len(value)}"))
    if most is not None and len(value) > most:
        problems.append((path, f"expected at most {_count(most, 'item')}, got {len(value)}"))


def _from_json(text: str, kind: type) -> tuple[Any, str]:
    """JSON text of a list or object as what it means, else the text; and why it did not work."""
    opening = "[" if kind is list else "{"
    if not text.lstrip().startswith(opening):
        return text, ""
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        return text, f" that could not be parsed as JSON ({error})"
    return (value, "") if isinstance(value, kind) else (text, "")


def _to_number(value: Any) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = value.strip()
        if len(text) > _LONGEST_NUMBER:
            return None
        if re.fullmatch(_HEX, text):
            return int(text, 16)
        if re.fullmatch(r"[+-]?\d+", text):
            return int(text)
        if not re.fullmatch(_NUMBER, text):
            return None
        value = float(text)
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() else value
    return value if isinstance(value, int) else None


def _near_whole(quotient: float) -> bool:
    """Decimal fractions are seldom exact in binary."""
    return math.isclose(quotient, round(quotient), rel_tol=1e-9)


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.search(pattern, value) is not None
    except re.error:
        return True  # written for another dialect; the tool will say what it cannot use


def _kind_of(schema: Any) -> str:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return kind if isinstance(kind, str) else "another value"


def _same_kind(schema: Any, value: Any) -> bool:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return kind is None or kind == _name(value) or (kind == "integer" and _name(value) == "number")


def _name(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, (list, tuple)) else "object"


def _shown(value: Any) -> str:
    """The kind of a value, and the value itself where it is short."""
    if isinstance(value, str):
        return f"string {json.dumps(value, ensure_ascii=False)}" if len(value) <= 40 else "string"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value) if not abs(value) >= 1e15 or math.isinf(value) else "number"
    return _name(value)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
