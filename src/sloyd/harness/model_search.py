"""Models by an inexact name: the newest of the one family that fits, or a question.

A name is taken apart into words and a version: ``claude-sonnet-4-5-20250929`` is the family
``claude sonnet``, version 4.5, of a date. A model fits when each word that was asked for begins
one of its words, and its version is the one asked for, if one was. A provider's default model is
meant by the beginning of its name (``gpt``, ``claude``). Else, of the fitting families the one with
the fewest further words counts; of its models the newest, at the provider that stands first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Candidate", "fitting", "search_models"]

_PARTS = re.compile(r"[a-z]+|\d+")
_NOISE = frozenset({"latest", "preview"})
_FIRST_DATE = 1000
"""Numbers from here on are dates or builds, not versions."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model that may be meant.

    Attributes:
        place: its provider's place in the order of preference.
        is_default: whether it is what its provider is asked for when no model is named.
    """

    provider: str
    id: str
    name: str = ""
    place: int = 0
    is_default: bool = False

    @property
    def reference(self) -> str:
        """``provider/id``, which always means this one."""
        return f"{self.provider}/{self.id}"


@dataclass(frozen=True, slots=True)
class _Parts:
    words: tuple[str, ...]
    version: tuple[int, ...]
    dates: tuple[int, ...]
    noise: bool

    @classmethod
    def of(cls, text: str) -> _Parts:
        parts = _PARTS.findall(text.lower())
        words = [part for part in parts if not part.isdigit()]
        numbers = [int(part) for part in parts if part.isdigit()]
        return cls(
            tuple(word for word in words if word not in _NOISE),
            tuple(number for number in numbers if number < _FIRST_DATE),
            tuple(number for number in numbers if number >= _FIRST_DATE),
            any(word in _NOISE for word in words),
        )


def fitting(
    query: str, candidates: Iterable[Candidate], *, within: bool = False
) -> list[Candidate]:
    """What the query may mean: one model if that is clear, else the newest of each best family.

    ``within`` says that the provider is known already, so that its name is no word to look for.
    """
    wanted = _Parts.of(query)
    scored = []
    for candidate in candidates:
        own = _Parts.of(candidate.id.rpartition("/")[2])
        cost = _cost(wanted, own, candidate, within=within)
        if cost is not None:
            scored.append((cost, own, candidate))
    if not scored:
        return []
    defaults = [
        candidate
        for _, own, candidate in scored
        if candidate.is_default and own.words[:1] == wanted.words[:1]
    ]
    if defaults:
        return [min(defaults, key=lambda candidate: candidate.place)]
    least = min(cost for cost, _, _ in scored)
    families: dict[tuple[str, ...], list[tuple[_Parts, Candidate]]] = {}
    for cost, own, candidate in scored:
        if cost == least:
            families.setdefault(own.words, []).append((own, candidate))
    return [_newest(models) for models in families.values()]


def _cost(
    wanted: _Parts, own: _Parts, candidate: Candidate, *, within: bool
) -> tuple[int, int] | None:
    """How far a candidate is from what is wanted: words only begun, then further words."""
    if wanted.version and wanted.version != own.version:
        return None
    if wanted.dates and wanted.dates != own.dates:
        return None
    if not wanted.words and not wanted.version:
        return None
    place = "" if within else candidate.provider
    around = set(_PARTS.findall(f"{place} {candidate.id} {candidate.name}".lower()))
    begun = 0
    for word in wanted.words:
        if word not in around:
            if not any(other.startswith(word) for other in around):
                return None
            begun += 1
    further = sum(
        not any(word.startswith(asked) for asked in wanted.words) for word in set(own.words)
    )
    return begun, further


def _newest(models: Sequence[tuple[_Parts, Candidate]]) -> Candidate:
    first = min(candidate.place for _, candidate in models)
    nearest = [(own, candidate) for own, candidate in models if candidate.place == first]
    _, newest = max(nearest, key=lambda pair: _age(pair[0]))
    return newest


def _age(own: _Parts) -> tuple[object, ...]:
    """Sorts the newest last; of one version the name that moves with it, not a dated one."""
    return own.version, not own.noise, not own.dates, own.dates


def search_models(query: str, candidates: Iterable[Candidate]) -> list[Candidate]:
    """All models whose provider, id or name hold each word of the query, in their order."""
    words = query.lower().split()
    return [
        candidate
        for candidate in candidates
        if all(word in f"{candidate.reference} {candidate.name}".lower() for word in words)
    ]
