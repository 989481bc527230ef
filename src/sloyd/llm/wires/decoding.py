"""JSON out of what servers send, in any spelling, and back into text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from sloyd.errors import ProviderError
from sloyd.llm.surrogates import clean

__all__ = ["KEEP_ALIVE", "count", "json_text", "lines_in", "objects_in", "text_at"]

KEEP_ALIVE = frozenset({"ping", "keepalive", "keep-alive", "keep_alive", "heartbeat"})
"""Names of events that only show that the server lives."""
_MOST_TOKENS = 10**12


def objects_in(text: str) -> list[dict[str, Any]] | ProviderError:
    """The JSON objects of one event, which is one as a rule."""
    data = _decode(text)
    if isinstance(data, ProviderError):
        # A server that ends its events with one line break has them all run together.
        return (lines_in(text) if "\n" in text else []) or data
    return [data] if isinstance(data, dict) else data


def lines_in(text: str) -> list[dict[str, Any]]:
    """The objects of a text that holds one in each line, or nothing if it is another text."""
    found: list[dict[str, Any]] = []
    for line in text.split("\n"):
        if line.strip() in {"", "[DONE]"}:
            continue
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return []
        if not isinstance(value, dict):
            return []
        found.append(value)
    return found


def _decode(text: str) -> dict[str, Any] | list[dict[str, Any]] | ProviderError:
    """The JSON object of one event (some servers send a list), or the error that it is none.

    A line that cannot be read fails the answer: skipping it would leave a hole in the text.
    """
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        import json

        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            shown = text.strip()
            shown = shown if len(shown) <= 200 else f"{shown[:200]}..."
            return ProviderError(
                f"The provider sent a line that is not JSON: {shown}",
                problem="broken-stream",
                retryable=True,
            )
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return value
    # Imported late: its patterns cost milliseconds, and most runs never fail.
    from sloyd.llm.failures import failure_of

    return failure_of(None, value)


def count(usage: Mapping[str, Any], *keys: str) -> int:
    """The first count of tokens under these keys that is more than zero, in whatever spelling."""
    for key in keys:
        value = usage.get(key)
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                continue
        if isinstance(value, (int, float)) and 0 < value <= _MOST_TOKENS:
            return int(value)
    return 0


def text_at(data: Mapping[str, Any], key: str) -> str:
    """The string under a key; empty where nothing or something else is."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def json_text(value: Any) -> str:
    """A JSON value as compact text without lone surrogates."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return msgspec.json.encode(clean(value)).decode()
