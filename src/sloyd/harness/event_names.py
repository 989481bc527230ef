"""The names under which events can be heard: those of the JSON door, and a few of our own."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from sloyd.errors import UsageError
from sloyd.harness.events import HarnessEvent
from sloyd.text.suggestion import suggestion

__all__ = ["EVERY", "SessionStart", "check_event_name", "name_of"]

EVERY = "*"


class SessionStart(msgspec.Struct, frozen=True, tag="session_start", tag_field="type"):
    """The agent is ready. Only extensions and command hooks hear it."""

    session_id: str


def name_of(event: object) -> str:
    """The name of an event, or of its class."""
    config: Any = getattr(event, "__struct_config__", None)
    return str(config.tag) if config is not None else ""


def check_event_name(event: str | type) -> str:
    """The name that an event is heard under. Raises `UsageError` when there is none."""
    name = event if isinstance(event, str) else name_of(event)
    known = [EVERY, *(name_of(kind) for kind in (SessionStart, *get_args(HarnessEvent)))]
    if name in known:
        return name
    hint = suggestion(name, known, f"there are: {', '.join(known)}")
    raise UsageError(f"there is no event {name or event}{hint}")
