"""Names of APIs, those that pi and others use among them, and whose answer a message is."""

from __future__ import annotations

from sloyd.llm.messages import AssistantMessage
from sloyd.llm.models import ModelInfo

__all__ = ["api_name", "is_own"]

_ALIASES = {
    "openai-completions": "openai-chat",
    "google-generative-ai": "google-generate",
    "anthropic": "anthropic-messages",
    "google": "google-generate",
}


def api_name(name: str) -> str:
    """Our name for an API; a name that is not known stays as it is."""
    return _ALIASES.get(name, name)


def is_own(answer: AssistantMessage, info: ModelInfo) -> bool:
    """Whether this very model gave the answer, over the same API; sessions of pi count too.

    Only then its signatures and its reasoning mean something to it.
    """
    if answer.model != info.id or api_name(answer.api) != api_name(info.api):
        return False
    return answer.provider == info.provider or _maker(answer.provider) == _maker(info.provider)


def _maker(provider: str) -> str:
    from sloyd.llm.providers import find_provider

    known = find_provider(provider)
    return known.models_of or known.name if known else provider
