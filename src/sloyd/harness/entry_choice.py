"""Which entry of the session a command speaks of: named by its id, or chosen from a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sloyd.errors import SessionError, UsageError
from sloyd.harness.door import Door
from sloyd.llm.messages import UserMessage
from sloyd.sessions.entries import Entry, MessageEntry
from sloyd.sessions.plain import entry_role, entry_text
from sloyd.sessions.session import Session

__all__ = ["choose_entry", "entry_row", "is_user_message"]

_WIDTH = 72


def is_user_message(entry: Entry) -> bool:
    """Whether a person said it to the model."""
    return isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage)


def entry_row(entry: Entry) -> str:
    """An entry in one line: its id, who speaks, and the first words."""
    words = " ".join(entry_text(entry).split())
    shown = words if len(words) <= _WIDTH else words[: _WIDTH - 1] + "…"
    return f"{entry.id}  {entry_role(entry)}: {shown}"


async def choose_entry(
    session: Session,
    named: str,
    door: Door,
    title: str,
    fits: Callable[[Entry], bool],
    *,
    among: Sequence[Entry] | None = None,
) -> Entry | None:
    """The entry of the active branch that a person means; None when they choose none.

    ``named`` is an id, its beginning, or empty. Raises `UsageError` when nothing fits, and when
    there is nobody to choose.
    """
    fitting = [entry for entry in (session.branch() if among is None else among) if fits(entry)]
    if named:
        found = [entry for entry in fitting if entry.id.startswith(named.strip())]
        if len(found) != 1:
            problem = "is the beginning of several ids" if found else "is none of them"
            listed = "\n".join(entry_row(entry) for entry in fitting[-20:])
            raise UsageError(f"{named.strip()} {problem}:\n{listed or '(there are none)'}")
        return found[0]
    if not fitting:
        raise SessionError("there is no message for that yet")
    if not door.can_ask:
        listed = "\n".join(entry_row(entry) for entry in fitting[-20:])
        raise UsageError(f"say which one, by its id:\n{listed}")
    newest_first = fitting[::-1]
    chosen = await door.select(title, [entry_row(entry) for entry in newest_first])
    return None if chosen is None else newest_first[chosen]
