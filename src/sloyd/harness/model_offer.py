"""Which models can be chosen now, and which one comes next when a person cycles through them."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from sloyd.harness.model_tables import ModelTables
from sloyd.llm.models import ModelInfo

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = ["next_model", "offered_models"]


def offered_models(agent: CodingAgent) -> list[ModelInfo]:
    """The known models of the providers that there is a key for."""
    tables = agent.resources.models or ModelTables()
    providers = [
        provider
        for provider in tables.providers.values()
        if tables.has_key(provider, agent.variables)
    ]
    return [
        tables.info(tables.providers[each.provider], each.id)
        for each in tables.candidates(providers)
    ]


def next_model(agent: CodingAgent, step: int = 1) -> str | None:
    """The name of the model after the present one, as `CodingAgent.set_model` takes it.

    Goes round the favourites of the settings, or all offered models when there are none. None when
    there is no other.
    """
    names = _names(agent)
    info = agent.model.info
    present = f"{info.provider}/{info.id}"
    others = [name for name in names if name != present]
    if not others:
        return None
    if present not in names:
        return names[0] if step > 0 else names[-1]
    return names[(names.index(present) + step) % len(names)]


def _names(agent: CodingAgent) -> list[str]:
    """Each name once; a favourite that is no pattern counts although no list knows it."""
    offered = [f"{info.provider}/{info.id}" for info in offered_models(agent)]
    favourites = agent.settings.model.favourites
    names: list[str] = []
    for pattern in favourites:
        fitting = [
            name
            for name in offered
            if fnmatchcase(name, pattern) or fnmatchcase(name.partition("/")[2], pattern)
        ]
        names += fitting or ([] if "*" in pattern else [pattern])
    return list(dict.fromkeys(names if favourites else offered))
