"""Model servers on this machine: which ones answer, what they offer, and what a model can do there.

A server of one's own knows its model best: how large the window is that it was started with,
whether the model sees images and whether it reasons. Asking costs a few milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from sloyd.llm.credentials import base_url_from, key_from
from sloyd.llm.loopback import is_loopback
from sloyd.llm.models import ModelInfo, ThinkingLevel
from sloyd.llm.providers import PROVIDERS, Provider

__all__ = ["LOCAL_PROVIDERS", "LocalServer", "described", "find_servers", "offered_models"]

LOCAL_PROVIDERS = ("ollama", "llamacpp", "lmstudio", "vllm")
_TIMEOUT = 0.4
"""Seconds: on loopback a closed port refuses at once, and a server lists its models in a few ms."""
_BODY_LIMIT = 4 * 1024 * 1024
_NO_CHAT = re.compile(r"embed|rerank|whisper|\btts\b", re.IGNORECASE)
_THINKS: tuple[ThinkingLevel, ...] = ("off", "low", "medium", "high")


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answered, and the models that it offers for chat."""

    provider: Provider
    base_url: str
    models: tuple[str, ...]


def find_servers(
    environment: Mapping[str, str], *, timeout: float = _TIMEOUT
) -> tuple[LocalServer, ...]:
    """The usual servers at their usual ports, or where their variables say, if that is here.

    All are asked at the same time; the answer takes ``timeout`` seconds at most. With
    ``SLOYD_OFFLINE`` set, none is.
    """
    if environment.get("SLOYD_OFFLINE"):
        return ()
    from concurrent.futures import ThreadPoolExecutor

    asked = [(provider, url) for provider, url in _places(environment) if is_loopback(url)]
    with ThreadPoolExecutor(len(asked) or 1) as pool:
        lists = list(
            pool.map(
                lambda place: offered_models(
                    place[1], key_from(place[0], environment), timeout=timeout
                ),
                asked,
            )
        )
    found = zip(asked, lists, strict=True)
    return tuple(LocalServer(*place, names) for place, names in found if names)


def _places(environment: Mapping[str, str]) -> Iterator[tuple[Provider, str]]:
    for name in LOCAL_PROVIDERS:
        provider = PROVIDERS[name]
        yield provider, base_url_from(provider, None, environment) or provider.base_url


def offered_models(
    base_url: str, key: str | None = None, *, timeout: float = _TIMEOUT
) -> tuple[str, ...]:
    """The chat models that the server at ``base_url`` lists; empty when nothing answers."""
    answer = _asked(f"{base_url.rstrip('/')}/models", key, timeout=timeout)
    entries = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(entries, list):
        return ()
    names = (entry.get("id") for entry in entries if isinstance(entry, dict))
    return tuple(name for name in names if isinstance(name, str) and not _NO_CHAT.search(name))


def described(info: ModelInfo, key: str | None, *, timeout: float = _TIMEOUT) -> ModelInfo:
    """The model with what its own server says of it; as it was for any other provider."""
    ask = {
        "ollama": _ollama,
        "llamacpp": _llamacpp,
        "lmstudio": _lmstudio,
        "vllm": _vllm,
    }.get(info.provider)
    if ask is None or not is_loopback(info.base_url):
        return info
    facts = ask(info, key, timeout)
    window = facts.get("context_window")
    if not isinstance(window, int) or window <= 0:
        facts.pop("context_window", None)
    else:
        facts["max_output"] = min(info.max_output, window)
    return msgspec.structs.replace(info, **facts)


def _root(info: ModelInfo) -> str:
    return info.base_url.rstrip("/").removesuffix("/v1")


def _ollama(info: ModelInfo, key: str | None, timeout: float) -> dict[str, Any]:
    body = msgspec.json.encode({"model": info.id})
    answer = _asked(f"{_root(info)}/api/show", key, body=body, timeout=timeout)
    if not isinstance(answer, dict):
        return {}
    abilities = answer.get("capabilities") or []
    details = answer.get("model_info") or {}
    chosen = re.search(r"num_ctx\s+(\d+)", str(answer.get("parameters") or ""))
    sizes = (size for name, size in details.items() if name.endswith(".context_length"))
    facts: dict[str, Any] = {
        "context_window": int(chosen.group(1)) if chosen else next(sizes, None),
        "inputs": ("text", "image") if "vision" in abilities else ("text",),
        "thinking_levels": ("off",),
    }
    if "thinking" in abilities:
        facts["thinking_levels"] = _THINKS
        facts["quirks"] = {**info.quirks, "thinking_format": "openai"}
    return facts


def _llamacpp(info: ModelInfo, key: str | None, timeout: float) -> dict[str, Any]:
    answer = _asked(f"{_root(info)}/props", key, timeout=timeout)
    if not isinstance(answer, dict):
        return {}
    settings = answer.get("default_generation_settings") or {}
    seeing = (answer.get("modalities") or {}).get("vision")
    switch = "enable_thinking" in str(answer.get("chat_template") or "")
    return {
        "context_window": settings.get("n_ctx"),
        "inputs": ("text", "image") if seeing else ("text",),
        "thinking_levels": ("off", "high") if switch else ("off",),
    }


def _lmstudio(info: ModelInfo, key: str | None, timeout: float) -> dict[str, Any]:
    path = f"/api/v0/models/{quote(info.id, safe='/')}"
    answer = _asked(_root(info) + path, key, timeout=timeout)
    if not isinstance(answer, dict) or "type" not in answer:
        return {}
    return {
        "context_window": answer.get("loaded_context_length") or answer.get("max_context_length"),
        "inputs": ("text", "image") if answer["type"] == "vlm" else ("text",),
    }


def _vllm(info: ModelInfo, key: str | None, timeout: float) -> dict[str, Any]:
    answer = _asked(f"{info.base_url.rstrip('/')}/models", key, timeout=timeout)
    entries = answer.get("data") if isinstance(answer, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("id") == info.id:
            return {"context_window": entry.get("max_model_len")}
    return {}


def _asked(url: str, key: str | None, *, body: bytes | None = None, timeout: float) -> Any:
    """The JSON that the address answers, or None for anything else."""
    from http.client import HTTPConnection, HTTPException

    headers = {"accept": "application/json"}
    if key:
        headers["authorization"] = f"Bearer {key}"
    if body is not None:
        headers["content-type"] = "application/json"
    try:
        parts = urlsplit(url)
        connection = HTTPConnection(parts.hostname or "", parts.port or 80, timeout=timeout)
        try:
            connection.request("GET" if body is None else "POST", parts.path, body, headers)
            response = connection.getresponse()
            data = response.read(_BODY_LIMIT)
        finally:
            connection.close()
        return msgspec.json.decode(data) if response.status == 200 else None
    except (OSError, ValueError, HTTPException, msgspec.DecodeError):
        return None
