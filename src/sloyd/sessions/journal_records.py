"""The lines of the journal: what is written about a change to a file, and when.

A change writes two lines: `Begun` before it is made, `Ended` after it was made or given up. A
`Begun` without an `Ended` is a change that a kill interrupted; both contents are known by their
digests, so whoever looks at the file knows whether it was made.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable
from typing import TypeAlias

import msgspec

__all__ = ["Begun", "Content", "Ended", "Record", "decode", "digest_of", "encode", "path_fields"]


class Content(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file's content at one moment, by its digest.

    Attributes:
        sha256: the digest, in hexadecimal.
        size: in bytes.
        data: the bytes themselves, where they are few.
        kept: whether the bytes are in the journal at all.
    """

    sha256: str
    size: int
    data: bytes | None = None
    kept: bool = False


class Begun(msgspec.Struct, frozen=True, tag="begun", rename="camel", omit_defaults=True):
    """A change is about to be made.

    Attributes:
        id: names the change.
        time: seconds since 1970.
        path: the real path; base64 of its bytes in ``path_bytes`` where they are not UTF-8.
        before: the old content; None for a file that is created.
        after: the new content; None for a file that is removed.
        undoes: the change that this one takes back.
    """

    id: str
    time: float
    tool: str
    call_id: str
    path: str
    before: Content | None
    after: Content | None
    path_bytes: str | None = None
    session_id: str | None = None
    cwd: str | None = None
    undoes: str | None = None

    def real_path(self) -> str:
        """The path as a workspace takes it."""
        if self.path_bytes is None:
            return self.path
        return os.fsdecode(base64.b64decode(self.path_bytes))


class Ended(msgspec.Struct, frozen=True, tag="ended"):
    """A change has been made, or has been given up."""

    id: str
    made: bool


Record: TypeAlias = Begun | Ended

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Record)


def encode(record: Record) -> bytes:
    """The record as one line, without its end."""
    return _encoder.encode(record)


def decode(line: bytes) -> Record | None:
    """The record of a line, or None for a line that a kill has torn or a hand has damaged."""
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def path_fields(path: str) -> tuple[str, str | None]:
    """``path`` and ``path_bytes`` of `Begun`; JSON holds no bytes that are not UTF-8."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raw = os.fsencode(path)
        return raw.decode("utf-8", "replace"), base64.b64encode(raw).decode("ascii")
    return path, None


def digest_of(pieces: Iterable[bytes]) -> tuple[str, int]:
    """The SHA-256 of the pieces, and how many bytes they have."""
    digest = hashlib.sha256()
    size = 0
    for piece in pieces:
        digest.update(piece)
        size += len(piece)
    return digest.hexdigest(), size
