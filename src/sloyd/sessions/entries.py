"""The entries of a session file: pi's session format version 3 as typed structs.

The first line of a file is a `SessionHeader`; every other line is one entry with an ``id`` and the
``parentId`` that it follows, so the lines form a tree. Keys are camelCase in JSON. What Sloyd adds
stands in ``custom`` entries whose ``customType`` begins with ``sloyd.``, and in fields that another
reader may ignore; an entry type or a message role that is not listed here becomes an
`UnknownEntry` or `UnknownMessage` and keeps all of its JSON.

These structs are views. The bytes of a line stay what they are in the file, and whatever rewrites
or exports a session copies those bytes (see `sloyd.sessions.codec`), so no unknown field is lost.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from sloyd.llm.messages import (
    AssistantMessage,
    Text,
    ToolResultMessage,
    Usage,
    UserContent,
    UserMessage,
    now_ms,
)

__all__ = [
    "FORMAT_VERSION",
    "BashExecution",
    "BranchSummary",
    "BranchSummaryEntry",
    "CompactionEntry",
    "CompactionSummary",
    "ContextEditEntry",
    "CustomEntry",
    "CustomMessage",
    "CustomMessageEntry",
    "Entry",
    "LabelEntry",
    "MessageEntry",
    "ModelChangeEntry",
    "Replacement",
    "SessionHeader",
    "SessionInfoEntry",
    "SessionMessage",
    "SystemMessage",
    "ThinkingLevelChangeEntry",
    "UnknownEntry",
    "UnknownMessage",
    "UsageEntry",
]

FORMAT_VERSION = 3
"""The version of pi's session format that is written."""


class SessionHeader(
    msgspec.Struct, frozen=True, tag="session", tag_field="type", rename="camel", kw_only=True
):
    """The first line: what the session is and where it began.

    Attributes:
        version: of the format; a file without one is version 1, a plain list of entries.
        timestamp: ISO 8601 in UTC with milliseconds.
        cwd: the absolute working directory; empty in very old files.
        parent_session: path of the file that this one was forked from.
        sloyd: our additions: ``cwdIdentity`` (device and inode of ``cwd``, which find a directory
            again that was moved).
    """

    version: int = 1
    id: str
    timestamp: str = ""
    cwd: str = ""
    parent_session: str | None = None
    sloyd: dict[str, Any] | None = None


class SystemMessage(
    msgspec.Struct, frozen=True, tag="system", tag_field="role", rename="camel", kw_only=True
):
    """pi's record of its prompt and tools. Never part of our context: we build our own prompt."""

    content: str | tuple[Text, ...] = ""
    sections: dict[str, str | None] | None = None
    tools_added: list[Any] | None = None
    tools_removed: list[Any] | None = None
    timestamp: int = msgspec.field(default_factory=now_ms)


class BashExecution(
    msgspec.Struct, frozen=True, tag="bashExecution", tag_field="role", rename="camel", kw_only=True
):
    """A command that the user ran beside the conversation.

    ``exclude_from_context`` keeps it from the model.
    """

    command: str
    output: str = ""
    exit_code: int | None = None
    cancelled: bool = False
    truncated: bool = False
    full_output_path: str | None = None
    exclude_from_context: bool = False
    timestamp: int = msgspec.field(default_factory=now_ms)


class CustomMessage(
    msgspec.Struct, frozen=True, tag="custom", tag_field="role", rename="camel", kw_only=True
):
    """A message from an extension; the model gets its content as a user message."""

    custom_type: str = ""
    content: str | tuple[UserContent, ...] = ""
    display: bool = True
    details: Any = None
    timestamp: int = msgspec.field(default_factory=now_ms)


class BranchSummary(
    msgspec.Struct, frozen=True, tag="branchSummary", tag_field="role", rename="camel", kw_only=True
):
    """What happened on a branch that was left."""

    summary: str
    from_id: str | None = None
    timestamp: int = msgspec.field(default_factory=now_ms)


class CompactionSummary(
    msgspec.Struct,
    frozen=True,
    tag="compactionSummary",
    tag_field="role",
    rename="camel",
    kw_only=True,
):
    """What stands in the place of the messages that a compaction cut."""

    summary: str
    tokens_before: int = 0
    timestamp: int = msgspec.field(default_factory=now_ms)


class UnknownMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message that we cannot read: its role and all of its JSON. Never part of the context."""

    role: str
    data: dict[str, Any]


SessionMessage: TypeAlias = (
    UserMessage
    | AssistantMessage
    | ToolResultMessage
    | SystemMessage
    | BashExecution
    | CustomMessage
    | BranchSummary
    | CompactionSummary
    | UnknownMessage
)


class Entry(msgspec.Struct, frozen=True, tag_field="type", rename="camel", kw_only=True):
    """Base of all entries. A session fills in the three fields when it appends an entry.

    Attributes:
        id: eight hexadecimal digits as a rule; unique within the file.
        parent_id: the entry that this one follows; None for a root.
        timestamp: ISO 8601 in UTC with milliseconds.
    """

    id: str = ""
    parent_id: str | None = None
    timestamp: str = ""


class MessageEntry(Entry, frozen=True, tag="message", kw_only=True):
    """A message of the conversation."""

    message: SessionMessage


class ModelChangeEntry(Entry, frozen=True, tag="model_change", kw_only=True):
    """The user chose another model."""

    provider: str
    model_id: str


class ThinkingLevelChangeEntry(Entry, frozen=True, tag="thinking_level_change", kw_only=True):
    """The user chose another thinking level."""

    thinking_level: str


class CompactionEntry(Entry, frozen=True, tag="compaction", kw_only=True):
    """A summary in place of older entries.

    Attributes:
        first_kept_entry_id: the first entry before this one that stays in the context; the
            entry's own id when nothing before it stays.
        tokens_before: estimated size of the context that was compacted.
        details: ``readFiles`` and ``modifiedFiles``, and ours: ``cutEntries``, how many entries
            the summary stands for.
    """

    summary: str
    first_kept_entry_id: str
    tokens_before: int = 0
    usage: Usage | None = None
    details: Any = None
    from_hook: bool | None = None
    system_message: dict[str, Any] | None = None


class BranchSummaryEntry(Entry, frozen=True, tag="branch_summary", kw_only=True):
    """A summary of the branch that was left at ``from_id``; its parent is where we went on."""

    from_id: str | None = None
    summary: str
    usage: Usage | None = None
    details: Any = None
    from_hook: bool | None = None


class Replacement(msgspec.Struct, frozen=True):
    """Content that takes the place of a message's own: text, or blocks as in its message."""

    content: Any


class ContextEditEntry(Entry, frozen=True, tag="context_edit", kw_only=True):
    """Changes what an earlier entry gives to the context; the entry itself stays.

    ``replacement`` None leaves it out. ``restored`` is ours: the entry counts with its own content
    again, which ``replacement`` repeats for readers that do not know the field.
    """

    target_id: str
    replacement: Replacement | None = None
    restored: bool | None = None


class CustomEntry(Entry, frozen=True, tag="custom", kw_only=True):
    """State of an extension, or of Sloyd (``sloyd.*``). Never part of the context."""

    custom_type: str
    data: Any = None


class CustomMessageEntry(Entry, frozen=True, tag="custom_message", kw_only=True):
    """A message from an extension that the model gets as a user message."""

    custom_type: str = ""
    content: str | tuple[UserContent, ...] = ""
    display: bool = True
    details: Any = None


class UsageEntry(Entry, frozen=True, tag="usage", kw_only=True):
    """Tokens that were spent beside the conversation; ``kind`` says on what."""

    kind: str
    provider: str = ""
    model: str = ""
    usage: Usage
    note: str | None = None


class LabelEntry(Entry, frozen=True, tag="label", kw_only=True):
    """A bookmark on an entry; ``label`` None removes it."""

    target_id: str
    label: str | None = None


class SessionInfoEntry(Entry, frozen=True, tag="session_info", kw_only=True):
    """The session's name, for people; None or empty removes it."""

    name: str | None = None


class UnknownEntry(Entry, frozen=True, tag="unknown", kw_only=True):
    """An entry that we cannot read: its type and all of its JSON."""

    kind: str
    data: dict[str, Any]
