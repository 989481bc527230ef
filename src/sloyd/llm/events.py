"""The events of one model stream, in the order in which they may come.

`Start` first; then any mix of deltas, where ``index`` is the place of the block in the message's
content; then exactly one of `Done` and `Failed`. A stream may fail without having started.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from sloyd.errors import ProviderError
from sloyd.llm.messages import AssistantMessage, ToolCall

__all__ = [
    "Done",
    "Failed",
    "Retrying",
    "Start",
    "StreamEvent",
    "TextDelta",
    "ThinkingDelta",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
]


class Retrying(msgspec.Struct, frozen=True):
    """The request failed and will be sent again. Comes before `Start`, or not at all.

    ``delay`` is in seconds; ``attempt`` counts from 1 (the first retry).
    """

    error: ProviderError
    attempt: int
    max_attempts: int
    delay: float


class Start(msgspec.Struct, frozen=True):
    """The provider accepted the request and has begun to answer."""


class TextDelta(msgspec.Struct, frozen=True):
    """More text of the block at ``index``."""

    index: int
    text: str


class ThinkingDelta(msgspec.Struct, frozen=True):
    """More reasoning of the block at ``index``."""

    index: int
    text: str


class ToolCallStart(msgspec.Struct, frozen=True):
    """A call has begun; its name is known."""

    index: int
    id: str
    name: str


class ToolCallDelta(msgspec.Struct, frozen=True):
    """More of the call's argument text, as the provider sends it."""

    index: int
    text: str


class ToolCallEnd(msgspec.Struct, frozen=True):
    """The call as it stands in the final message."""

    index: int
    call: ToolCall


class Done(msgspec.Struct, frozen=True):
    """The answer is complete."""

    message: AssistantMessage


class Failed(msgspec.Struct, frozen=True):
    """The answer did not complete; ``message`` holds what came (stop reason error or aborted)."""

    message: AssistantMessage
    error: ProviderError


StreamEvent: TypeAlias = (
    Retrying
    | Start
    | TextDelta
    | ThinkingDelta
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | Done
    | Failed
)
