"""The providers and models that a person has configured, laid over those that Sloyd knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from sloyd.llm.credentials import is_there, key_from
from sloyd.llm.models import InputKind, ModelInfo, Prices, ThinkingLevel
from sloyd.llm.providers import PROVIDERS, Provider, find_provider, model_info

if TYPE_CHECKING:
    from sloyd.harness.model_search import Candidate

__all__ = ["ModelFacts", "ModelTables", "OwnModel", "PriceTable"]


class PriceTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """US dollars for a million tokens of each kind."""

    input: float
    output: float
    cache_read: float = 0.0
    cache_write: float = 0.0


class ModelFacts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may be said of a model; None means that the known or usual value stays."""

    name: str | None = None
    api: str | None = None
    base_url: str | None = None
    context_window: int | None = None
    max_output: int | None = None
    inputs: tuple[InputKind, ...] | None = None
    thinking_levels: tuple[ThinkingLevel, ...] | None = None
    prices: PriceTable | None = None
    headers: dict[str, str] = {}
    quirks: dict[str, Any] = {}


class OwnModel(ModelFacts, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[[providers.NAME.models]]``."""

    id: str


class ModelTables(msgspec.Struct, frozen=True):
    """Known and configured providers and models together.

    Attributes:
        providers: by name, configured ones first.
        keys: where the key of a provider is, as `sloyd.llm.credentials.secret_of` takes it.
        own: the models that were configured for a provider, by id.
        changes: changed facts of a model, by ``provider/id``.
        aliases: further names of models.
    """

    providers: Mapping[str, Provider] = msgspec.field(default_factory=lambda: PROVIDERS)
    keys: Mapping[str, str] = {}
    own: Mapping[str, Mapping[str, OwnModel]] = {}
    changes: Mapping[str, ModelFacts] = {}
    aliases: Mapping[str, str] = {}

    def find_provider(self, name: str) -> Provider | None:
        """The provider of that name, in any case, or None."""
        if name in self.providers:
            return self.providers[name]
        known = find_provider(name)
        if known is not None:
            return self.providers.get(known.name)
        wanted = name.strip().lower()
        return next((p for p in self.providers.values() if p.name.lower() == wanted), None)

    def ids(self, provider: Provider) -> Iterator[str]:
        """The ids of the provider's models that are known, configured ones first."""
        from sloyd.llm.catalogue import catalogued

        own = self.own.get(provider.name, {})
        yield from own
        yield from (model_id for model_id in catalogued(provider) if model_id not in own)

    def info(
        self,
        provider: Provider,
        model_id: str,
        *,
        base_url: str | None = None,
        ask: Callable[[ModelInfo], ModelInfo] | None = None,
    ) -> ModelInfo:
        """All that is known of a model, or careful guesses; what a person says counts most.

        ``ask`` adds what the model's server says.
        """
        from sloyd.llm.catalogue import known_info

        info = known_info(provider, model_id, base_url=base_url)
        if info is None:
            info = model_info(provider, model_id, base_url=base_url)
        if ask is not None:
            info = ask(info)
        own = self.own.get(provider.name, {}).get(model_id)
        for facts in (own, self.changes.get(f"{provider.name}/{model_id}")):
            if facts is not None:
                info = _changed(info, facts, base_url)
        return info

    def is_known(self, provider: Provider, model_id: str) -> bool:
        """Whether the model is in the catalogue or configured."""
        from sloyd.llm.catalogue import catalogued

        return model_id in self.own.get(provider.name, {}) or model_id in catalogued(provider)

    def has_key(self, provider: Provider, variables: Mapping[str, str]) -> bool:
        """Whether a key is set or configured; a command or keyring is not asked for it."""
        source = self.keys.get(provider.name)
        if source is not None:
            return is_there(source, variables)
        return key_from(provider, variables) is not None

    def candidates(self, providers: Iterable[Provider]) -> Iterator[Candidate]:
        """The known models of these providers, as a search takes them.

        A provider that only repeats another's models is left out when that one is among them.
        """
        from sloyd.harness.model_search import Candidate

        listed = list(providers)
        names = {provider.name for provider in listed}
        for place, provider in enumerate(listed):
            if provider.models_of in names:
                continue
            for model_id in self.ids(provider):
                name = self.name_of(provider, model_id)
                is_default = model_id == provider.default_model
                yield Candidate(provider.name, model_id, name, place, is_default)

    def name_of(self, provider: Provider, model_id: str) -> str:
        """How people call the model; empty when its id is all that is known."""
        from sloyd.llm.catalogue import catalogued

        own = self.own.get(provider.name, {}).get(model_id)
        entry = catalogued(provider).get(model_id)
        return (own.name if own else None) or (entry.name if entry else "")


def _changed(info: ModelInfo, facts: ModelFacts, base_url: str | None) -> ModelInfo:
    said = {
        name: getattr(facts, name)
        for name in (
            *("name", "api", "base_url", "context_window", "max_output", "inputs"),
            "thinking_levels",
        )
        if getattr(facts, name) is not None
    }
    if base_url is not None:
        said.pop("base_url", None)
    if facts.prices is not None:
        said["prices"] = Prices(**msgspec.structs.asdict(facts.prices))
    return msgspec.structs.replace(
        info,
        **said,
        headers={**info.headers, **facts.headers},
        quirks={**info.quirks, **facts.quirks},
    )
