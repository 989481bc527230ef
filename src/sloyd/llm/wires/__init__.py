"""The wires, found by the name of their API and imported when they are needed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from sloyd.errors import UsageError

if TYPE_CHECKING:
    from sloyd.llm.wires.base import Wire

__all__ = ["APIS", "wire_for"]

APIS: dict[str, str] = {
    "openai-chat": "openai_chat",
    "openai-responses": "openai_responses",
    "anthropic-messages": "anthropic_messages",
    "google-generate": "google_generate",
}
"""API names and the modules of their wires."""
_ALIASES = {
    "openai-completions": "openai-chat",
    "google-generative-ai": "google-generate",
    "anthropic": "anthropic-messages",
    "google": "google-generate",
}
"""Names that pi and others use for the same APIs."""


def wire_for(api: str) -> Wire:
    """The wire of an API. Raises `UsageError` for a name that is none."""
    module = APIS.get(_ALIASES.get(api, api))
    if module is None:
        raise UsageError(f"`{api}` is not a known API. Known are: {', '.join(APIS)}.")
    return cast("Wire", importlib.import_module(f"sloyd.llm.wires.{module}").WIRE)
