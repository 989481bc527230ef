"""From a branch of the tree to the messages of a model request.

The latest compaction on the branch comes first, as its summary; then the entries from its first
kept one on; then everything after it. Context edits replace or leave out what an entry gives. pi's
extra roles become user messages. The system prompt is not in here: the harness builds it anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from sloyd.llm.messages import AssistantMessage, Message, Text, ToolResultMessage, UserMessage
from sloyd.sessions.codec import message_from_object, ms_from_iso
from sloyd.sessions.entries import (
    BashExecution,
    BranchSummary,
    BranchSummaryEntry,
    CompactionEntry,
    CompactionSummary,
    ContextEditEntry,
    CustomMessage,
    CustomMessageEntry,
    Entry,
    MessageEntry,
    ModelChangeEntry,
    SessionMessage,
    ThinkingLevelChangeEntry,
)
from sloyd.sessions.scan import Node

__all__ = ["ContextItem", "SessionContext", "build_context", "for_model"]

_COMPACTION_INTRO = "The conversation before this point was compacted. This is its summary:"
_BRANCH_INTRO = "This conversation left another branch and came back here. Its summary:"


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One message of the context and the entry that gave it.

    ``measured`` tells whether the usage of an assistant message still describes the context: not
    when a compaction or a context edit came after it.
    """

    entry_id: str
    message: Message
    measured: bool = True


@dataclass(frozen=True, slots=True)
class SessionContext:
    """What a branch gives to a request.

    Attributes:
        items: the messages and where they come from.
        provider: of the model that was last chosen or answered; None when there is none.
        model_id: the provider's name for that model.
        thinking_level: that was last chosen; None when none was.
        compaction_id: the compaction that the context begins with, if it does.
    """

    items: tuple[ContextItem, ...] = ()
    provider: str | None = None
    model_id: str | None = None
    thinking_level: str | None = None
    compaction_id: str | None = None

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages, in order."""
        return tuple(item.message for item in self.items)


def build_context(path: Sequence[Node], load: Callable[[Node], Entry]) -> SessionContext:
    """The context of a branch, given from its root to its leaf. Reads only what it needs."""
    nodes, compaction = _selected(path, load)
    edits: dict[str, ContextEditEntry] = {}
    last_change = -1
    for place, node in enumerate(nodes):
        if node.type == "context_edit":
            edit = load(node)
            if isinstance(edit, ContextEditEntry):
                edits[edit.target_id] = edit
                last_change = place
    items = []
    if compaction is not None:
        summary = load(compaction)
        items += _given(compaction, summary, None, measured=False)
    for place, node in enumerate(nodes):
        if node.type in {"message", "custom_message", "branch_summary"} and node.role != "system":
            measured = place > last_change
            if compaction is not None:
                measured = measured and node.line > compaction.line
            items += _given(node, load(node), edits.get(node.id), measured=measured)
    provider, model_id, thinking = _settings(path, load)
    return SessionContext(
        items=tuple(items),
        provider=provider,
        model_id=model_id,
        thinking_level=thinking,
        compaction_id=None if compaction is None else compaction.id,
    )


def _selected(
    path: Sequence[Node], load: Callable[[Node], Entry]
) -> tuple[Sequence[Node], Node | None]:
    """The nodes that count beside the latest compaction, and that compaction."""
    for place in range(len(path) - 1, -1, -1):
        if path[place].type != "compaction":
            continue
        entry = load(path[place])
        if not isinstance(entry, CompactionEntry):
            continue
        kept: Sequence[Node] = ()
        for start in range(place):
            if path[start].id == entry.first_kept_entry_id:
                kept = path[start:place]
                break
        return [*kept, *path[place + 1 :]], path[place]
    return path, None


def _given(
    node: Node, entry: Entry, edit: ContextEditEntry | None, *, measured: bool
) -> list[ContextItem]:
    message = for_model(_message_of(entry))
    if message is not None and edit is not None and not edit.restored:
        message = None if edit.replacement is None else _edited(message, edit.replacement.content)
    return [] if message is None else [ContextItem(node.id, message, measured)]


def _message_of(entry: Entry) -> SessionMessage | None:
    """The message that an entry stands for; None for those that stand for none."""
    if isinstance(entry, MessageEntry):
        return entry.message
    stamp = ms_from_iso(entry.timestamp)
    if isinstance(entry, CompactionEntry):
        return CompactionSummary(
            summary=entry.summary, tokens_before=entry.tokens_before, timestamp=stamp
        )
    if isinstance(entry, BranchSummaryEntry):
        return BranchSummary(summary=entry.summary, from_id=entry.from_id, timestamp=stamp)
    if isinstance(entry, CustomMessageEntry):
        return CustomMessage(custom_type=entry.custom_type, content=entry.content, timestamp=stamp)
    return None


def for_model(message: SessionMessage | None) -> Message | None:
    """The message as a model gets it; None when it gets nothing of it."""
    if isinstance(message, UserMessage | AssistantMessage | ToolResultMessage):
        return message
    if isinstance(message, CustomMessage):
        return UserMessage(content=message.content, timestamp=message.timestamp)
    if isinstance(message, BashExecution):
        if message.exclude_from_context:
            return None
        return UserMessage(content=_bash_text(message), timestamp=message.timestamp)
    if isinstance(message, CompactionSummary):
        text = f"{_COMPACTION_INTRO}\n\n<summary>\n{message.summary}\n</summary>"
        return UserMessage(content=text, timestamp=message.timestamp)
    if isinstance(message, BranchSummary):
        text = f"{_BRANCH_INTRO}\n\n<summary>\n{message.summary}\n</summary>"
        return UserMessage(content=text, timestamp=message.timestamp)
    return None


def _bash_text(run: BashExecution) -> str:
    parts = [f"Ran `{run.command}`", f"```\n{run.output}\n```" if run.output else "(no output)"]
    text = "\n".join(parts)
    if run.cancelled:
        text += "\n\n(command cancelled)"
    elif run.exit_code:
        text += f"\n\nCommand exited with code {run.exit_code}"
    if run.truncated and run.full_output_path:
        text += f"\n\n[Output truncated. Full output: {run.full_output_path}]"
    return text


def _edited(message: Message, content: Any) -> Message:
    """The message with other content, which is in the JSON form of its role."""
    if isinstance(message, AssistantMessage | ToolResultMessage) and isinstance(content, str):
        return msgspec.structs.replace(message, content=(Text(content),))
    whole = {**msgspec.to_builtins(message), "content": content}
    edited = message_from_object(whole, "")
    if isinstance(edited, UserMessage | AssistantMessage | ToolResultMessage):
        return edited
    return message


def _settings(
    path: Sequence[Node], load: Callable[[Node], Entry]
) -> tuple[str | None, str | None, str | None]:
    provider = model_id = thinking = None
    for node in reversed(path):
        if provider is None and (node.type == "model_change" or node.role == "assistant"):
            entry = load(node)
            if isinstance(entry, ModelChangeEntry):
                provider, model_id = entry.provider, entry.model_id
            elif isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
                provider = entry.message.provider or None
                model_id = entry.message.model or None
        elif thinking is None and node.type == "thinking_level_change":
            entry = load(node)
            if isinstance(entry, ThinkingLevelChangeEntry):
                thinking = entry.thinking_level
        if provider is not None and thinking is not None:
            break
    return provider, model_id, thinking
