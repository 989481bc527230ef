"""What a person reads when no model can be chosen: what is missing, and the command that helps."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from sloyd.harness.model_search import Candidate
from sloyd.llm.local_servers import LocalServer
from sloyd.llm.providers import Provider

__all__ = [
    "ambiguous_text",
    "no_key_text",
    "no_model_text",
    "server_command",
    "unknown_text",
    "where_text",
]

_MOST_NAMES = 12
_MOST_MODELS = 4


def no_key_text(provider: Provider) -> str:
    """A provider was named, and there is no key for it."""
    variable = provider.key_variables[0] if provider.key_variables else "an API key"
    where = f" (get one at {provider.keys_url})" if provider.keys_url else ""
    return f"no key for {provider.title}: set {variable}{where}, or give --api-key"


def where_text(provider: Provider) -> str:
    """A provider has no address that is the same for everybody."""
    return (
        f"where is {provider.title}? Set {provider.base_url_variable} or give --base-url,"
        f" such as https://NAME.openai.azure.com{provider.path}"
    )


def no_model_text(servers: Sequence[LocalServer] = ()) -> str:
    """Nobody has said which model, and there is no key; ``servers`` were found on this machine."""
    if servers:
        lines = ["no key is set, but there are models on this machine. Say which one to use:"]
        for server in servers:
            shown = server.models[:_MOST_MODELS]
            lines += [f"  {server_command(server, model)}" for model in shown]
            if len(server.models) > len(shown):
                more = len(server.models) - len(shown)
                lines.append(f"  ... and {more} more at {server.provider.title}")
        return "\n".join(lines)
    return (
        "no model to talk to yet. Any one of these will do:\n"
        "  export ANTHROPIC_API_KEY=...   (or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY;"
        " sloyd --list-models names all)\n"
        "  sloyd --base-url http://127.0.0.1:11434/v1 --model NAME   (a server of your own;"
        " none answers at the usual ports)\n"
        "  sloyd demo   (no model needed: watch one at work)"
    )


def server_command(server: LocalServer, model: str) -> str:
    """The command that talks to a model of a server on this machine."""
    return f"sloyd --provider {server.provider.name} --model {shlex.quote(model)}"


def ambiguous_text(name: str, fits: Sequence[Candidate]) -> str:
    """A name fits models of several families."""
    return (
        f"`{name}` may mean several models: {_listed(fit.reference for fit in fits)}."
        " Say which with --model"
    )


def unknown_text(name: str, near: Iterable[str]) -> str:
    """No model that could be used has such a name."""
    names = list(near)
    hint = f"Near are: {_listed(names)}." if names else "See sloyd --list-models."
    return (
        f"no model is known as `{name}`. {hint}"
        f" To ask a provider for it all the same: --model PROVIDER/{name}"
    )


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _MOST_NAMES} more" if len(listed) > _MOST_NAMES else ""
    return ", ".join(listed[:_MOST_NAMES]) + more
