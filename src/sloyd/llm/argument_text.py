"""From the text that a model wrote as a call's arguments to an object, or to a clear refusal.

Repaired is only what has one reading: raw control characters inside strings, backslashes that
begin no escape, commas before a closing bracket, an object encoded twice. A text that was cut off
is never completed: half a command is another command.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

import msgspec

from sloyd.llm.surrogates import clean

__all__ = ["checked_arguments", "parse_arguments"]

_SHOWN_RAW = 2000
"""Characters of a bad text that its error repeats; enough to see the mistake."""

_DEEPEST = 100
"""Levels of objects and arrays; real arguments have a handful."""
_TOO_DEEP = f"The arguments are nested more than {_DEEPEST} levels deep."

# Patterns are compiled when they are first needed, which in most runs is never.
_STRING = r'(?s)"(?:[^"\\]|\\.)*"'
_BAD_ESCAPE = r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)'
_TRAILING_COMMA = r",(?=\s*[}\]])"


def parse_arguments(text: str) -> tuple[dict[str, Any], str | None]:
    """The arguments, and None or the reason why they are empty.

    No text at all, ``null``, and either of them encoded once more, mean no arguments. The reason
    names what the JSON parser said and repeats the text, for the model to correct.
    """
    text = text.strip()
    if text in {"", "null"}:
        return {}, None
    try:
        value = _decode(text)
        if isinstance(value, str):
            value = _decode(value.strip()) if value.strip() not in {"", "null"} else {}
    except (ValueError, RecursionError) as error:
        return {}, _refusal(f"The arguments are not valid JSON: {error}.", text)
    if isinstance(value, dict):
        return (value, None) if _is_shallow(value) else ({}, _refusal(_TOO_DEEP, text))
    kind = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    found = kind.get(type(value), "a number")
    return {}, _refusal(f"The arguments must be a JSON object, not {found}.", text)


def checked_arguments(given: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Arguments that came as an object: they too may hold half characters, or be a trap."""
    return (clean(given), None) if _is_shallow(given) else ({}, _TOO_DEEP)


def _is_shallow(value: Any) -> bool:
    """Whether the nesting ends within bounds that everything behind can walk through."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            item
            for each in level
            for item in (each.values() if isinstance(each, dict) else each)
            if isinstance(item, (dict, list))
        ]
        if not level:
            return True
    return False


def _decode(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        pass
    # The standard parser, unlike the fast one, takes raw control characters and lone surrogates,
    # and its messages say where the text broke.
    try:
        return clean(json.loads(text, strict=False, parse_constant=_no_constant))
    except ValueError as error:
        repaired = _repair(text)
        if repaired == text:
            raise
        try:
            return clean(json.loads(repaired, strict=False, parse_constant=_no_constant))
        except ValueError:
            raise error from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _repair(text: str) -> str:
    """Double the backslashes that begin no escape; drop commas before a closing bracket."""
    pieces: list[str] = []
    position = 0
    for match in re.finditer(_STRING, text):
        pieces.append(re.sub(_TRAILING_COMMA, "", text[position : match.start()]))
        pieces.append(re.sub(_BAD_ESCAPE, _doubled, match.group()))
        position = match.end()
    # The gap behind a string may begin with the comma whose bracket it holds.
    pieces.append(re.sub(_TRAILING_COMMA, "", text[position:]))
    return "".join(pieces)


def _doubled(match: re.Match[str]) -> str:
    return match.group() if match.group(1) else "\\\\"


def _refusal(reason: str, text: str) -> str:
    shown = text if len(text) <= _SHOWN_RAW else f"{text[:_SHOWN_RAW]}... ({len(text)} characters)"
    return f"{reason} Arguments as sent: {shown}"
