"""Fuzzy matching: which texts contain the letters of a query in order, and how well they fit.

The best fits are whole words and beginnings of words, then letters side by side, then the rest. In
paths the last part counts more than the directories.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from heapq import nlargest
from typing import Final, NamedTuple

__all__ = ["Lines", "Match", "match", "rank"]

_LETTER: Final = 16
_SIDE_BY_SIDE: Final = 12
_WORD_START: Final = 10
_FIRST_LETTER: Final = 8
_GAP: Final = 3
_LONG_GAP: Final = 12
_LAST_PART: Final = 24
_WHOLE: Final = 40
_SEPARATORS: Final = frozenset("/\\-_.: \t,;()[]{}'\"@#")
_MOST_SCORED: Final = 4_000


class Match(NamedTuple):
    """How well a text fits, the higher the better, and the places of the letters in it."""

    score: int
    places: tuple[int, ...]


def match(query: str, text: str, *, path: bool = False) -> Match | None:
    """How a text fits a query; None when it does not. Each word of the query must be found.

    Case does not matter, except that a query with capitals likes the same capitals. With ``path``
    the query is one word, and the part behind the last slash counts more.
    """
    words = [query] if path else query.split()
    total = 0
    places: set[int] = set()
    for word in words:
        found = _match_word(word, text, path=path)
        if found is None:
            return None
        total += found.score
        places.update(found.places)
    return Match(total, tuple(sorted(places)))


def rank(query: str, texts: Iterable[str], *, path: bool = False) -> list[tuple[int, Match]]:
    """The texts that fit as (index, match), the best first, else in their order."""
    found = [
        (index, result)
        for index, text in enumerate(texts)
        if (result := match(query, text, path=path)) is not None
    ]
    found.sort(key=lambda pair: -pair[1].score)
    return found


def _match_word(word: str, text: str, *, path: bool) -> Match | None:
    if not word:
        return Match(0, ())
    start = text.rfind("/", 0, len(text) - 1) + 1 if path else 0
    if path and "/" not in word:
        found = _best(word, text, start)
        if found is not None:
            return Match(found.score + _LAST_PART, found.places)
    return _best(word, text, 0)


def _best(word: str, text: str, start: int) -> Match | None:
    lower, wanted = _lowered(text), _lowered(word)
    whole = _whole_word(wanted, lower, text, start)
    places = tuple(range(whole, whole + len(word))) if whole is not None else None
    if places is None:
        places = _scattered(wanted, lower, start)
    if places is None:
        return None
    score = _score(places, text, start)
    if whole is not None and len(word) == len(text.rstrip("/")) - start:
        score += _WHOLE
    if word != wanted:
        score += sum(text[place] == letter for place, letter in zip(places, word, strict=True))
    return Match(score, places)


def _lowered(text: str) -> str:
    """The text in lower case, letter by letter: some letters become two in `str.lower`."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(letter.lower()[:1] for letter in text)


def _whole_word(wanted: str, lower: str, text: str, start: int) -> int | None:
    """Where the query stands as it is, at the start of a word if possible."""
    first = found = lower.find(wanted, start)
    while found >= 0:
        if _starts_word(text, found):
            return found
        found = lower.find(wanted, found + 1)
    return first if first >= 0 else None


def _scattered(wanted: str, lower: str, start: int) -> tuple[int, ...] | None:
    """The letters in order: the first place where they end, and from there back, the shortest."""
    place = start - 1
    for letter in wanted:
        place = lower.find(letter, place + 1)
        if place < 0:
            return None
    places = []
    place += 1
    for letter in reversed(wanted):
        place = lower.rfind(letter, start, place)
        places.append(place)
    places.reverse()
    return tuple(places)


def _score(places: Sequence[int], text: str, start: int) -> int:
    score = 0
    before = -1
    for place in places:
        score += _LETTER
        if _starts_word(text, place):
            score += _WORD_START + (_FIRST_LETTER if place == start else 0)
        if before >= 0:
            gap = place - before - 1
            score += _SIDE_BY_SIDE if gap == 0 else -min(gap * _GAP, _LONG_GAP)
        before = place
    return score - min((len(text) - start) // 8, _LETTER)


def _starts_word(text: str, place: int) -> bool:
    if place == 0:
        return True
    before = text[place - 1]
    return before in _SEPARATORS or (before.islower() and text[place].isupper())


class Lines:
    """Many texts without line breaks, prepared so that 100,000 of them are searched at once."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self._joined = "\n".join(texts)
        lower = self._joined.lower()
        self._lower = lower if len(lower) == len(self._joined) else _lowered(self._joined)

    def best(self, query: str, count: int) -> list[tuple[str, Match]]:
        """The best paths for a query, at most so many, the best first."""
        if not query:
            return [(text, Match(0, ())) for text in self.texts[:count]]
        candidates = self._containing(_lowered(query))
        if len(candidates) > _MOST_SCORED:
            # With so many the query is a letter or two, and short paths are what it means.
            candidates.sort(key=len)
            del candidates[_MOST_SCORED:]
        scored = []
        for order, text in enumerate(candidates):
            found = match(query, text, path=True)
            if found is not None:
                scored.append((found.score, -len(text), -order, text, found))
        return [(text, found) for *_, text, found in nlargest(count, scored, key=lambda s: s[:3])]

    def _containing(self, wanted: str) -> list[str]:
        """The texts that have all letters in order, found by one pass of the regex engine."""
        # Possessive and without overlap, so that each character is looked at once.
        steps = (f"[^{re.escape(letter)}\n]*+{re.escape(letter)}" for letter in wanted)
        pattern = re.compile("^" + "".join(steps) + "[^\n]*", re.MULTILINE)
        joined = self._joined
        return [joined[slice(*found.span())] for found in pattern.finditer(self._lower)]
