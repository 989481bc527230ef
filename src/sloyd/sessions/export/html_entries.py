"""Each entry of a session as an article of the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sloyd.llm.messages import (
    AssistantMessage,
    Text,
    Thinking,
    ToolResultMessage,
    UserMessage,
)
from sloyd.sessions.entries import (
    BashExecution,
    BranchSummary,
    BranchSummaryEntry,
    CompactionEntry,
    CompactionSummary,
    CustomMessage,
    CustomMessageEntry,
    Entry,
    MessageEntry,
    ModelChangeEntry,
    ThinkingLevelChangeEntry,
)
from sloyd.sessions.export.html_text import code_html, markdown_html, text_html
from sloyd.sessions.export.html_tools import content_html, fold, tool_card
from sloyd.text.terminal import plain_text

__all__ = ["Surroundings", "badges_html", "entry_html"]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an entry's article needs to know beside the entry.

    Attributes:
        results: entries of tool results by (entry of the answer, call id); these are shown with
            their calls and have no article of their own.
        labels: by entry id.
        dropped: entries that are not in the context of the active branch.
    """

    results: Mapping[tuple[str, str], MessageEntry]
    labels: Mapping[str, str]
    dropped: frozenset[str]


def entry_html(entry: Entry, around: Surroundings) -> str:
    """The inside of an entry's article; empty for entries that people need not see."""
    if isinstance(entry, MessageEntry):
        return _message(entry, around)
    if isinstance(entry, CompactionEntry):
        size = f"{entry.tokens_before:,} tokens"
        return fold(f"Compacted here ({size} before)", markdown_html(entry.summary))
    if isinstance(entry, BranchSummaryEntry):
        return fold("Summary of the branch that was left", markdown_html(entry.summary))
    if isinstance(entry, CustomMessageEntry):
        return _note(entry.custom_type, entry.content, shown=entry.display)
    if isinstance(entry, ModelChangeEntry):
        return f'<p class="quiet">Model: {text_html(f"{entry.provider}/{entry.model_id}")}</p>'
    if isinstance(entry, ThinkingLevelChangeEntry):
        return f'<p class="quiet">Thinking: {text_html(entry.thinking_level)}</p>'
    return ""


def _message(entry: MessageEntry, around: Surroundings) -> str:
    message = entry.message
    if isinstance(message, UserMessage):
        return content_html(message.content)
    if isinstance(message, AssistantMessage):
        return _answer(entry.id, message, around)
    if isinstance(message, ToolResultMessage):
        return fold(f"Result of {message.tool_name}", content_html(message.content))
    if isinstance(message, BashExecution):
        return _command(message)
    if isinstance(message, CustomMessage):
        return _note(message.custom_type, message.content, shown=message.display)
    if isinstance(message, CompactionSummary | BranchSummary):
        return fold("Summary", markdown_html(message.summary))
    return ""


def _answer(entry_id: str, message: AssistantMessage, around: Surroundings) -> str:
    parts = []
    for block in message.content:
        if isinstance(block, Text):
            if block.text.strip():
                parts.append(f'<div class="prose">{markdown_html(block.text)}</div>')
        elif isinstance(block, Thinking):
            if block.thinking.strip():
                body = f'<div class="plain">{text_html(block.thinking)}</div>'
                parts.append(f'<div class="thinking">{fold("Thinking", body)}</div>')
        else:
            found = around.results.get((entry_id, block.id))
            answer = found.message if found is not None else None
            result = answer if isinstance(answer, ToolResultMessage) else None
            badges = badges_html(found.id, around) if found is not None else ""
            parts.append(tool_card(block, result, badges))
    if message.stop_reason in ("error", "aborted", "length"):
        what = {"error": "failed", "aborted": "was stopped", "length": "was cut off"}
        reason = f": {message.error_message}" if message.error_message else ""
        parts.append(
            f'<p class="error">{text_html(f"The answer {what[message.stop_reason]}{reason}")}</p>'
        )
    return "".join(parts)


def badges_html(entry_id: str, around: Surroundings) -> str:
    """An entry's label, and whether it was taken out of the context."""
    badges = ""
    if entry_id in around.labels:
        badges += f'<mark class="label">{text_html(around.labels[entry_id])}</mark>'
    if entry_id in around.dropped:
        badges += '<mark class="dropped">not in the context</mark>'
    return badges


def _command(run: BashExecution) -> str:
    output = plain_text(run.output).rstrip("\n")
    note = "stopped" if run.cancelled else f"exit code {run.exit_code}" if run.exit_code else ""
    body = code_html(output) if output else ""
    if output.count("\n") > 14:
        body = fold(f"{output.count(chr(10)) + 1} lines", body)
    command = text_html(run.command)
    return (
        f'<section class="tool"><header><b>$</b> <code>{command}</code>'
        f"<small>{text_html(note)}</small></header>{body}</section>"
    )


def _note(kind: str, content: object, *, shown: bool) -> str:
    body = content_html(content) if isinstance(content, str | tuple) else ""
    return body if shown else fold(kind or "note", body)
