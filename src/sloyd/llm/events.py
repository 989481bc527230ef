"""The events of one model stream, in the order in which they may come.

`Start` first; then any mix of deltas, where ``index`` is the place of the block in the message's
content; then exactly one of `Done` and `Failed`. A stream may fail without having started.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

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


@dataclass(frozen=True, slots=True)
class Retrying:
    """The request failed and will be sent again. Comes before `Start`, or not at all.

    ``delay`` is in seconds; ``attempt`` counts from 1 (the first retry).
    """

    error: ProviderError
    attempt: int
    max_attempts: int
    delay: float


@dataclass(frozen=True, slots=True)
class Start:
    """The provider accepted the request and has begun to answer."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the block at ``index``."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More reasoning of the block at ``index``."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A call has begun; its name is known."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of the call's argument text, as the provider sends it."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallEnd:
    """The call as it stands in the final message."""

    index: int
    call: ToolCall


@dataclass(frozen=True, slots=True)
class Done:
    """The answer is complete."""

    message: AssistantMessage


@dataclass(frozen=True, slots=True)
class Failed:
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
