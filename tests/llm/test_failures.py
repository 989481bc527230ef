"""What a provider's words mean: overflow, rate, quota, and which of them to try again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sloyd.errors import ContextOverflow
from sloyd.llm.failures import failure_of, is_overflow
from tests.llm.support import CASES

_TEXTS = json.loads((CASES / "overflow_texts.json").read_text())


@pytest.mark.parametrize("case", _TEXTS, ids=lambda case: case["text"][:40])
def test_overflow_is_told_from_what_only_sounds_like_it(case: dict[str, Any]) -> None:
    assert is_overflow(case["text"]) is case["overflow"]
    error = failure_of(400, {"error": {"message": case["text"]}})
    assert isinstance(error, ContextOverflow) is case["overflow"]


@pytest.mark.parametrize(
    ("status", "body", "problem", "retryable"),
    [
        (None, {"error": {"message": "Overloaded", "type": "overloaded_error"}}, "overloaded",
         True),
        (None, {"error": {"message": "rate limited", "code": 429}}, "rate-limit", True),
        (None, {"error": {"message": "bad gateway", "code": 502}}, "server", True),
        (None, {"code": "rate_limit_exceeded", "message": "slow down"}, "rate-limit", True),
        (None, {"code": "server_error", "message": "x"}, "server", True),
        (None, {"error": "model not loaded"}, "other", False),
        (None, "read ECONNRESET", "server", True),
        (None, {"error": {"message": "no, see request req_500429abc"}}, "other", False),
        (429, {"error": {"message": "Too many tokens, please wait"}}, "rate-limit", True),
        (429, {"error": {"code": "1308", "message": "Usage limit reached"}}, "no-credit", False),
        (429, {"error": {"code": "insufficient_quota"}}, "no-credit", False),
        (400, {"error": {"message": "Your credit balance is too low"}}, "no-credit", False),
        (529, {"error": {"message": "Overloaded"}}, "overloaded", True),
        (413, "", "overflow", False),
        (400, [{"error": {"message": "API key not valid", "status": "INVALID_ARGUMENT"}}],
         "wrong-key", False),
        (400, {"detail": "not a valid model ID"}, "unknown-model", False),
        (403, {"error": {"message": "not available in your region"}}, "forbidden", False),
        (500, None, "server", True),
        (418, {"odd": 1}, "bad-request", False),
        (None, {}, "other", False),
        (None, [], "other", False),
    ],
)  # fmt: skip
def test_words_and_statuses(status: int | None, body: Any, problem: str, retryable: bool) -> None:
    error = failure_of(status, body)
    assert error.problem == problem
    assert error.retryable is retryable
    assert str(error)


def test_a_quota_that_names_its_wait_is_only_a_rate() -> None:
    words = {"error": {"message": "You exceeded your current quota", "code": 429}}
    assert failure_of(429, words).problem == "no-credit"
    waiting = failure_of(429, words, retry_after=34.0)
    assert (waiting.problem, waiting.retry_after) == ("rate-limit", 34.0)


def test_what_stands_behind_a_router_is_shown() -> None:
    body = {"error": {"message": "Provider error", "code": 400, "metadata": {"raw": "bad tool"}}}
    assert "bad tool" in str(failure_of(400, body))
