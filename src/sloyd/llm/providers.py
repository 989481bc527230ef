"""The providers that are known by name: which wire, where, which key, which model by default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sloyd.llm.models import ModelInfo

__all__ = ["PROVIDERS", "Provider", "find_provider", "model_info"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider.

    Attributes:
        name: what people write for ``--provider``.
        base_url: as the vendor's own SDK takes it.
        key_variables: environment variables that may hold the key, the first one preferred.
        base_url_variable: the environment variable that moves the base URL.
        keys_url: where a person gets a key.
        needs_key: False for servers that people run themselves.
        quirks: what this server does differently; see the wire for the keys.
    """

    name: str
    title: str
    api: str
    base_url: str
    key_variables: tuple[str, ...] = ()
    base_url_variable: str | None = None
    default_model: str = ""
    keys_url: str = ""
    needs_key: bool = True
    quirks: Mapping[str, Any] = field(default_factory=dict)


_OPENAI_KEYS = "https://platform.openai.com/api-keys"

PROVIDERS: Mapping[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider(
            name="openai",
            title="OpenAI (chat completions)",
            api="openai-chat",
            base_url="https://api.openai.com/v1",
            key_variables=("OPENAI_API_KEY",),
            base_url_variable="OPENAI_BASE_URL",
            default_model="gpt-6.2-sol",
            keys_url=_OPENAI_KEYS,
        ),
        Provider(
            name="openai-responses",
            title="OpenAI (responses)",
            api="openai-responses",
            base_url="https://api.openai.com/v1",
            key_variables=("OPENAI_API_KEY",),
            base_url_variable="OPENAI_BASE_URL",
            default_model="gpt-6.2-sol",
            keys_url=_OPENAI_KEYS,
        ),
        Provider(
            name="anthropic",
            title="Anthropic",
            api="anthropic-messages",
            base_url="https://api.anthropic.com",
            key_variables=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
            base_url_variable="ANTHROPIC_BASE_URL",
            default_model="claude-sonnet-5-5",
            keys_url="https://console.anthropic.com/settings/keys",
        ),
        Provider(
            name="google",
            title="Google Gemini",
            api="google-generate",
            base_url="https://generativelanguage.googleapis.com/v1beta",
            key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            base_url_variable="GOOGLE_GEMINI_BASE_URL",
            default_model="gemini-4-argon",
            keys_url="https://aistudio.google.com/apikey",
        ),
    )
}


def find_provider(name: str) -> Provider | None:
    """The provider of that name, in any case, or None."""
    return PROVIDERS.get(name.strip().lower())


def model_info(provider: Provider, model_id: str, *, base_url: str | None = None) -> ModelInfo:
    """What is assumed of a model that no catalogue knows, at the provider or at any other server.

    The window is a careful guess; nothing is sent that a server is known to refuse.
    """
    return ModelInfo(
        id=model_id,
        provider=provider.name,
        api=provider.api,
        base_url=base_url or provider.base_url,
        quirks=provider.quirks,
    )
