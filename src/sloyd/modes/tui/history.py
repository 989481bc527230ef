"""What was sent before, in all sessions: ``history.jsonl`` in Sloyd's home, for this user alone.

Several processes share the file. Lines are appended under a lock; when there are twice as many as
are kept, the file is written anew.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from sloyd.sessions.store import make_private_directory

__all__ = ["Browser", "History"]

_MOST_ENTRIES: Final = 2_000
_MOST_CHARACTERS: Final = 20_000
"""Longer texts are not kept: nobody looks for them by leafing, and each start reads the file."""


class _Line(msgspec.Struct, frozen=True):
    text: str


class History:
    """The texts that were sent. Failures of the disk cost the history and nothing else."""

    def __init__(self, path: Path, *, most: int = _MOST_ENTRIES) -> None:
        self._path = path
        self._most = most
        self._texts: list[str] = []
        self._seen: tuple[int, int, int] | None = None

    def texts(self) -> list[str]:
        """All texts, the oldest first, each once, as the file has them now."""
        try:
            stat = self._path.stat()
        except OSError:
            return list(self._texts)
        now = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        if now != self._seen:
            with suppress(OSError):
                self._texts = self._tidy(_decode(self._path.read_bytes()))
                self._seen = now
        return list(self._texts)

    def add(self, text: str) -> None:
        """Keep a text as the newest one."""
        if not text.strip() or len(text) > _MOST_CHARACTERS:
            return
        self._texts = self._tidy([*self._texts, text])
        line = msgspec.json.encode(_Line(text.encode("utf-8", "replace").decode())) + b"\n"
        with suppress(OSError), self._locked() as descriptor:
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            os.write(descriptor, b"\n" * torn + line)
            self._shorten()

    def search(self, words: str) -> list[str]:
        """The texts that contain the words, the newest first. Case does not matter."""
        wanted = words.casefold()
        return [text for text in reversed(self.texts()) if wanted in text.casefold()]

    def _tidy(self, texts: list[str]) -> list[str]:
        newest_first = list(dict.fromkeys(reversed(texts)))[: self._most]
        newest_first.reverse()
        return newest_first

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The file, open to append, while no other process changes it."""
        import fcntl

        make_private_directory(self._path.parent)
        while True:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if not _is_same(descriptor, self._path):
                    continue  # another process wrote it anew in between
                yield descriptor
                return
            finally:
                os.close(descriptor)

    def _shorten(self) -> None:
        data = self._path.read_bytes()
        if data.count(b"\n") <= 2 * self._most:
            return
        kept = self._tidy(_decode(data))
        lines = b"".join(msgspec.json.encode(_Line(text)) + b"\n" for text in kept)
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(lines)
        temporary.replace(self._path)


class Browser:
    """Leafing through the history, with the text that was being written at its end."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._texts: list[str] = []
        self._place = 0
        self._draft: str | None = None

    @property
    def is_active(self) -> bool:
        """Whether an old text is shown."""
        return self._draft is not None

    def older(self, current: str) -> str | None:
        """The text before; None when there is none. ``current`` is kept for the way back."""
        if self._draft is None:
            self._texts = self._history.texts()
            self._place = len(self._texts)
        place = self._place - 1
        while place >= 0 and self._texts[place] == current:
            place -= 1
        if place < 0:
            return None
        if self._draft is None:
            self._draft = current
        self._place = place
        return self._texts[place]

    def newer(self) -> str | None:
        """The text after, and behind the newest one what was being written; None beyond it."""
        if self._draft is None:
            return None
        self._place += 1
        if self._place < len(self._texts):
            return self._texts[self._place]
        draft, self._draft = self._draft, None
        return draft

    def leave(self) -> None:
        """What is shown is being edited now: leafing begins anew from it."""
        self._draft = None


def _decode(data: bytes) -> list[str]:
    texts = []
    for line in data.splitlines():
        with suppress(msgspec.DecodeError):
            texts.append(msgspec.json.decode(line, type=_Line).text)
    return texts


def _is_same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False
