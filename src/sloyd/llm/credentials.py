"""Where a key comes from: an explicit value, a configured source, else the environment.

A configured source is a literal, ``$NAME`` or ``${NAME}`` for an environment variable,
``!COMMAND`` for what a command prints, or ``keyring:SERVICE/USER`` for the system's keyring
(the extra ``keyring``). ``$$`` and ``!!`` at the start stand for a literal ``$`` and ``!``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from sloyd.errors import ProviderError
from sloyd.llm.providers import Provider

__all__ = ["base_url_from", "is_there", "key_from", "secret_of"]

# Compiled when it is first needed, which in most runs is never.
_VARIABLE = r"\$(?:\{(\w+)\}|(\w+))"
_COMMAND_SECONDS = 60.0
"""Password managers may wait for a finger on a sensor."""


def key_from(provider: Provider, environment: Mapping[str, str]) -> str | None:
    """The key in the first of the provider's variables that holds one, or None.

    Blanks and line ends around a key, which copying brings along, are dropped; an empty variable
    counts as none.
    """
    for variable in provider.key_variables:
        value = environment.get(variable, "").strip()
        if value:
            return value
    return None


def base_url_from(
    provider: Provider, flag: str | None, environment: Mapping[str, str]
) -> str | None:
    """The base URL given by flag or by the provider's variable, or None for its own.

    What an environment gives may be a host and port alone, as Ollama takes it, or an address
    without a path, as Azure gives it.
    """
    if flag is not None and flag.strip():
        return flag.strip()
    variable = provider.base_url_variable
    value = environment.get(variable, "").strip() if variable else ""
    return _completed(value, provider.path) if value else None


def _completed(value: str, path: str) -> str:
    url = value if "://" in value else f"http://{value}"
    # A server listens on 0.0.0.0, but nobody can call there.
    url = url.replace("://0.0.0.0", "://127.0.0.1", 1)
    return url.rstrip("/") + path if path and not urlsplit(url).path.strip("/") else url


def secret_of(source: str, environment: Mapping[str, str]) -> str:
    """The secret that a configured source stands for.

    Raises `ProviderError` when the variable is not set, the command fails or the keyring has
    nothing.
    """
    text = source.strip()
    if text.startswith(("$$", "!!")):
        return text[1:]
    if text.startswith("!"):
        return _printed(text[1:].strip())
    if text.startswith("keyring:"):
        return _kept(text.removeprefix("keyring:"))
    variable = re.fullmatch(_VARIABLE, text)
    if variable is None:
        return text
    name = variable.group(1) or variable.group(2)
    value = environment.get(name, "").strip()
    if not value:
        raise _missing(
            f"the environment variable {name}, which it is configured to be in, is empty"
        )
    return value


def is_there(source: str, environment: Mapping[str, str]) -> bool:
    """Whether a configured source may hold a secret; no command and no keyring is asked."""
    variable = re.fullmatch(_VARIABLE, source.strip())
    if variable is None:
        return bool(source.strip())
    return bool(environment.get(variable.group(1) or variable.group(2), "").strip())


def _printed(command: str) -> str:
    import subprocess

    try:
        done = subprocess.run(
            command,
            shell=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _missing(f"the command `{command}` for it failed: {error}") from error
    value = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode != 0 or not value:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = words[-1] if words else "it printed nothing"
        raise _missing(f"the command `{command}` for it gave {done.returncode}: {reason}")
    return value


def _kept(place: str) -> str:
    service, _, user = place.strip().partition("/")
    import importlib

    try:
        keyring = importlib.import_module("keyring")
    except ImportError as error:
        raise _missing(
            "it is configured to be in the keyring, which needs the package `keyring`:"
            " pip install 'sloyd[keyring]'"
        ) from error
    try:
        value = keyring.get_password(service, user)
    except Exception as error:
        # Each backend of the keyring fails in its own way.
        raise _missing(f"the keyring cannot be read: {error}") from error
    if not value:
        raise _missing(f"the keyring holds nothing for the service {service} and user {user}")
    return str(value).strip()


def _missing(why: str) -> ProviderError:
    return ProviderError(f"there is no API key: {why}", problem="no-key")
