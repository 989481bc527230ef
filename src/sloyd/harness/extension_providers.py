"""Providers of extensions beside those that Sloyd knows and the settings name."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from sloyd.errors import UsageError
from sloyd.harness.model_choice import ModelChoice
from sloyd.harness.model_tables import ModelTables, OwnModel, PriceTable
from sloyd.harness.registrations import OwnProvider
from sloyd.llm.models import THINKING_LEVELS, Model, ModelInfo, ThinkingLevel

__all__ = ["own_model", "with_providers"]


def with_providers(tables: ModelTables | None, own: Iterable[OwnProvider]) -> ModelTables:
    """The tables with the extensions' providers in front."""
    tables = tables or ModelTables()
    for each in own:
        name = each.provider.name
        models = {info.id: _facts(info) for info in each.models}
        tables = msgspec.structs.replace(
            tables,
            providers={name: each.provider, **tables.providers},
            own={**tables.own, name: models},
        )
    return tables


def own_model(
    choice: ModelChoice, own: Iterable[OwnProvider]
) -> tuple[Model, ThinkingLevel | None] | None:
    """A model that an extension makes itself, with the level that its name asks for; else None.

    Raises `UsageError` for a model that the provider has not got.
    """
    for each in own:
        if each.open is None:
            continue
        name = choice.model or ""
        if choice.provider is None:
            front, slash, name = name.partition("/")
            if not slash or front != each.provider.name:
                continue
        elif choice.provider != each.provider.name:
            continue
        name, level = _parted(name.removeprefix(f"{each.provider.name}/"))
        wanted = name or each.provider.default_model
        for info in each.models:
            if info.id == wanted or not wanted:
                return each.open(info), level
        known = ", ".join(info.id for info in each.models)
        raise UsageError(f"{each.provider.name} has no model {wanted}; it has: {known}")
    return None


def _parted(name: str) -> tuple[str, ThinkingLevel | None]:
    front, colon, last = name.rpartition(":")
    for level in THINKING_LEVELS:
        if colon and last == level:
            return front, level
    return name, None


def _facts(info: ModelInfo) -> OwnModel:
    return OwnModel(
        id=info.id,
        name=info.name or None,
        api=info.api,
        base_url=info.base_url or None,
        context_window=info.context_window,
        max_output=info.max_output,
        inputs=info.inputs,
        thinking_levels=info.thinking_levels,
        prices=PriceTable(
            input=info.prices.input,
            output=info.prices.output,
            cache_read=info.prices.cache_read,
            cache_write=info.prices.cache_write,
        ),
        headers=dict(info.headers),
        quirks=dict(info.quirks),
    )
