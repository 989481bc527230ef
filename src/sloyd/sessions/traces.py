"""What is left of messages that were cut: the files they touched and a list of their entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sloyd.llm.messages import AssistantMessage, ToolResultMessage
from sloyd.sessions.context import ContextItem
from sloyd.sessions.plain import call_line, content_text, first_line

__all__ = ["FileLists", "entry_lines", "file_lists"]

_READERS = ("read",)
_WRITERS = ("write", "edit")
_MAX_LINES = 80
"""Lines of the list of cut entries; about 2,000 tokens."""


@dataclass(frozen=True, slots=True)
class FileLists:
    """Paths as the model named them, sorted; a file that was changed is not among the read."""

    read: tuple[str, ...]
    modified: tuple[str, ...]


def file_lists(items: Sequence[ContextItem], before: Mapping[str, Any]) -> FileLists:
    """The files of the calls that did not fail, and those of an earlier compaction's details."""
    read = _strings(before.get("readFiles"))
    modified = _strings(before.get("modifiedFiles"))
    failed = {
        item.message.tool_call_id
        for item in items
        if isinstance(item.message, ToolResultMessage) and item.message.is_error
    }
    for item in items:
        if not isinstance(item.message, AssistantMessage):
            continue
        for call in item.message.tool_calls:
            path = call.arguments.get("path")
            if not isinstance(path, str) or call.id in failed:
                continue
            if call.name in _READERS:
                read.add(path)
            elif call.name in _WRITERS:
                modified.add(path)
    return FileLists(tuple(sorted(read - modified)), tuple(sorted(modified)))


def entry_lines(items: Sequence[ContextItem], before: Any = None) -> list[str]:
    """One line for each message, its entry's id first; ``before`` are the lines of earlier cuts.

    When there are too many, results go first, and then the oldest; a last line says how many.
    """
    older = [line for line in before if isinstance(line, str)] if isinstance(before, list) else []
    newer = [(_line(item), isinstance(item.message, ToolResultMessage)) for item in items]
    missing = len(older) + len(newer) - _MAX_LINES
    if missing > 0:
        newer = [entry for entry in newer if not entry[1]]
    lines = [*older, *(line for line, _ in newer)]
    return lines[-_MAX_LINES:]


def _line(item: ContextItem) -> str:
    message = item.message
    if isinstance(message, ToolResultMessage):
        outcome = "error" if message.is_error else "result"
        text = f"{message.tool_name} {outcome}: {first_line(content_text(message.content), 60)}"
    elif isinstance(message, AssistantMessage):
        calls = "; ".join(first_line(call_line(call, 60), 70) for call in message.tool_calls)
        said = first_line(message.text)
        text = "assistant: " + " | ".join(part for part in (said, calls) if part)
    else:
        text = f"user: {first_line(content_text(message.content))}"
    return f"{item.entry_id} {text}"


def _strings(value: Any) -> set[str]:
    return {item for item in value if isinstance(item, str)} if isinstance(value, list) else set()
