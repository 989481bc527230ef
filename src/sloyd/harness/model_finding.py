"""Which model of which provider a name means.

A model that is named exactly is taken as named, also one that no list knows when its provider is
clear. Else the name is looked for among the models of the providers that can be used at once, and
then among all. Nothing is guessed: a name that fits several families is answered with their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sloyd.errors import ProviderError, UsageError
from sloyd.harness.model_tables import ModelTables
from sloyd.harness.settings import Settings
from sloyd.llm.credentials import base_url_from
from sloyd.llm.providers import Provider, is_own_url
from sloyd.text.suggestion import suggestion

if TYPE_CHECKING:
    from sloyd.harness.model_choice import ModelChoice

__all__ = ["Finder"]

_KEY_BEGINNINGS = {
    "sk-ant-": "anthropic",
    "sk-or-": "openrouter",
    "sk-proj-": "openai",
    "AIza": "google",
    "gsk_": "groq",
    "xai-": "xai",
    "csk-": "cerebras",
    "nvapi-": "nvidia",
    "hf_": "huggingface",
}
"""How the keys of some providers begin."""


@dataclass(frozen=True, slots=True)
class Finder:
    """Finds the model that a choice means.

    Attributes:
        choice: what a person has said.
        variables: the environment.
        settings: what they prefer where nothing is said.
        tables: the providers and models that there are.
    """

    choice: ModelChoice
    variables: Mapping[str, str]
    settings: Settings
    tables: ModelTables

    @property
    def _preferred(self) -> str | None:
        return self.settings.model.provider

    def find(self, name: str | None) -> tuple[Provider, str]:
        """The provider and the id; an empty one means its default model."""
        if self.choice.provider is not None:
            provider = self._known(self.choice.provider)
            return provider, self._within(provider, name)
        if name and "/" in name:
            found = self._parted(name)
            if found is not None:
                return found
        if self.choice.base_url is not None:
            return self._known("openai"), name or ""
        if name is None:
            return self._unnamed()
        return self._searched(name) or self._elsewhere(name)

    def _parted(self, name: str) -> tuple[Provider, str] | None:
        """``provider/id``, unless it is an id with a slash."""
        front, _, rest = name.partition("/")
        provider = self.tables.find_provider(front)
        if provider is None:
            return None
        if self._usable(provider) or self.choice.base_url or self.choice.api_key:
            return provider, self._within(provider, rest)
        # `openai/gpt-oss-120b` is also how a host calls a model that it has from OpenAI.
        for host in self.tables.providers.values():
            if self._usable(host) and self.tables.is_known(host, name):
                return host, name
        return self._served(name) or (provider, self._within(provider, rest))

    def _within(self, provider: Provider, name: str | None) -> str:
        """The id of a model of this provider; a name that fits no known one stays as it is."""
        if not name:
            return ""
        if self.tables.is_known(provider, name):
            return name
        front, slash, rest = name.partition("/")
        if slash and self.tables.find_provider(front) is provider:
            name = rest
        if self._is_elsewhere(provider) or self.tables.is_known(provider, name):
            return name
        from sloyd.harness.model_search import fitting

        fits = fitting(name, self.tables.candidates([provider]), within=True)
        return fits[0].id if len(fits) == 1 else name

    def _unnamed(self) -> tuple[Provider, str]:
        if self._preferred is not None:
            return self._known(self._preferred), ""
        for provider in self.tables.providers.values():
            if provider.is_automatic and self._usable(provider):
                return provider, ""
        if self.choice.api_key is not None:
            return self._of_key(self.choice.api_key), ""
        return self._local()

    def _searched(self, name: str) -> tuple[Provider, str] | None:
        """A model of the providers that can be used at once, by its exact or inexact name."""
        usable = [p for p in self.tables.providers.values() if self._usable(p)]
        preferred = self._known(self._preferred) if self._preferred is not None else None
        if preferred is not None:
            model_id = self._within(preferred, name)
            if self.tables.is_known(preferred, model_id):
                return preferred, model_id
        for provider in usable:
            if self.tables.is_known(provider, name):
                return provider, name
        if preferred is not None:
            return preferred, name
        fits = self._fits(name, [p for p in usable if not self._is_elsewhere(p)])
        if fits is not None:
            return fits
        # At another server than the provider's own any name may be right.
        moved = [provider for provider in usable if self._is_elsewhere(provider)]
        if moved:
            return moved[0], name
        served = self._served(name)
        if served is not None:
            return served
        if any(self.tables.is_known(other, name) for other in self.tables.providers.values()):
            return None
        names = {provider.name for provider in usable}
        single = [provider for provider in usable if provider.models_of not in names]
        return (single[0], name) if len(single) == 1 else None

    def _fits(self, name: str, providers: list[Provider]) -> tuple[Provider, str] | None:
        if not providers:
            return None
        from sloyd.harness.model_search import fitting
        from sloyd.harness.model_texts import ambiguous_text

        fits = fitting(name, self.tables.candidates(providers))
        if len(fits) > 1:
            raise UsageError(ambiguous_text(name, fits))
        return (self.tables.providers[fits[0].provider], fits[0].id) if fits else None

    def _elsewhere(self, name: str) -> tuple[Provider, str]:
        """A model of a provider without a key, or of a server on this machine."""
        if self.choice.api_key is not None:
            return self._of_key(self.choice.api_key), name
        everybody = list(self.tables.providers.values())
        for provider in everybody:
            if self.tables.is_known(provider, name):
                return provider, name
        found = self._fits(name, everybody)
        if found is not None:
            return found
        from difflib import get_close_matches

        from sloyd.harness.model_texts import unknown_text

        by_id = {
            candidate.id: candidate.reference for candidate in self.tables.candidates(everybody)
        }
        near = get_close_matches(name, by_id, n=5, cutoff=0.5)
        raise UsageError(unknown_text(name, (by_id[model_id] for model_id in near)))

    def _known(self, name: str) -> Provider:
        found = self.tables.find_provider(name)
        if found is not None:
            return found
        known = self.tables.providers
        hint = suggestion(name.lower(), known, f"known are: {', '.join(known)}")
        raise UsageError(f"there is no provider {name}{hint}")

    def _of_key(self, key: str) -> Provider:
        for beginning, provider in _KEY_BEGINNINGS.items():
            if key.strip().startswith(beginning):
                return self.tables.providers[provider]
        raise UsageError("say whose key that is: --provider openai, or --provider anthropic")

    # Servers on this machine

    def _served(self, name: str) -> tuple[Provider, str] | None:
        """A model of this name on this machine, or the only one there with the name in its own."""
        from sloyd.llm.local_servers import find_servers

        offered = [
            (server.provider, model)
            for server in find_servers(self.variables)
            for model in server.models
        ]
        exact = [pair for pair in offered if pair[1] in (name, f"{name}:latest")]
        within = [pair for pair in offered if name.lower() in pair[1].lower()]
        return exact[0] if exact else within[0] if len(within) == 1 else None

    def _local(self) -> tuple[Provider, str]:
        """The only model on this machine, if somebody can be told, when there is no key at all."""
        from sloyd.harness.model_texts import no_model_text, server_command
        from sloyd.llm.local_servers import find_servers

        servers = find_servers(self.variables)
        only = servers[0] if len(servers) == 1 and len(servers[0].models) == 1 else None
        if only is None or self.choice.notice is None:
            raise ProviderError(no_model_text(servers), problem="no-key")
        self.choice.notice(
            f"no key is set; using {only.models[0]} of {only.provider.title} on this machine"
            f" ({server_command(only, only.models[0])})"
        )
        return only.provider, only.models[0]

    # What can be used

    def base_url(self, provider: Provider) -> str | None:
        """Another address than the provider's own, by flag or environment."""
        return base_url_from(provider, self.choice.base_url, self.variables)

    def _is_elsewhere(self, provider: Provider) -> bool:
        return not is_own_url(provider, self.base_url(provider))

    def _usable(self, provider: Provider) -> bool:
        """Whether requests can be sent to it without anything else being said."""
        configured = provider.name in self.tables.own
        if self.tables.has_key(provider, self.variables):
            return bool(provider.base_url or self.base_url(provider))
        return configured and not provider.needs_key
