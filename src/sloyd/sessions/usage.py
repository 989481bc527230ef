"""Adding up tokens and money."""

from __future__ import annotations

from typing import Any

import msgspec

from sloyd.llm.messages import Cost, Usage
from sloyd.sessions.estimate import usage_tokens

__all__ = ["sum_usage"]


def sum_usage(one: Usage, other: Usage) -> Usage:
    """Both together, tokens and cost."""
    left: dict[str, Any] = msgspec.structs.asdict(one)
    right: dict[str, Any] = msgspec.structs.asdict(other)
    left["total_tokens"], right["total_tokens"] = usage_tokens(one), usage_tokens(other)
    costs = (msgspec.structs.astuple(one.cost), msgspec.structs.astuple(other.cost))
    cost = Cost(*(a + b for a, b in zip(*costs, strict=True)))
    return Usage(**{key: left[key] + right[key] for key in left if key != "cost"}, cost=cost)
