"""What a coding agent tells beside the events of its runs: session, model, compaction."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from sloyd.agent.events import AgentEvent, RunOutcome
from sloyd.llm.models import ThinkingLevel

__all__ = [
    "AgentSettled",
    "CompactionEnd",
    "CompactionStart",
    "HarnessEvent",
    "ModelChanged",
    "Notice",
    "RunHeader",
    "SessionChanged",
    "ThinkingChanged",
]


class _Event(msgspec.Struct, frozen=True, tag_field="type", rename="camel", kw_only=True):
    """Base of the events; gives them their common JSON form."""


class RunHeader(_Event, frozen=True, kw_only=True, tag="session"):
    """The first line of the JSON door: what follows, and where it happens.

    Attributes:
        version: of the session format and of the events.
        timestamp: when the session began, ISO 8601 in UTC.
    """

    version: int = 3
    id: str
    timestamp: str
    cwd: str
    provider: str
    model: str


class AgentSettled(_Event, frozen=True, tag="agent_settled"):
    """The prompt is done with: no retry and no recovery follows, and the agent is idle.

    ``agent_end`` ends one attempt; between two there may be a compaction or a wait.
    """

    outcome: RunOutcome
    error_message: str | None = None


class CompactionStart(_Event, frozen=True, tag="compaction_start"):
    """Older messages are being summarised."""

    reason: Literal["manual", "threshold", "overflow"]


class CompactionEnd(_Event, frozen=True, tag="compaction_end"):
    """The summary stands in the place of older messages, or, with an error, nothing changed.

    Without an entry and without an error there was nothing to compact.
    """

    reason: Literal["manual", "threshold", "overflow"]
    entry_id: str | None = None
    tokens_before: int = 0
    error_message: str | None = None


class SessionChanged(_Event, frozen=True, tag="session_changed"):
    """Another session, another branch of it, or another name is the conversation's now."""

    session_id: str
    reason: Literal["new", "open", "fork", "clone", "navigate", "edit", "name"]
    name: str | None = None


class ModelChanged(_Event, frozen=True, tag="model_changed"):
    """Another model answers from now on."""

    provider: str
    model: str


class ThinkingChanged(_Event, frozen=True, tag="thinking_changed"):
    """The model reasons more, or less, from now on."""

    level: ThinkingLevel


class Notice(_Event, frozen=True, tag="notice"):
    """Something that a person should know and that stops nothing."""

    message: str
    level: Literal["info", "warning", "error"] = "info"


HarnessEvent: TypeAlias = (
    AgentEvent
    | AgentSettled
    | CompactionStart
    | CompactionEnd
    | SessionChanged
    | ModelChanged
    | ThinkingChanged
    | Notice
)
