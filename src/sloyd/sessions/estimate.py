"""How many tokens messages take, guessed from their text and corrected by what a provider counted.

The guess knows scripts: a character of Chinese or Japanese is most of a token, four letters of
English are one, and marks, of which code is full, are about half of one each. The weights are round
figures for the tokenizers of the large vendors; they err towards too many. As soon as an answer
carries its usage, that number counts, and the guess is only for what came after it, scaled by how
far it was off.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sloyd.llm.messages import (
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    Usage,
)
from sloyd.sessions.context import ContextItem

__all__ = ["context_tokens", "estimate_message", "estimate_text", "usage_tokens"]

_IMAGE_TOKENS = 1_200
"""For an image of any size: what pi counts, and about what a screen-sized one costs."""
_MESSAGE_TOKENS = 4
_FACTOR_RANGE = (0.7, 2.0)
_FACTOR_FROM = 2_000
"""Tokens from which on the comparison with a real count says something about the guess."""

_MARKS = bytes(c for c in range(0x21, 0x7F) if not chr(c).isalnum())
_DIGITS = b"0123456789"
_FOLLOWING = bytes(range(0x80, 0xC0))
_TWO = bytes(range(0xC0, 0xE0))
_THREE = bytes(range(0xE0, 0xF0))
_FOUR = bytes(range(0xF0, 0x100))


def estimate_text(text: str) -> int:
    """Tokens of a text; 0 for an empty one. Costs about a nanosecond a byte."""
    data = text.encode("utf-8", "surrogatepass")
    tokens = 0.0
    rest = data
    weights = ((_MARKS, 0.5), (_DIGITS, 0.4), (_TWO, 0.45), (_THREE, 0.8), (_FOUR, 1.5))
    for kind, weight in weights:
        left = rest.translate(None, kind)
        tokens += (len(rest) - len(left)) * weight
        rest = left
    if len(rest) != len(data):
        rest = rest.translate(None, _FOLLOWING)
    tokens += len(rest) * 0.25
    return -int(-tokens // 1)


def estimate_message(message: Message) -> int:
    """Tokens of one message."""
    tokens = _MESSAGE_TOKENS
    if isinstance(message, AssistantMessage):
        for block in message.content:
            if isinstance(block, Text):
                tokens += estimate_text(block.text)
            elif isinstance(block, Thinking):
                tokens += estimate_text(block.thinking)
            else:
                tokens += estimate_text(block.name) + estimate_text(_json(block.arguments)) + 8
        return tokens
    content = message.content
    if isinstance(content, str):
        return tokens + estimate_text(content)
    for part in content:
        tokens += _IMAGE_TOKENS if isinstance(part, Image) else estimate_text(part.text)
    return tokens


def usage_tokens(usage: Usage) -> int:
    """All tokens that the context held after an answer; 0 when the provider told nothing."""
    parts = usage.input + usage.output + usage.cache_read + usage.cache_write
    return max(usage.total_tokens, parts)


def context_tokens(items: Sequence[ContextItem], overhead: int = 0) -> int:
    """Tokens that the context takes now.

    ``overhead`` is the estimate for what every request carries beside the messages: system prompt
    and tool schemas. It counts only as long as no answer tells the real number.
    """
    guesses = [estimate_message(item.message) for item in items]
    for place in range(len(items) - 1, -1, -1):
        message = items[place].message
        if not isinstance(message, AssistantMessage) or not items[place].measured:
            continue
        counted = usage_tokens(message.usage)
        if counted and message.stop_reason not in ("error", "aborted"):
            guessed = sum(guesses[: place + 1]) + overhead
            factor = 1.0
            if guessed >= _FACTOR_FROM:
                factor = min(max(counted / guessed, _FACTOR_RANGE[0]), _FACTOR_RANGE[1])
            return counted + int(sum(guesses[place + 1 :]) * factor)
    return sum(guesses) + overhead


def _json(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return str(value)
