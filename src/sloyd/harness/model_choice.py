"""From what a person says about a model to the thing that answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sloyd.errors import ProviderError, UsageError
from sloyd.harness.settings import Settings
from sloyd.llm.credentials import find_base_url, find_key
from sloyd.llm.models import THINKING_LEVELS, Model, ThinkingLevel
from sloyd.llm.providers import PROVIDERS, Provider, find_provider, model_info

__all__ = ["ModelChoice", "choose_model", "no_model_text"]

SCRIPTED = "scripted:"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model as named on a command line.

    Attributes:
        model: an id, or ``provider/id``, either with ``:level`` behind it; or ``scripted:FILE``.
        provider: the provider's name; it decides which API is spoken.
        base_url: another server that speaks the same API.
        api_key: the key, before the environment.
    """

    model: str | None = None
    provider: str | None = None
    base_url: str | None = None
    api_key: str | None = None


def choose_model(
    choice: ModelChoice, variables: Mapping[str, str], settings: Settings
) -> tuple[Model, ThinkingLevel | None]:
    """The model, and the thinking level that its name asked for.

    Without a provider the name decides, then the settings, then the first provider that has a key.
    Raises `UsageError` for a provider that is not known, and `ProviderError` when there is no key.
    """
    named = choice.model or settings.model.default
    if named and named.startswith(SCRIPTED):
        from sloyd.llm.wires.scripted import ScriptedModel

        return ScriptedModel(named.removeprefix(SCRIPTED)), None
    name, level = _parted(named)
    provider, model_id = _provider(choice, name, variables, settings)
    base_url = find_base_url(provider.name, choice.base_url, variables)
    key = find_key(provider.name, choice.api_key, variables)
    if key is None and base_url is None and provider.needs_key:
        raise ProviderError(_no_key_text(provider), problem="no-key")
    model_id = model_id or provider.default_model
    if not model_id:
        raise UsageError(f"say which model of {provider.name} to use: --model NAME")
    from sloyd.llm.http_model import HttpModel

    info = model_info(provider, model_id, base_url=base_url)
    return HttpModel(info, api_key=key), level


def _parted(name: str | None) -> tuple[str | None, ThinkingLevel | None]:
    """A model's name and the level behind its last colon; other colons belong to the name."""
    front, colon, last = (name or "").rpartition(":")
    if colon and last in THINKING_LEVELS:
        return front, last
    return name, None


def _provider(
    choice: ModelChoice, name: str | None, variables: Mapping[str, str], settings: Settings
) -> tuple[Provider, str | None]:
    """The provider, and the model's name without it."""
    said = choice.provider or settings.model.provider
    if said is not None:
        return _known(said), name
    front, slash, rest = (name or "").partition("/")
    found = find_provider(front) if slash else None
    if found is not None:
        return found, rest
    if choice.base_url is not None:
        return _known("openai"), name
    for provider in PROVIDERS.values():
        if find_key(provider.name, None, variables) is not None:
            return provider, name
    if choice.api_key is not None:
        raise UsageError("say whose key that is: --provider openai, or --provider anthropic")
    raise ProviderError(no_model_text(), problem="no-key")


def _known(name: str) -> Provider:
    found = find_provider(name)
    if found is not None:
        return found
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), list(PROVIDERS), n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are: {', '.join(PROVIDERS)}"
    raise UsageError(f"there is no provider {name}; {hint}")


def _no_key_text(provider: Provider) -> str:
    variable = provider.key_variables[0] if provider.key_variables else "an API key"
    where = f" (get one at {provider.keys_url})" if provider.keys_url else ""
    return f"no key for {provider.title}: set {variable}{where}, or give --api-key"


def no_model_text() -> str:
    """What a person reads who has neither a key nor a server."""
    return (
        "no model to talk to yet. Any one of these will do:\n"
        "  export ANTHROPIC_API_KEY=...   (or OPENAI_API_KEY, GEMINI_API_KEY)\n"
        "  sloyd --base-url http://127.0.0.1:11434/v1 --model NAME   (a server of your own)\n"
        "  sloyd demo   (no model needed: watch one at work)"
    )
