"""What a provider's refusal means: status and body in, one `ProviderError` out.

Providers agree on little: the same words come as a status, as an object in a 200 stream, as a bare
string. So the text decides where the status does not, and quota is told from rate, and a context
that overflowed from an output limit that was asked too high.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from sloyd.errors import ContextOverflow, ProviderError, ProviderProblem
from sloyd.llm.surrogates import clean_text
from sloyd.text.terminal import plain_text

__all__ = ["failure_of", "is_overflow", "message_in"]

# Texts, not compiled patterns: a start must not pay for what only a failure needs.
_OVERFLOW: Final = r"""(?ix)prompt\ (?:is\ )?too\ long
    | input\ is\ too\ long
    | input\ is\ longer\ than\ the\ model's\ context
    | exceeds?\ the\ (?:model's\ )?(?:maximum\ )?context\ (?:window|length|limit)
    | exceeds?\ the\ available\ context\ size
    | exceeds?\ (?:the\ )?maximum\ (?:number\ of\ tokens\ allowed|input\ length|prompt\ length)
    | exceeds?\ the\ limit\ of\ \d+
    | exceed(?:s|ed)?\ (?:the\ )?(?:model'?s?\ )?(?:max(?:imum)?\ )?context
      \ (?:window|length|limit|size)
    | exceeded\ model\ token\ limit
    | context\ window\ exceeds\ limit
    | context[_\ ]length[_\ ]exceeded
    | context_window_exceeded
    | model_max_prompt_tokens_exceeded
    | configured\ context\ size\ is
    | maximum\ context\ length
    | max(?:imum)?\ (?:allowed\ )?(?:prompt|input)\ length
    | greater\ than\ the\ context\ length
    | larger\ than\ the\ context\ (?:window|length|size)
    | too\ large\ for\ (?:the\ )?(?:model|context)
    | reduce\ the\ length\ of\ the\ (?:messages|prompt|input)
    | request_too_large
    | token\ limit\ exceeded
    | too\ many\ tokens
    | not\ enough\ context
    """
_RATE: Final = (
    r"(?i)rate[_ -]?limit|too many requests|throttl|please wait|slow down"
    r"|per[_ -](?:minute|second|hour)|resource[_ ]?exhausted|requests? limit"
)
_QUOTA: Final = (
    r"(?i)insufficient[_ ](?:quota|balance|credits?|funds)|credit balance"
    r"|out of (?:credits?|budget)"
    r"|exceeded your current quota|payment required|billing|usage limit|(?:monthly|weekly|daily|"
    r"spending|budget) limit|quota (?:exceeded|reached)|exceeded.{0,20} quota|more credits"
    r"|balance is (?:too low|insufficient)|usagelimitreached|freeusagelimit|prepayment"
)
_OVERLOAD: Final = r"(?i)overload|at capacity|over capacity|capacity exceeded"
_SERVER: Final = (
    r"(?i)server[_ ]?error|internal[_ ]error|api_error|bad gateway|gateway time-?out|unavailable"
    r"|temporarily|try again|retry your request|upstream|connection (?:error|reset|refused|lost)"
    r"|econnreset|socket hang up|fetch failed|network[_ ]error|premature|engine error"
)
_TIMEOUT: Final = r"(?i)timed? ?out|deadline exceeded|timeout"
_KEY: Final = (
    r"(?i)(?:invalid|incorrect|missing|no|bad|expired|wrong)[ _](?:x-)?api[-_ ]?key"
    r"|api[-_ ]?key (?:not valid|is (?:invalid|missing)|not found|expired|provided is invalid)"
    r"|authentication|unauthorized|unauthenticated|unregistered callers|invalid (?:bearer|token)"
)
_MODEL: Final = (
    r"(?is)model[_ ]not[_ ]found|(?:unknown|invalid|no such|unrecognized|unsupported) model"
    r"|not a valid model|model.{0,120}(?:does not exist|not found|not exist|is not supported"
    r"|not available|could not be found|do(?:es)? not have access)|no endpoints found for|^model: "
)
_REGION: Final = (
    r"(?i)unsupported_country|not available in your (?:country|region)|(?:country|region|territory)"
    r".{0,40}not supported|location is not supported"
)
_FINAL_QUOTA_CODES = frozenset({"1113", "1308", "1309", "1310", "insufficient_quota"})
"""Codes that stand for an empty account or a used-up plan although the status is 429 (Z.ai)."""

_MOST_MESSAGES = 10
_RETRYABLE: frozenset[ProviderProblem] = frozenset(
    {"rate-limit", "overloaded", "server", "timeout", "connection", "broken-stream"}
)


def is_overflow(text: str) -> bool:
    """Whether a provider's error text means that the request did not fit the context window."""
    return bool(re.search(_OVERFLOW, text)) and not re.search(_RATE, text)


def message_in(body: Any) -> tuple[str, str, str]:
    """The provider's own words in an error body: message, code, type. Any of them may be empty.

    Known shapes: ``{"error": {"message", "code", "type"}}``, ``{"error": "text"}``, the same in a
    list (Google), ``{"message"}``, ``{"detail": "text" | [{"msg"}]}``, ``{"errors": [...]}``.
    """
    if isinstance(body, str):
        return body.strip(), "", ""
    if isinstance(body, list):
        return _messages_in(body)
    if not isinstance(body, Mapping):
        return ("" if body is None else str(body)), "", ""
    inner = body.get("error")
    if isinstance(inner, Mapping):
        message, code, kind = message_in(inner)
        metadata = inner.get("metadata")
        if isinstance(metadata, Mapping) and isinstance(metadata.get("raw"), str):
            # OpenRouter wraps the message of the provider behind it.
            message = f"{message}: {metadata['raw'].strip()}"
        return message, code, kind
    if isinstance(inner, str) and inner:
        return inner, _word(body.get("code")), _word(body.get("type"))
    for key in ("message", "detail", "errors", "msg", "error_message"):
        value = body.get(key)
        if isinstance(value, str) and value:
            return value, _word(body.get("code")), _word(body.get("type") or body.get("status"))
        if isinstance(value, (list, Mapping)) and value:
            return message_in(value)
    code, kind = _word(body.get("code")), _word(body.get("type"))
    return (code or kind), code, kind


def _messages_in(parts: list[Any]) -> tuple[str, str, str]:
    """The first of several messages, or all of them when they name the fields that they mean."""
    located = [
        f"{part['msg']}: {'.'.join(map(str, part['loc']))}"
        for part in parts
        if isinstance(part, Mapping) and part.get("msg") and isinstance(part.get("loc"), list)
    ]
    if located:
        return "; ".join(located[:_MOST_MESSAGES]), "", ""
    return message_in(parts[0]) if parts else ("", "", "")


def failure_of(status: int | None, body: Any, *, retry_after: float | None = None) -> ProviderError:
    """The error that a status and a decoded body (object or text) stand for.

    Args:
        status: the HTTP status; None for an error inside a stream.
        retry_after: seconds that the provider asked to wait.
    """
    message, code, kind = message_in(body)
    if (status is None or status < 400) and code.isdigit() and 400 <= int(code) <= 599:
        status = int(code)
    # The code and the type are words to decide on; the message alone is for people.
    evidence = " ".join(filter(None, (message, code, kind)))
    problem = _problem(status, evidence, code, waits=retry_after is not None)
    shown = plain_text(clean_text(message)).strip()
    if not shown:
        shown = f"HTTP status {status} without a message" if status else "an empty error"
    if problem == "overflow":
        return ContextOverflow(shown, status=status)
    return ProviderError(
        shown,
        problem=problem,
        status=status,
        retryable=problem in _RETRYABLE or status in {408, 409},
        retry_after=retry_after,
    )


def _problem(status: int | None, evidence: str, code: str, *, waits: bool) -> ProviderProblem:
    if status == 413 or (status in {None, 400, 404, 422, 500} and is_overflow(evidence)):
        return "overflow"
    if status == 402 or code in _FINAL_QUOTA_CODES:
        return "no-credit"
    if re.search(_QUOTA, evidence) and not waits and status in {None, 400, 401, 403, 429}:
        return "no-credit"
    if re.search(_REGION, evidence):
        return "forbidden"
    if status == 401 or (status in {None, 400, 403} and re.search(_KEY, evidence)):
        return "wrong-key"
    if status == 403:
        return "forbidden"
    if status in {400, 404, 422} and re.search(_MODEL, evidence):
        return "unknown-model"
    return _by_status(status) or _by_text(evidence)


def _by_status(status: int | None) -> ProviderProblem | None:
    if status is None or status < 400:
        return None
    known: dict[int, ProviderProblem] = {
        404: "unknown-model",
        408: "timeout",
        409: "server",
        425: "server",
        429: "rate-limit",
        503: "overloaded",
        504: "timeout",
        524: "timeout",
        529: "overloaded",
    }
    return known.get(status) or ("server" if status >= 500 else "bad-request")


def _by_text(evidence: str) -> ProviderProblem:
    if re.search(_RATE, evidence):
        return "rate-limit"
    if re.search(_OVERLOAD, evidence):
        return "overloaded"
    if re.search(_MODEL, evidence):
        return "unknown-model"
    if re.search(_TIMEOUT, evidence):
        return "timeout"
    if re.search(_SERVER, evidence):
        return "server"
    return "other"


def _word(value: Any) -> str:
    return "" if value is None or isinstance(value, (dict, list)) else str(value)
