"""Getting back what a compaction cut, or an edit took out: the text of entries, by id or by words.

The harness makes a tool of it for the model; a person gets the same from ``sloyd sessions show``.
"""

from __future__ import annotations

from collections.abc import Sequence

from sloyd.errors import SessionError
from sloyd.sessions.plain import entry_role, entry_text
from sloyd.sessions.session import Session

__all__ = ["find_entries", "recall"]

_MAX_CHARACTERS = 40_000
_MAX_HITS = 20
_AROUND = 120


def recall(
    session: Session,
    entry_ids: Sequence[str] = (),
    *,
    query: str | None = None,
    max_characters: int = _MAX_CHARACTERS,
) -> str:
    """The text of entries, or where in the session some words stand.

    An id may be shortened as long as it is unique. Text beyond ``max_characters`` is left out, and
    the end says so. Raises `SessionError` for an id that is not there, with ids near it, and when
    neither ids nor words are given.
    """
    if query and query.strip():
        hits = find_entries(session, query)
        if not hits:
            return f"No entry of this session contains {query.strip()!r}."
        return "\n".join(f"{entry_id} {role}: {excerpt}" for entry_id, role, excerpt in hits)
    if not entry_ids:
        raise SessionError("give the ids of entries, or words to look for")
    parts = []
    for wanted in entry_ids:
        entry = session.entry(_full_id(session, wanted))
        role = entry_role(entry) or "entry"
        parts.append(f"[{role} {entry.id}, {entry.timestamp}]\n{entry_text(entry)}")
    text = "\n\n".join(parts)
    if len(text) > max_characters:
        left = len(text) - max_characters
        text = f"{text[:max_characters]}\n[{left} more characters; ask for fewer entries]"
    return text


def find_entries(
    session: Session, query: str, limit: int = _MAX_HITS
) -> list[tuple[str, str, str]]:
    """Entries that contain every word, newest first: id, role and the text around the first word.

    Words in double quotes belong together. Case does not matter. All branches are searched.
    """
    words = _words(query)
    hits: list[tuple[str, str, str]] = []
    for node in reversed(list(session.tree.nodes())):
        if node.type not in ("message", "custom_message", "compaction", "branch_summary"):
            continue
        entry = session.entry(node.id)
        text = entry_text(entry)
        folded = text.casefold()
        if words and all(word in folded for word in words):
            hits.append((node.id, entry_role(entry), _excerpt(text, folded.find(words[0]))))
            if len(hits) == limit:
                break
    return hits


def _words(query: str) -> list[str]:
    words: list[str] = []
    for place, part in enumerate(query.casefold().split('"')):
        words += [part] if place % 2 else part.split()
    return [word for word in words if word.strip()]


def _excerpt(text: str, place: int) -> str:
    start = max(place - _AROUND, 0)
    end = place + _AROUND
    line = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{line}{'…' if end < len(text) else ''}"


def _full_id(session: Session, wanted: str) -> str:
    ids = [node.id for node in session.tree.nodes()]
    if wanted in ids:
        return wanted
    matching = [entry_id for entry_id in ids if wanted and entry_id.startswith(wanted)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise SessionError(f"{wanted} is the beginning of several ids: {', '.join(matching[:5])}")
    raise SessionError(f"this session has no entry {wanted}")
