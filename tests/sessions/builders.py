"""Small builders of messages and session files for the tests of this floor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sloyd.llm.messages import (
    AssistantMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from sloyd.sessions.session import Session

CASES = Path(__file__).parent.parent / "cases"
DATA = Path(__file__).parent / "data"


def user(text: str) -> UserMessage:
    return UserMessage(content=text)


def answer(text: str, *calls: ToolCall, usage: Usage | None = None) -> AssistantMessage:
    return AssistantMessage(
        content=(Text(text), *calls) if text else calls,
        api="openai-chat",
        provider="test",
        model="m",
        usage=usage or Usage(),
        stop_reason="toolUse" if calls else "stop",
    )


def call(call_id: str, name: str = "read", **arguments: Any) -> ToolCall:
    return ToolCall(call_id, name, arguments)


def result(call_id: str, text: str, name: str = "read", details: Any = None) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=call_id, tool_name=name, content=(Text(text),), details=details
    )


def texts(session: Session) -> list[str]:
    """The text of each message of the context."""
    found = []
    for message in session.context().messages:
        if isinstance(message, AssistantMessage):
            found.append(message.text)
        elif isinstance(message.content, str):
            found.append(message.content)
        else:
            found.append("".join(b.text for b in message.content if isinstance(b, Text)))
    return found


def lines_of(path: Path) -> list[Any]:
    """Every line of a session file as JSON; fails if one cannot be read."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]
