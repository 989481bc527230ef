"""The models that are known before anybody asks a server: windows, prices, levels, quirks.

``catalogue.json`` is made by ``scripts/make_catalogue.py``. It is read when a model is looked up
for the first time, and then only the part of its provider is decoded (0.5 ms; all of it 1 ms).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from sloyd.llm.models import InputKind, ModelInfo, Prices, PriceTier, ThinkingLevel
from sloyd.llm.providers import Provider, is_own_url, model_info

__all__ = ["Entry", "catalogued", "known_info"]


class Entry(msgspec.Struct, frozen=True):
    """One model at one provider, as ``catalogue.json`` has it.

    Attributes:
        window: tokens of input and output together; ``output`` the most tokens of one answer.
        price: US dollars for a million tokens: input, output, cache read, cache write.
        tiers: tokens of input above which the four prices behind it apply.
    """

    id: str
    api: str
    window: int
    output: int
    name: str = ""
    images: bool = True
    thinking: tuple[ThinkingLevel, ...] = ("off", "minimal", "low", "medium", "high")
    price: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    tiers: tuple[tuple[int, float, float, float, float], ...] = ()
    quirks: Mapping[str, Any] = {}

    @property
    def inputs(self) -> tuple[InputKind, ...]:
        """What a request may hold."""
        return ("text", "image") if self.images else ("text",)

    @property
    def prices(self) -> Prices:
        """The prices as `sloyd.llm.models.cost_of` takes them."""
        return Prices(*self.price, tiers=tuple(PriceTier(*tier) for tier in self.tiers))


class _File(msgspec.Struct):
    providers: dict[str, msgspec.Raw]


@cache
def _parts() -> dict[str, msgspec.Raw]:
    with open(f"{__file__.rpartition('.')[0]}.json", "rb") as file:  # noqa: PTH123 - start-up
        return msgspec.json.decode(file.read(), type=_File).providers


@cache
def _entries(part: str) -> dict[str, Entry]:
    raw = _parts().get(part)
    entries = [] if raw is None else msgspec.json.decode(raw, type=list[Entry])
    return {entry.id: entry for entry in entries}


def catalogued(provider: Provider) -> Mapping[str, Entry]:
    """The known models of a provider by id; empty for one without a part in the catalogue."""
    return _entries(provider.models_of or provider.name)


def known_info(
    provider: Provider, model_id: str, *, base_url: str | None = None
) -> ModelInfo | None:
    """The facts of a model, at the provider or at another server that offers the same one.

    None for a model that the catalogue does not have.
    """
    entry = catalogued(provider).get(model_id)
    if entry is None:
        return None
    return _filled(provider, entry, base_url)


def _filled(provider: Provider, entry: Entry, base_url: str | None) -> ModelInfo:
    info = model_info(provider, entry.id, base_url=base_url)
    api, quirks = info.api, info.quirks
    endpoint = provider.endpoints.get(entry.api) if is_own_url(provider, base_url) else None
    if endpoint is not None:
        api, quirks = entry.api, endpoint.quirks
        info = msgspec.structs.replace(info, api=api, base_url=endpoint.base_url)
    return msgspec.structs.replace(
        info,
        name=entry.name,
        context_window=entry.window,
        max_output=entry.output,
        inputs=entry.inputs,
        thinking_levels=entry.thinking,
        prices=entry.prices,
        quirks={**quirks, **entry.quirks} if api == entry.api else quirks,
    )
