"""What the full-text index is made of, and how a person's words become a query.

SQLite's tokenizer takes a run of Chinese or Japanese for one word. So each such character is made a
word of its own, by invisible spaces around it (U+200B), in the index and in the query alike.
"""

from __future__ import annotations

import re

__all__ = ["SCHEMA", "SCHEMA_VERSION", "match_expression", "searchable", "take_marks"]

SCHEMA_VERSION = 1
SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS files (
    id INTEGER PRIMARY KEY, path TEXT UNIQUE NOT NULL, inode INTEGER NOT NULL,
    size INTEGER NOT NULL, modified INTEGER NOT NULL, tail BLOB NOT NULL,
    cwd TEXT NOT NULL, summary TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, entry TEXT NOT NULL,
    role TEXT NOT NULL, stamp TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS entries_file ON entries (file);
CREATE VIRTUAL TABLE IF NOT EXISTS texts
    USING fts5(body, tokenize = 'unicode61 remove_diacritics 2');
PRAGMA user_version = {SCHEMA_VERSION};
COMMIT;
"""

_SPACE = "\u200b"
_IDEOGRAPH = re.compile(
    "[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_QUOTED = re.compile(r'"([^"]*)"?|([^\s"]+)')
_WORD = re.compile(r"\w")


def searchable(text: str) -> str:
    """The text as the index keeps it: clean UTF-8, ideographs apart."""
    clean = text.encode("utf-8", "replace").decode().replace("\0", " ")
    return _IDEOGRAPH.sub(lambda found: f"{_SPACE}{found[0]}{_SPACE}", clean)


def match_expression(query: str) -> str:
    """An FTS5 expression for words that must all be there; empty when there is no word.

    Nothing in ``query`` is taken for an operator. Words in double quotes are a phrase; the last
    word, if it is not quoted, may be the beginning of one.
    """
    parts = []
    unfinished = False
    for found in _QUOTED.finditer(query):
        quoted, plain = found[1], found[2]
        text = quoted if plain is None else plain
        if not _WORD.search(text):
            continue
        parts.append(f'"{searchable(text)}"')
        unfinished = plain is not None
    if not parts:
        return ""
    return " AND ".join(parts) + (" *" if unfinished else "")


def take_marks(excerpt: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The excerpt without our spaces and SQLite's marks (U+0002, U+0003), and the marks' places."""
    text: list[str] = []
    marks: list[tuple[int, int]] = []
    start = 0
    for character in excerpt:
        if character == "\x02":
            start = len(text)
        elif character == "\x03":
            marks.append((start, len(text)))
        elif character != _SPACE:
            text.append(" " if character.isspace() else character)
    return "".join(text), tuple(marks)
