"""Session files of version 1, a plain list of entries without ids, made into version 3.

Done in memory; the file is rewritten, in one step, only when something is appended to it. Version 2
needs no migration: it differs in one role's name, which the reader knows (`sloyd.sessions.mend`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sloyd.errors import SessionError
from sloyd.sessions.codec import encode_json, load_object
from sloyd.sessions.entries import FORMAT_VERSION

__all__ = ["migrate_lines"]


def migrate_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a version 1 file as those of version 3, bad lines as they are.

    Each entry follows the one before it, and its id is its place in the file, so that it is the
    same each time the file is opened.
    """
    previous: str | None = None
    place = 0  # counts what pi counts: every line that it can read, the header first
    for line in lines:
        body = line.rstrip(b"\r\n ").removeprefix(b"\xef\xbb\xbf")
        if not body:
            continue
        try:
            data = load_object(body)
        except SessionError:
            yield body + b"\n"
            continue
        if data.get("type") == "session":
            data["version"] = FORMAT_VERSION
        else:
            data |= {"id": f"{place:08x}", "parentId": previous}
            kept = data.pop("firstKeptEntryIndex", None)
            if isinstance(kept, int):
                data["firstKeptEntryId"] = f"{kept:08x}"
            previous = data["id"]
        place += 1
        yield encode_json(data) + b"\n"
