"""The wires, found by the name of their API and imported when they are needed.

What a wire is:

    base                     The translation between our messages and one API, without any I/O.
    decoding                 JSON out of what servers send, in any spelling.

One module for each API, and one for its stream:

    openai_chat              OpenAI chat completions, as OpenAI and many others speak it.
    openai_chat_reader       The stream of chat completions.
    openai_chat_calls        Which call a piece of a chat completion belongs to.
    openai_responses         OpenAI's responses API, without state on the server.
    openai_responses_reader  The stream of the responses API.
    anthropic_messages       Anthropic's messages API, and the servers that imitate it.
    anthropic_reader         The stream of the messages API.
    google_generate          Google's generateContent.
    google_reader            The stream of generateContent.

Without a provider:

    scripted                 A model that plays turns from a file.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from sloyd.errors import UsageError
from sloyd.llm.api_names import api_name

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


def wire_for(api: str) -> Wire:
    """The wire of an API. Raises `UsageError` for a name that is none."""
    module = APIS.get(api_name(api))
    if module is None:
        raise UsageError(f"`{api}` is not a known API. Known are: {', '.join(APIS)}.")
    return cast("Wire", importlib.import_module(f"sloyd.llm.wires.{module}").WIRE)
