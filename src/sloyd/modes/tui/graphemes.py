"""Grapheme clusters: what a person sees, moves over and deletes as one character.

The rules are those of Unicode's annex 29, decided with `unicodedata` alone: Python has no table of
the cluster properties. Left out are the conjuncts of Indic scripts (rule GB9c).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

__all__ = ["clusters", "next_boundary", "previous_boundary"]

_ZERO_WIDTH_JOINER: Final = "\u200d"
_EXTENDING: Final = frozenset({"\u200c", _ZERO_WIDTH_JOINER, "\uff9e", "\uff9f"})
_LOOK_BACK: Final = 64
"""Characters looked at to find the cluster before a place; longer clusters are no real text."""


def clusters(text: str) -> Iterator[tuple[int, int]]:
    """The clusters of a text as (start, end), without gaps."""
    start = 0
    while start < len(text):
        end = next_boundary(text, start)
        yield start, end
        start = end


def next_boundary(text: str, start: int) -> int:
    """Where the cluster that begins at ``start`` ends; the text's end when there is none."""
    if start >= len(text):
        return len(text)
    end = start + 1
    kind = _kind(text[start])
    joins_picture = kind == "picture"
    flags = 1 if kind == "flag" else 0
    while end < len(text):
        following = _kind(text[end])
        if following == "extend" and kind != "control":
            joins = joins_picture and text[end] == _ZERO_WIDTH_JOINER
            end += 2 if joins and _kind(text[end + 1 : end + 2]) == "picture" else 1
            kind = "extend"
        elif kind == "flag" and following == "flag" and flags == 1:
            flags = 2
            end += 1
        elif _composes(kind, following):
            kind = following
            end += 1
        else:
            break
    return end


def previous_boundary(text: str, end: int) -> int:
    """Where the cluster that ends at ``end`` begins; 0 when there is none."""
    if end <= 1:
        return 0
    if text[end - 1].isascii() and text[end - 1] != "\n" and text[end - 2].isascii():
        return end - 1
    start = text.rfind("\n", max(0, end - _LOOK_BACK), end - 1) + 1
    if start == 0:
        start = max(0, end - _LOOK_BACK)
    while True:
        following = next_boundary(text, start)
        if following >= end:
            return start
        start = following


@lru_cache(maxsize=4096)
def _kind(character: str) -> str:
    """What a character is to the rules: control, extend, flag, picture, l, v, t, lv, lvt, other."""
    if not character:
        return "control"
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return "other"
    category = unicodedata.category(character)
    if character in _EXTENDING or category in ("Mn", "Me", "Mc"):
        return "extend"
    if 0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F:
        return "extend"
    if category in ("Cc", "Cf", "Zl", "Zp", "Cs"):
        return "control"
    if 0x1F1E6 <= code <= 0x1F1FF:
        return "flag"
    if category == "So" or 0x1F000 <= code <= 0x1FAFF or code in (0x203C, 0x2049, 0x2194):
        return "picture"
    return _syllable_part(code)


def _syllable_part(code: int) -> str:
    """The part of a Hangul syllable that a character is: leading, vowel, trailing, or composed."""
    if 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C:
        return "l"
    if 0x1160 <= code <= 0x11A7 or 0xD7B0 <= code <= 0xD7C6:
        return "v"
    if 0x11A8 <= code <= 0x11FF or 0xD7CB <= code <= 0xD7FB:
        return "t"
    if 0xAC00 <= code <= 0xD7A3:
        return "lv" if (code - 0xAC00) % 28 == 0 else "lvt"
    return "other"


_COMPOSING: Final = {
    "l": frozenset({"l", "v", "lv", "lvt"}),
    "lv": frozenset({"v", "t"}),
    "v": frozenset({"v", "t"}),
    "lvt": frozenset({"t"}),
    "t": frozenset({"t"}),
}


def _composes(kind: str, following: str) -> bool:
    return following in _COMPOSING.get(kind, ())
