"""How long a provider asked to wait, in every spelling, and how long is waited."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from sloyd.errors import ProviderError
from sloyd.llm.retry import RetryPolicy, asked_delay, describe_seconds


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        ({"retry-after": "3"}, "", 3.0),
        ({"retry-after": "2.5"}, "", 2.5),
        ({"retry-after": " 20s "}, "", 20.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, "", 1.5),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "-5"}, "", None),
        ({"retry-after": "nan"}, "", None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", 0.0),
        ({"retry-after": "86400"}, "", 86400.0),
        ({}, '{"error": {"details": [{"retryDelay": "34.5s"}]}}', 34.5),
        ({}, "Rate limit reached. Please try again in 6m0s.", 360.0),
        ({}, "Please try again in 1.2s. Visit ...", 1.2),
        ({}, "try again in 350ms", 0.35),
        ({}, "try again later", None),
        ({}, "", None),
    ],
)
def test_waits_are_read(headers: dict[str, str], body: str, expected: float | None) -> None:
    assert asked_delay(headers, body) == expected


def test_a_date_is_read_as_the_time_until_then() -> None:
    wait = asked_delay({"retry-after": formatdate(time.time() + 4, usegmt=True)})
    assert wait is not None
    assert 2.5 <= wait <= 4


def _error(wait: float | None) -> ProviderError:
    return ProviderError("busy", retryable=True, retry_after=wait)


def test_the_delay_doubles_within_its_cap() -> None:
    policy = RetryPolicy(base=1, cap=5)
    delays = [policy.delay(_error(None), attempt) for attempt in range(1, 6)]
    for delay, least in zip(delays, [1, 2, 4, 5, 5], strict=True):
        assert delay is not None
        assert least <= delay <= min(5, least * 1.25)


def test_a_named_wait_is_a_lower_bound_and_has_a_cap() -> None:
    policy = RetryPolicy(base=0.01, cap=60)
    assert policy.delay(_error(30), 1) == 30
    assert policy.delay(_error(0), 1) is not None
    assert policy.delay(_error(86400), 1) is None


def test_waits_for_people() -> None:
    assert describe_seconds(42) == "42 s"
    assert describe_seconds(600) == "10 min"
    assert describe_seconds(86400) == "24.0 h"
