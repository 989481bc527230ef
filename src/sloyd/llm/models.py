"""What a model is: facts about it, and the one thing it can do, which is to stream an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from sloyd.llm.events import StreamEvent
from sloyd.llm.messages import AssistantMessage, Cost, Message, Usage

__all__ = [
    "THINKING_LEVELS",
    "Context",
    "InputKind",
    "Model",
    "ModelInfo",
    "ModelStream",
    "PriceTier",
    "Prices",
    "StreamOptions",
    "ThinkingLevel",
    "ToolSchema",
    "cost_of",
]

ThinkingLevel: TypeAlias = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
THINKING_LEVELS: tuple[ThinkingLevel, ...] = (
    "off",
    "minimal",
    "low",
    "medium",
    "high",
    "xhigh",
    "max",
)
InputKind: TypeAlias = Literal["text", "image"]


class PriceTier(msgspec.Struct, frozen=True, rename="camel"):
    """Prices of a whole request whose input, cached tokens included, is above so many tokens."""

    above: int
    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0


class Prices(msgspec.Struct, frozen=True, rename="camel"):
    """US dollars for a million tokens of each kind."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    tiers: tuple[PriceTier, ...] = ()


class ModelInfo(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Facts of one model at one provider.

    Attributes:
        id: the provider's name for the model.
        provider: our name for the provider, such as ``openai``.
        api: the wire, such as ``openai-chat`` (see ``sloyd.llm.wires``).
        base_url: where the API lives, as the vendor's own SDK takes it.
        context_window: tokens of input and output together.
        max_output: most tokens of one answer.
        thinking_levels: the levels that the model accepts; only ``off`` for one that cannot think.
        quirks: what this server does differently; each wire documents the keys that it knows.
    """

    id: str
    provider: str
    api: str
    base_url: str = ""
    name: str = ""
    context_window: int = 128_000
    max_output: int = 16_384
    inputs: tuple[InputKind, ...] = ("text", "image")
    thinking_levels: tuple[ThinkingLevel, ...] = ("off", "minimal", "low", "medium", "high")
    prices: Prices = Prices()
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    quirks: Mapping[str, Any] = msgspec.field(default_factory=dict)


class ToolSchema(msgspec.Struct, frozen=True):
    """A tool as a model gets to know it. ``parameters`` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class Context(msgspec.Struct, frozen=True):
    """What one request carries."""

    system_prompt: str = ""
    messages: tuple[Message, ...] = ()
    tools: tuple[ToolSchema, ...] = ()


class StreamOptions(msgspec.Struct, frozen=True):
    """How one request is to be made.

    Attributes:
        thinking: how much to reason; clamped to what the model accepts.
        max_output: fewer tokens than the model's own limit, or None.
        session_id: a stable name of the conversation; providers route caches by it.
        max_retries: how often a request that failed before its first event is sent again.
        idle_timeout: seconds without any event after which the stream counts as dead.
    """

    thinking: ThinkingLevel = "off"
    max_output: int | None = None
    temperature: float | None = None
    session_id: str | None = None
    max_retries: int = 3
    idle_timeout: float = 300.0


class ModelStream(Protocol):
    """The events of one answer. Iterating never raises for what a provider did."""

    @property
    def message(self) -> AssistantMessage:
        """The message as far as it has come; after the last event, the final one."""

    def __aiter__(self) -> AsyncIterator[StreamEvent]: ...


class Model(Protocol):
    """Something that answers: a provider's model, a scripted one, a recorded one."""

    @property
    def info(self) -> ModelInfo: ...

    def stream(
        self, context: Context, options: StreamOptions = ...
    ) -> AbstractAsyncContextManager[ModelStream]:
        """Ask for one answer. Leaving the block early closes the connection."""


def cost_of(usage: Usage, prices: Prices) -> Usage:
    """The same usage with its cost filled in, by the highest tier that the input has passed."""
    size = usage.input + usage.cache_read + usage.cache_write
    passed = [tier for tier in prices.tiers if size > tier.above]
    rates = max(passed, key=lambda tier: tier.above) if passed else prices
    parts = (
        usage.input * rates.input / 1e6,
        usage.output * rates.output / 1e6,
        usage.cache_read * rates.cache_read / 1e6,
        usage.cache_write * rates.cache_write / 1e6,
    )
    return msgspec.structs.replace(usage, cost=Cost(*parts, total=sum(parts)))
