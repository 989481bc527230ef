"""A provider's failure in words that a person can act on: who refused, why, and what to do."""

from __future__ import annotations

import contextlib
import html
import re

import msgspec

from sloyd.errors import ContextOverflow, ProviderError
from sloyd.llm.failures import failure_of
from sloyd.llm.models import ModelInfo
from sloyd.llm.providers import find_provider
from sloyd.llm.retry import asked_delay, describe_seconds
from sloyd.llm.transport import Response

__all__ = [
    "explained",
    "key_wanted",
    "no_key",
    "not_a_stream",
    "refusal",
    "too_long_a_wait",
    "with_names",
    "without_secret",
]

_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_SHORTEST_SECRET = 8
_SHOWN = 2000
"""Most characters of a provider's own words."""


def no_key(info: ModelInfo) -> ProviderError:
    """There is no key, and this provider needs one."""
    provider = find_provider(info.provider)
    variable = provider.key_variables[0] if provider and provider.key_variables else ""
    advice = f"Set {variable} or give the key with --api-key" if variable else "Give it a key"
    where = f" (keys: {provider.keys_url})" if provider and provider.keys_url else ""
    return ProviderError(
        f"There is no API key for {info.provider}. {advice}{where}.", problem="no-key"
    )


def key_wanted(info: ModelInfo, error: ProviderError) -> ProviderError:
    """A server that was asked without a key wants one."""
    text = f"{info.base_url} wants an API key, and none was given. {no_key(info)}"
    return ProviderError(text, problem="no-key", status=error.status)


def without_secret(error: ProviderError, key: str) -> ProviderError:
    """The same error without the key, which some servers repeat in their refusal."""
    if len(key) < _SHORTEST_SECRET or key not in str(error):
        return error
    return _again(error, str(error).replace(key, "(the key)"))


async def refusal(response: Response, info: ModelInfo, url: str) -> ProviderError:
    """The error that an answer with a status other than 200 means."""
    text = (await response.body()).decode("utf-8", "replace").strip()
    status = response.status
    if 300 <= status < 400:
        target = response.headers.get("location", "another address")
        return ProviderError(
            f"{url} redirects to {target}. Set the base URL to where it leads.",
            problem="bad-request",
            status=status,
        )
    wait = asked_delay(response.headers, text)
    body = _decoded(text)
    error = failure_of(status, body, retry_after=wait)
    should = response.headers.get("x-should-retry", "").strip().lower()
    if should in {"true", "false"} and error.problem != "overflow":
        # The vendors' own libraries follow this word before any rule of theirs.
        error.retryable = should == "true"
    if status == 404 and (not text or not isinstance(body, dict)):
        return ProviderError(
            f"Nothing answers at {url} (HTTP 404). Check the base URL.",
            problem="bad-request",
            status=status,
        )
    return explained(error, info)


def not_a_stream(head: bytes, url: str) -> ProviderError:
    """The error for a body with status 200 that is neither events nor an answer of the API."""
    text = head.decode("utf-8", "replace").strip()
    if not text:
        return ProviderError(
            "The provider sent an empty answer.", problem="broken-stream", retryable=True
        )
    if _is_page(text):
        return ProviderError(
            f"{url} answered with a web page ({_page_title(text)}), not with a model's answer."
            " Check the base URL, or a proxy or login page in between.",
            problem="not-a-stream",
        )
    return ProviderError(
        f"{url} answered with something that is no event stream: {text[:200]}",
        problem="not-a-stream",
    )


def explained(error: ProviderError, info: ModelInfo) -> ProviderError:
    """The same error with the provider's name and advice around the provider's own words."""
    words = str(error)
    if len(words) > _SHOWN:
        words = f"{words[:_SHOWN]}..."
    who, status = info.provider, f" (HTTP {error.status})" if error.status else ""
    provider = find_provider(info.provider)
    variable = provider.key_variables[0] if provider and provider.key_variables else "the key"
    match error.problem:
        case "overflow":
            text = f"The request does not fit into the context window of {info.id}: {words}"
        case "wrong-key":
            advice = f"Check {variable} or --api-key."
            text = f"{who} rejected the API key{status}: {_sentence(words)} {advice}"
        case "no-credit":
            text = f"{who}: no credit is left, or a quota is used up{status}: {words}"
        case "forbidden":
            text = f"{who} does not allow this{status}: {words}"
        case "unknown-model":
            text = f"{who} does not offer the model `{info.id}`{status}: {words}"
        case "rate-limit":
            text = f"{who}: too many requests{status}: {words}"
        case "overloaded":
            text = f"{who} is overloaded{status}: {words}"
        case "bad-request":
            text = f"{who} refused the request{status}: {words}"
        case _:
            text = f"{who} failed{status}: {words}"
    return _again(error, text)


def with_names(error: ProviderError, names: list[str]) -> ProviderError:
    """The error for an unknown model, with the names that were perhaps meant."""
    if not names:
        return error
    quoted = ", ".join(f"`{name}`" for name in names)
    return _again(error, f"{str(error).rstrip('.')}. Offered there: {quoted}.")


def too_long_a_wait(error: ProviderError, cap: float) -> ProviderError:
    """The error for a wait that is longer than anybody would sit through."""
    wait = describe_seconds(error.retry_after or 0)
    asked = f"The provider asks to wait {wait}, more than the limit of {cap:.0f} s."
    final = _again(error, f"{_sentence(str(error))} {asked}")
    final.retryable = False
    return final


def _sentence(words: str) -> str:
    return words if words.rstrip()[-1:] in {".", "!", "?", ":", ""} else f"{words.rstrip()}."


def _decoded(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        pass
    if text[:1] in {"{", "["}:
        import json

        # The standard parser takes lone surrogates and raw control characters.
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(text, strict=False)
    return _page_title(text) if _is_page(text) else text


def _again(error: ProviderError, text: str) -> ProviderError:
    if isinstance(error, ContextOverflow):
        return ContextOverflow(text, status=error.status)
    return ProviderError(
        text,
        problem=error.problem,
        status=error.status,
        retryable=error.retryable,
        retry_after=error.retry_after,
    )


def _is_page(text: str) -> bool:
    start = text[:500].lower()
    return start.startswith(("<!doctype", "<html", "<?xml")) or "<html" in start


def _page_title(text: str) -> str:
    title = _TITLE.search(text)
    words = html.unescape(" ".join(title.group(1).split())) if title else ""
    return words or "a web page without a title"
