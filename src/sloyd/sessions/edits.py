"""Taking messages and results out of the context, and bringing them back.

Nothing is deleted: an edit is an entry of its own, and it counts for its branch only. A tool call
and its result stay together: with an answer go the results of its calls; in the place of a single
result stays a note, so that its call is still answered.
"""

from __future__ import annotations

from typing import Any

import msgspec

from sloyd.errors import SessionError
from sloyd.llm.messages import AssistantMessage, Message, ToolResultMessage, UserMessage, text_of
from sloyd.sessions.context import for_model
from sloyd.sessions.entries import (
    ContextEditEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
    Replacement,
)
from sloyd.sessions.session import Session

__all__ = ["drop", "dropped", "hide", "restore"]


def dropped(session: Session) -> dict[str, ContextEditEntry]:
    """The edits that count on the active branch, by the entry that they change."""
    edits: dict[str, ContextEditEntry] = {}
    for node in session.tree.branch():
        if node.type == "context_edit":
            entry = session.entry(node.id)
            if isinstance(entry, ContextEditEntry):
                edits[entry.target_id] = entry
    return {target: edit for target, edit in edits.items() if not edit.restored}


def hide(session: Session, entry_id: str) -> None:
    """Leave an entry out of the context, whatever it is: for a failed answer that is tried again.

    The results of its calls are left out with it. Raises `SessionError` if it gives no message.
    """
    _message(session, entry_id)
    for target in _group(session, entry_id):
        session.append(ContextEditEntry(target_id=target, replacement=None))


def drop(session: Session, entry_id: str) -> tuple[str, ...]:
    """Take a message or a result out of the context; the ids of all that went,
    none if it had gone before.

    Raises `SessionError` for an entry that is not on the active branch or gives no message.
    """
    message = _message(session, entry_id)
    if entry_id in dropped(session):
        return ()
    if not isinstance(message, ToolResultMessage):
        hide(session, entry_id)
        return _group(session, entry_id)
    size = len(text_of(message.content))
    note = (
        f"[The user took this result of {message.tool_name} ({size} characters) out of the "
        f"context. It is entry {entry_id} of the session.]"
    )
    session.append(ContextEditEntry(target_id=entry_id, replacement=Replacement(note)))
    return (entry_id,)


def restore(session: Session, entry_id: str) -> tuple[str, ...]:
    """Bring back what `drop` or `hide` took out; the ids of all that came back.

    With a result comes the answer that asked for it. Raises `SessionError` if the entry is not on
    the active branch; does nothing for one that is in the context.
    """
    message = _message(session, entry_id)
    edits = dropped(session)
    targets = _group(session, entry_id)
    if isinstance(message, ToolResultMessage):
        asker = _asker(session, entry_id, message.tool_call_id)
        if asker is not None and asker in edits:
            targets = _group(session, asker)
    back = tuple(target for target in targets if target in edits)
    for target in back:
        content = _content(session.entry(target))
        session.append(
            ContextEditEntry(target_id=target, replacement=Replacement(content), restored=True)
        )
    return back


def _message(session: Session, entry_id: str) -> Message:
    if all(node.id != entry_id for node in session.tree.branch()):
        raise SessionError(f"the active branch has no entry {entry_id}")
    entry = session.entry(entry_id)
    if isinstance(entry, CustomMessageEntry):
        return UserMessage(content=entry.content)
    message = for_model(entry.message) if isinstance(entry, MessageEntry) else None
    if message is None:
        raise SessionError(f"entry {entry_id} gives no message to the context")
    return message


def _group(session: Session, entry_id: str) -> tuple[str, ...]:
    """An entry, and if it is an answer with calls, the entries of their results behind it."""
    message = _message(session, entry_id)
    if not isinstance(message, AssistantMessage) or not message.tool_calls:
        return (entry_id,)
    open_calls = {call.id for call in message.tool_calls}
    group = [entry_id]
    behind = False
    for node in session.tree.branch():
        if node.id == entry_id:
            behind = True
        elif behind and node.role == "assistant":
            break
        elif behind and node.role == "toolResult":
            entry = session.entry(node.id)
            if (
                isinstance(entry, MessageEntry)
                and isinstance(entry.message, ToolResultMessage)
                and entry.message.tool_call_id in open_calls
            ):
                group.append(node.id)
    return tuple(group)


def _asker(session: Session, entry_id: str, call_id: str) -> str | None:
    asker = None
    for node in session.tree.path(entry_id):
        if node.role != "assistant":
            continue
        entry = session.entry(node.id)
        message = entry.message if isinstance(entry, MessageEntry) else None
        if isinstance(message, AssistantMessage) and any(
            call.id == call_id for call in message.tool_calls
        ):
            asker = node.id
    return asker


def _content(entry: Entry) -> Any:
    """The entry's own content in JSON form, for readers that do not know ``restored``."""
    if isinstance(entry, CustomMessageEntry):
        return msgspec.to_builtins(entry.content)
    assert isinstance(entry, MessageEntry)
    message = for_model(entry.message)
    assert message is not None
    return msgspec.to_builtins(message.content)
