"""The check that stands between what a model sent and what a tool receives.

Harmless slips are mended (``"20"`` for a number, one string for a list of strings, JSON text where
a list or an object belongs); anything that would need a guess is refused, with every problem and
its path in one text, so that the model can correct all of them at once. Nothing is ever turned
into text: null, numbers and objects in place of a string are errors.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from sloyd.agent.tool import JsonSchema
from sloyd.errors import ToolError
from sloyd.tools.coercion import Checker, Problem

__all__ = ["opened", "received", "validate", "validation_error"]

_MAX_NESTING = 4
_STRING_SHOWN = 1_000
_TEXT_SHOWN = 10_000


def validate(tool_name: str, schema: JsonSchema, raw: object, target: type | None) -> Any:
    """Turn raw arguments into what the tool takes.

    Args:
        tool_name: for the error text.
        schema: JSON Schema of an object; keywords that we do not know are ignored.
        raw: the arguments as they came; None means no arguments. It is not changed.
        target: a `msgspec.Struct` or dataclass to build, or None for a plain dict.

    Raises:
        ToolError: when something cannot be mended; lists every problem with its dotted path.
    """
    checker = Checker(schema)
    problems: list[Problem] = []
    try:
        value = checker.check(schema, {} if raw is None else raw, (), problems)
    except RecursionError:
        problems.append(((), "nested too deeply"))
    if problems:
        raise validation_error(tool_name, raw, problems)
    if target is None:
        return value
    try:
        return msgspec.convert(value, target)
    except msgspec.ValidationError as error:
        raise validation_error(tool_name, raw, [_split(str(error))]) from None


def opened(value: object, *kinds: type, empty: object = None) -> object:
    """The value of one of these kinds inside JSON text, however often it was encoded.

    Anything else is returned as it is; ``empty``, if given, takes the place of a blank text.
    """
    inner = value
    for _ in range(_MAX_NESTING):
        if not isinstance(inner, str):
            break
        if empty is not None and not inner.strip():
            return empty
        try:
            # Not strict: models forget to escape line breaks and tabs inside the strings.
            inner = json.loads(inner, strict=False)
        except (ValueError, RecursionError):
            return value
    return inner if isinstance(inner, kinds) else value


def validation_error(tool_name: str, raw: object, problems: list[Problem]) -> ToolError:
    """The error that lists ``problems``, each a path of keys and indexes and a text."""
    lines = [f'Validation failed for tool "{tool_name}":']
    for path, text in problems:
        lines.append(f"  - {'.'.join(map(str, path)) or 'root'}: {text}")
    lines += ["", "Received arguments:", received(raw)]
    return ToolError("\n".join(lines))


def received(raw: object) -> str:
    """Raw arguments as JSON to show to the model that wrote them; very long parts are cut."""
    try:
        text = json.dumps(_shortened(raw), indent=2, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):
        return "(cannot be shown)"
    return _cut(text, _TEXT_SHOWN)


def _shortened(value: object) -> object:
    if isinstance(value, str):
        return _cut(value, _STRING_SHOWN)
    if isinstance(value, dict):
        return {key: _shortened(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shortened(each) for each in value]
    return value


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}... [{len(text) - limit} more characters]"


def _split(message: str) -> Problem:
    """Take msgspec's ``Expected ... - at `$.a[0]` `` apart."""
    text, found, place = message.rpartition(" - at `")
    if not found:
        return (), message
    keys = place.rstrip("`").removeprefix("$").replace("[", ".").replace("]", "")
    return tuple(key for key in keys.split(".") if key), text
