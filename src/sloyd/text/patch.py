"""The patch that ``git apply`` and ``patch -p1`` take, on the bytes that are really in the file.

Text that is valid UTF-8 gives a unified diff with four lines of context; a CR before a line end is
part of the line. Undecodable bytes and UTF-16 cannot stand in such a text, so files of that kind
get git's own binary form (plain ASCII, a delta; ``git apply`` takes it, ``patch`` does not).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sloyd.text.changes import LineChange, split_lines
from sloyd.text.diff import context_after, context_before, grouped
from sloyd.text.splice import Replacement

__all__ = ["MAX_PATCH", "binary_patch", "unified_patch"]

MAX_PATCH: Final = 2 * 1024 * 1024
"""Most bytes of a patch; a larger one is not made. A cut patch would be worse than none."""

_MAX_BINARY_FILE: Final = 16 * 1024 * 1024


def unified_patch(
    data: bytes, changes: Sequence[LineChange], path: str, *, created: bool = False
) -> str | None:
    """The unified diff; ``data`` is the old content, byte order mark included.

    ``path`` is relative and has ``/`` between its parts. None when the changed lines or their
    context are not valid UTF-8, or when it would be larger than `MAX_PATCH`.
    """
    if not changes:
        return ""
    name = _quoted("b/" + path)
    old_name = "/dev/null" if created else _quoted("a/" + path)
    parts = [f"--- {old_name}\n+++ {name}\n".encode("utf-8", "surrogateescape")]
    size = 0
    for group in grouped(changes):
        hunk = _hunk(data, group)
        size += len(hunk)
        if size > MAX_PATCH:
            return None
        parts.append(hunk)
    try:
        return b"".join(parts).decode()
    except UnicodeDecodeError:
        return None


def _hunk(data: bytes, group: Sequence[LineChange]) -> bytes:
    before = context_before(data, group[0].start)
    lines = [b" " + line for line in before]
    old_count = new_count = len(before)
    position = group[0].start
    for change in group:
        between = split_lines(data[position : change.start])
        lines += [b" " + line for line in between]
        lines += [b"-" + line for line in change.old]
        lines += [b"+" + line for line in change.new]
        old_count += len(between) + len(change.old)
        new_count += len(between) + len(change.new)
        position = change.end
    after = context_after(data, position)
    lines += [b" " + line for line in after]
    old_count += len(after)
    new_count += len(after)
    old_line, new_line = group[0].old_line - len(before), group[0].new_line - len(before)
    header = f"@@ -{_range(old_line, old_count)} +{_range(new_line, new_count)} @@\n".encode()
    return header + b"".join(
        line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
        for line in lines
    )


def _range(line: int, count: int) -> str:
    # An empty range names the line before it.
    return f"{line if count else line - 1},{count}"


_ESCAPES: Final = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def _quoted(path: str) -> str:
    """A name as git writes it in a patch: quoted like a C string when it must be."""
    data = path.encode("utf-8", "surrogateescape")
    is_plain = all(byte >= 32 and byte not in (34, 92, 127) for byte in data) and _is_text(data)
    if is_plain and not path.endswith(" "):
        # A tab ends a name that has spaces in it.
        return path + "\t" if " " in path else path
    quoted = "".join(
        f"\\{_ESCAPES[byte]}"
        if byte in _ESCAPES
        else chr(byte)
        if 32 <= byte < 127
        else f"\\{byte:03o}"
        for byte in data
    )
    return f'"{quoted}"'


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def binary_patch(data: bytes, replacements: Sequence[Replacement], path: str) -> str | None:
    """git's binary patch from ``data`` to its splice, and back; None for files over 16 MiB."""
    if len(data) > _MAX_BINARY_FILE:
        return None
    from sloyd.text.binary_patch import forth_and_back

    return forth_and_back(data, replacements, _quoted("a/" + path), _quoted("b/" + path))
