"""When a failed request is sent again, and after how long.

A provider's own word (``retry-after`` and its kin) is a lower bound; without one the delay doubles
from `RetryPolicy.base`. A wait beyond `RetryPolicy.cap` is not slept through in silence: the
request fails and says how long the provider wants.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

from sloyd.errors import ProviderError

__all__ = ["RetryPolicy", "asked_delay", "describe_seconds"]

# Patterns are compiled when they are first needed, which in most runs is never.
_DURATION = (
    r"^(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m(?!s))?(?:(?P<s>\d+(?:\.\d+)?)s)?(?:(?P<ms>\d+(?:\.\d+)?)ms)?$"
)
_IN_TEXT = (
    r"(?i)(?:try again|retry|available|reset)\w*\s+(?:again\s+)?(?:in|after)\s+"
    r"((?:\d+h)?(?:\d+m(?!s))?(?:\d+(?:\.\d+)?m?s)?)"
)
_RETRY_DELAY_FIELD = r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"'


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How to wait between attempts.

    Attributes:
        base: seconds before the first retry; doubled each time, with up to a quarter more so that
            clients which failed together do not come back together.
        cap: most seconds of one wait, and the longest ``retry-after`` that is obeyed.
    """

    base: float = 1.0
    cap: float = 60.0

    def delay(self, error: ProviderError, attempt: int) -> float | None:
        """Seconds to wait before retry number ``attempt`` (from 1); None when it is too long."""
        backoff = min(self.cap, self.base * 2.0 ** (attempt - 1) * (1 + random.random() / 4))
        if error.retry_after is None:
            return backoff
        if error.retry_after > self.cap:
            return None
        return max(error.retry_after, backoff)


def asked_delay(headers: Mapping[str, str], body: str = "") -> float | None:
    """Seconds that a provider asked to wait, or None when it did not say (or not readably).

    Read in this order: ``retry-after-ms``; ``retry-after`` as seconds, as ``20s`` or as an HTTP
    date (a past one is 0); Google's ``retryDelay``; "try again in 6m0s" in the text.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = (headers.get("retry-after") or "").strip()
    if value:
        seconds = _number(value)
        if seconds is None:
            seconds = _duration(value)
        if seconds is None:
            seconds = _until(value)
        if seconds is not None:
            return seconds
    field = re.search(_RETRY_DELAY_FIELD, body)
    if field:
        return float(field.group(1))
    mentioned = re.search(_IN_TEXT, body)
    return _duration(mentioned.group(1)) if mentioned else None


def describe_seconds(seconds: float) -> str:
    """``42 s``, ``5 min`` or ``3.5 h``: a wait for people."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < float("inf") else None


def _duration(text: str) -> float | None:
    match = re.match(_DURATION, text.strip())
    if not match or not match.group():
        return None
    hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000


def _until(text: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, moment - time.time())
