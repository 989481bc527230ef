"""Where words begin and end, for motions and deletions; scripts without spaces included.

A word is a run of one kind: letters and digits, punctuation, or one of the scripts that are written
without spaces (Han, Hiragana, Katakana, Thai), where each run counts, since a dictionary would be
needed to do better. An atom (see `sloyd.modes.tui.editing`) is a word by itself.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

from sloyd.modes.tui.graphemes import next_boundary, previous_boundary

__all__ = ["is_atom", "next_word_end", "previous_word_start"]

_FIRST_ATOM: Final = 0xD800
_LAST_ATOM: Final = 0xDBFF


def is_atom(character: str) -> bool:
    """Whether a character stands for something that is not text: a folded paste or an image."""
    return _FIRST_ATOM <= ord(character) <= _LAST_ATOM


def previous_word_start(text: str, position: int) -> int:
    """The start of the word before a place: blanks are passed over first."""
    while position > 0 and _class(text, before := previous_boundary(text, position)) == "blank":
        position = before
    if position == 0:
        return 0
    kind = _class(text, previous_boundary(text, position))
    while position > 0:
        before = previous_boundary(text, position)
        if _class(text, before) != kind:
            break
        position = before
        if kind == "atom":
            break
    return position


def next_word_end(text: str, position: int) -> int:
    """The end of the word behind a place: blanks are passed over first."""
    while position < len(text) and _class(text, position) == "blank":
        position = next_boundary(text, position)
    if position >= len(text):
        return len(text)
    kind = _class(text, position)
    while position < len(text) and _class(text, position) == kind:
        position = next_boundary(text, position)
        if kind == "atom":
            break
    return position


def _class(text: str, position: int) -> str:
    return _kind(text[position])


@lru_cache(maxsize=4096)
def _kind(character: str) -> str:
    if is_atom(character):
        return "atom"
    if character.isspace():
        return "blank"
    code = ord(character)
    if 0x3040 <= code <= 0x309F:
        return "hiragana"
    if 0x30A0 <= code <= 0x30FF or 0x31F0 <= code <= 0x31FF or 0xFF66 <= code <= 0xFF9F:
        return "katakana"
    if 0x0E00 <= code <= 0x0E7F:
        return "thai"
    if unicodedata.name(character, "").startswith(("CJK UNIFIED", "CJK COMPATIBILITY IDEO")):
        return "han"
    if character == "々":
        return "han"
    category = unicodedata.category(character)
    if character == "_" or category[0] in "LNM":
        return "word"
    return "punctuation"
