"""The active branch of a session as a Markdown document."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from sloyd.llm.messages import AssistantMessage, Text, Thinking, ToolCall, ToolResultMessage
from sloyd.sessions.entries import (
    BashExecution,
    BranchSummaryEntry,
    CompactionEntry,
    Entry,
    MessageEntry,
    ModelChangeEntry,
)
from sloyd.sessions.plain import content_text, entry_role, entry_text, first_line, indented_json
from sloyd.sessions.session import Session
from sloyd.text.terminal import plain_text

__all__ = ["markdown_file"]

_FENCES = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)


def markdown_file(session: Session) -> str:
    """The document. Tool results are in fences that their content cannot close."""
    entries = list(session.branch())
    title = session.name or next(
        (first_line(entry_text(entry)) for entry in entries if entry_role(entry) == "user"),
        "A session",
    )
    parts = [f"# {title}", f"`{session.cwd}`, {session.header.timestamp}"]
    for entry in entries:
        parts += _entry(entry)
    return "\n\n".join(part for part in parts if part) + "\n"


def _entry(entry: Entry) -> Iterator[str]:
    if isinstance(entry, ModelChangeEntry):
        yield f"*Model: {entry.provider}/{entry.model_id}*"
    elif isinstance(entry, CompactionEntry):
        yield f"## Compacted\n\n{entry.summary}"
    elif isinstance(entry, BranchSummaryEntry):
        yield f"## Summary of another branch\n\n{entry.summary}"
    elif isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
        yield from _answer(entry.message)
    elif isinstance(entry, MessageEntry) and isinstance(entry.message, ToolResultMessage):
        yield from _result(entry.message)
    elif isinstance(entry, MessageEntry) and isinstance(entry.message, BashExecution):
        yield f"## Command\n\n{_fenced(entry.message.command, 'bash')}"
        yield _fenced(plain_text(entry.message.output))
    elif (role := entry_role(entry)) and (text := entry_text(entry)):
        yield f"## {role.capitalize()}\n\n{text}"


def _answer(message: AssistantMessage) -> Iterator[str]:
    yield "## Assistant"
    for block in message.content:
        if isinstance(block, Text):
            yield block.text
        elif isinstance(block, Thinking):
            if block.thinking.strip():
                lines = block.thinking.strip().split("\n")
                yield "\n".join(f"> {line}".rstrip() for line in lines)
        else:
            yield _call(block)
    if message.stop_reason in ("error", "aborted"):
        yield f"**{message.stop_reason}**: {message.error_message or 'no reason given'}"


def _call(call: ToolCall) -> str:
    arguments = dict(call.arguments)
    command = arguments.pop("command", None)
    parts = [f"### {call.name}"]
    if isinstance(command, str):
        parts.append(_fenced(command, "bash"))
    elif command is not None:
        arguments["command"] = command
    if arguments:
        parts.append(_fenced(indented_json(arguments), "json"))
    return "\n\n".join(parts)


def _result(result: ToolResultMessage) -> Iterator[str]:
    details = msgspec.to_builtins(result.details, enc_hook=str)
    patch = details.get("patch") if isinstance(details, dict) else None
    outcome = "Error" if result.is_error else "Result"
    yield f"{outcome} of {result.tool_name}:"
    if isinstance(patch, str) and not result.is_error:
        yield _fenced(patch, "diff")
    else:
        yield _fenced(plain_text(content_text(result.content)))


def _fenced(text: str, language: str = "") -> str:
    longest = max((len(found[1]) for found in _FENCES.finditer(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
