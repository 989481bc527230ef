"""What a server refused of a request, learnt from its own words, so that the next try fits.

Servers that imitate an API refuse some of its optional parameters, and newer models refuse some
that older ones wanted. No table can know them all; the refusal names the parameter.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["Fixes"]

_OPTIONAL = (
    "stream_options",
    "prompt_cache_key",
    "reasoning_effort",
    "reasoning",
    "include",
    "temperature",
    "thinking",
    "output_config",
    "enable_thinking",
    "chat_template_kwargs",
    "store",
)
_REASONING = (
    "reasoning_effort",
    "reasoning",
    "thinking",
    "output_config",
    "enable_thinking",
    "chat_template_kwargs",
    "include",
)
"""What asks for reasoning. A server that cannot reason says so in words of its own."""
_CONFIG, _THINKING = "generationConfig", "thinkingConfig"
_MARK = "cache_control"
_TOGETHER = {
    "thinking": ("thinking", "output_config"),
    "output_config": ("thinking", "output_config"),
    "include": ("include", "reasoning"),
}
"""Parameters that mean nothing without each other."""
# Patterns are compiled when they are first needed, which in most runs is never.
_REFUSED = (
    r"(?i)unsupported|unrecogni[sz]ed|unknown|unexpected"
    r"|not (?:supported|permitted|allowed|accepted)"
    r"|extra (?:inputs|fields)|does(?: not|n't) support|forbidden|invalid|deprecated|only"
    r"|expected|not enabled|cannot be (?:used|set)"
)
_LIMIT = (
    r"(?is)max_(?:completion_|output_)?tokens\D{0,40}[\d,]+ ?> ?(?P<a>[\d,]+)"
    r"|at most (?P<b>[\d,]+) (?:completion|output) tokens"
    r"|max_(?:completion_|output_)?tokens.{0,80}(?:less than or equal to|at most|<=|maximum of)"
    r" ?`?(?P<c>[\d,]+)"
)
_LIMIT_FIELDS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


class Fixes:
    """Remembers for one model what to leave out, rename and lower."""

    def __init__(self) -> None:
        self._left_out: set[str] = set()
        self._renamed: dict[str, str] = {}
        self._limit: int | None = None

    def apply(self, body: dict[str, Any]) -> dict[str, Any]:
        """The body as the server will take it, in the same order."""
        if not self._left_out and not self._renamed and self._limit is None:
            return body
        made: dict[str, Any] = {}
        for key, value in body.items():
            if key in self._left_out:
                continue
            if key in _LIMIT_FIELDS and self._limit is not None:
                value = min(value, self._limit)
            if key == _CONFIG and _THINKING in self._left_out:
                value = {name: value[name] for name in value if name != _THINKING}
            if _MARK in self._left_out:
                value = _unmarked(value)
            made[self._renamed.get(key, key)] = value
        return made

    def learn(self, body: dict[str, Any], words: str) -> bool:
        """Look for a known refusal in the server's words; whether another try makes sense.

        ``body`` is what was refused, after `apply`.
        """
        limit = self._lower_limit(body, words)
        if limit is not None:
            self._limit = limit
            return True
        if not re.search(_REFUSED, words):
            return False
        for old, new in (
            ("max_tokens", "max_completion_tokens"),
            ("max_completion_tokens", "max_tokens"),
        ):
            if old in body and _mentions(words, old) and old not in self._renamed.values():
                self._renamed[old] = new
                return True
        for name in _OPTIONAL:
            if name in body and _mentions(words, name):
                self._left_out.update(_TOGETHER.get(name, (name,)))
                return True
        if _MARK in words and _MARK not in self._left_out:
            self._left_out.add(_MARK)
            return True
        return bool(re.search(r"(?i)thinking|reasoning", words)) and self._stop_reasoning(body)

    def _stop_reasoning(self, body: dict[str, Any]) -> bool:
        found = {name for name in _REASONING if name in body}
        if _THINKING in body.get(_CONFIG, {}):
            found.add(_THINKING)
        self._left_out |= found
        return bool(found)

    def _lower_limit(self, body: dict[str, Any], words: str) -> int | None:
        match = re.search(_LIMIT, words)
        asked = next((body[field] for field in _LIMIT_FIELDS if field in body), None)
        if match is None or asked is None:
            return None
        found = next(group for group in match.groups() if group)
        limit = int(found.replace(",", ""))
        return limit if 0 < limit < asked else None


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unmarked(item) for key, item in value.items() if key != _MARK}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def _mentions(words: str, name: str) -> bool:
    return re.search(rf"(?<![A-Za-z_]){name}(?![A-Za-z_])", words) is not None
