"""Where a key comes from: an explicit value, else the environment variables of its provider."""

from __future__ import annotations

from collections.abc import Mapping

from sloyd.llm.providers import find_provider

__all__ = ["find_base_url", "find_key"]


def find_key(provider: str, flag: str | None, environment: Mapping[str, str]) -> str | None:
    """The API key for a provider, or None.

    Blanks and line ends around a key, which copying brings along, are dropped; an empty variable
    counts as none.
    """
    if flag is not None and flag.strip():
        return flag.strip()
    known = find_provider(provider)
    for variable in known.key_variables if known else ():
        value = environment.get(variable, "").strip()
        if value:
            return value
    return None


def find_base_url(provider: str, flag: str | None, environment: Mapping[str, str]) -> str | None:
    """The base URL given by flag or environment, or None for the provider's own."""
    if flag is not None and flag.strip():
        return flag.strip()
    known = find_provider(provider)
    variable = known.base_url_variable if known else None
    return (environment.get(variable, "").strip() or None) if variable else None
