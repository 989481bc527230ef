"""Which models a server offers, by its own list."""

from __future__ import annotations

from typing import Any

import msgspec

from sloyd.errors import ProviderError
from sloyd.llm.models import ModelInfo
from sloyd.llm.transport import Transport
from sloyd.llm.wires import wire_for

__all__ = ["list_models", "nearest_names"]

_TIMEOUT = 5.0


async def list_models(
    info: ModelInfo,
    api_key: str | None,
    *,
    transport: Transport | None = None,
    timeout: float = _TIMEOUT,
) -> list[str]:
    """The ids of the models at ``info``'s server, in its order; ``info.id`` does not matter.

    Raises `ProviderError` when there is no such list.
    """
    wire = wire_for(info.api)
    base = info.base_url.strip().rstrip("/")
    rooted = wire.api == "anthropic-messages" and not base.endswith("/v1")
    url = f"{base}/v1/models" if rooted else f"{base}/models"
    headers = dict(wire.authorization(info, api_key)) if api_key else {}
    if wire.api == "anthropic-messages":
        headers["anthropic-version"] = "2023-06-01"
    used = transport or Transport()
    try:
        response = await used.get(url, {**headers, **info.headers}, idle_timeout=timeout)
        try:
            body = await response.body()
        finally:
            await response.aclose()
    finally:
        if transport is None:
            await used.aclose()
    if response.status != 200:
        raise ProviderError(
            f"{url} has no list of models (HTTP {response.status}).", status=response.status
        )
    return _names(body, url)


def nearest_names(wanted: str, names: list[str], *, count: int = 5) -> list[str]:
    """The names most like ``wanted``; when there are only a few names, all of them."""
    if len(names) <= count:
        return names
    import difflib

    parts = [name for name in names if wanted.lower() in name.lower()]
    close = difflib.get_close_matches(wanted, names, n=count, cutoff=0.4)
    return list(dict.fromkeys([*close, *parts]))[:count]


def _names(body: bytes, url: str) -> list[str]:
    try:
        value = msgspec.json.decode(body)
    except msgspec.DecodeError:
        value = None
    entries: Any = value
    if isinstance(value, dict):
        entries = value.get("data") or value.get("models")
    if not isinstance(entries, list):
        raise ProviderError(f"{url} answered with something that is no list of models.")
    names = (entry.get("id") or entry.get("name") for entry in entries if isinstance(entry, dict))
    return [name.removeprefix("models/") for name in names if isinstance(name, str) and name]
