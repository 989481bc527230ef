"""Reading a session file: one pass that notes where each entry is, and decodes nothing else.

Each line is looked at for its id, parent and type only; a 100 MB file of 100,000 entries takes
about a fifth of a second, and memory grows with the number of entries, not with their size. The
pass ends for every file: an entry's parent is always one that stands before it, so there are no
cycles. Whatever is wrong with a line is a `Problem` with its number, and the rest loads.

Lines end at ``\\n`` only: U+2028 and its kin are text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from sloyd.errors import SessionError
from sloyd.sessions.codec import load_object
from sloyd.sessions.entries import SessionHeader

__all__ = ["Node", "Problem", "Scan", "decode_header", "scan_lines"]

_BOM = b"\xef\xbb\xbf"


class Node(msgspec.Struct, gc=False):
    """One entry's place in the file and in the tree.

    Attributes:
        parent_id: the entry it follows, as we link it: None, or an entry that stands before it.
        type: of the entry, as in the file.
        role: of its message, for entries of the type ``message``; else empty.
        offset: of the line's first byte in the file.
        length: of the line in bytes, without its line end.
        line: number of the line in the file, from 1.
        relinked: whether the file names another parent, which is not there.
    """

    id: str
    parent_id: str | None
    type: str
    role: str
    offset: int
    length: int
    line: int
    relinked: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that could not be used as it stands. It stays in the file."""

    line: int
    reason: str
    offset: int
    length: int

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


@dataclass(slots=True)
class Scan:
    """What a pass over the lines found.

    Attributes:
        nodes: by id, in the order of the file.
        end: number of bytes.
        whole: whether the last line has its line end (an empty file has).
        lines: number of lines.
    """

    header: SessionHeader
    header_line: bytes
    nodes: dict[str, Node] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    end: int = 0
    whole: bool = True
    lines: int = 0
    last_id: str | None = None

    def add(self, node: Node) -> None:
        """Put an entry behind all others."""
        self.nodes[node.id] = node
        self.last_id = node.id


class _Role(msgspec.Struct, gc=False):
    role: str = ""


class _Outline(msgspec.Struct, gc=False):
    type: str
    id: str
    parent_id: str | msgspec.UnsetType | None = msgspec.field(
        default=msgspec.UNSET, name="parentId"
    )
    message: _Role | None = None


_decode_outline = msgspec.json.Decoder(_Outline).decode
_decode_header = msgspec.json.Decoder(SessionHeader).decode


def decode_header(line: bytes, name: str) -> SessionHeader:
    """The header in a file's first line; ``name`` is the file's, for the message.

    Raises `SessionError` when the line is no session header.
    """
    line = line.removeprefix(_BOM)
    try:
        return _decode_header(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    try:
        data = load_object(line)
    except SessionError as error:
        raise SessionError(f"{name} is not a session file: its first line is {error}") from None
    if data.get("type") != "session" or not isinstance(data.get("id"), str):
        raise SessionError(f"{name} is not a session file: its first line is no session header")
    version = data.get("version", 1)
    parent = data.get("parentSession")
    return SessionHeader(
        version=version if isinstance(version, int) else 1,
        id=data["id"],
        timestamp=str(data.get("timestamp") or ""),
        cwd=str(data.get("cwd") or ""),
        parent_session=parent if isinstance(parent, str) else None,
    )


def scan_lines(lines: Iterable[bytes], name: str) -> Scan:
    """Note every entry of a session. ``lines`` have their line ends; the first is the header.

    Raises `SessionError` when there is no header.
    """
    scan: Scan | None = None
    offset = number = 0
    line = b"\n"
    for number, line in enumerate(lines, 1):
        body = line.rstrip(b"\r\n ")
        if not body or (scan is None and body == _BOM):
            pass
        elif scan is None:
            scan = Scan(header=decode_header(body, name), header_line=body.removeprefix(_BOM))
        else:
            _note(scan, body, offset, number)
        offset += len(line)
    if scan is None:
        raise SessionError(f"{name} is empty, not a session file")
    scan.end = offset
    scan.whole = line.endswith(b"\n")
    scan.lines = number
    return scan


def _note(scan: Scan, body: bytes, offset: int, number: int) -> None:
    try:
        outline = _decode_outline(body)
        if not outline.id or outline.type == "session":
            outline = _lenient_outline(load_object(body))
    except SessionError as error:
        scan.problems.append(Problem(number, str(error), offset, len(body)))
        return
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        try:
            outline = _lenient_outline(load_object(body))
        except SessionError as error:
            scan.problems.append(Problem(number, str(error), offset, len(body)))
            return
    if outline.id in scan.nodes:
        reason = f"the id {outline.id} is taken by line {scan.nodes[outline.id].line}"
        scan.problems.append(Problem(number, reason, offset, len(body)))
        return
    parent = outline.parent_id
    relinked = False
    if parent is msgspec.UNSET:
        parent = scan.last_id
        relinked = True
    elif parent is not None and parent not in scan.nodes:
        reason = f"its parent {parent} does not stand before it"
        where = "it is the first entry" if scan.last_id is None else f"it follows {scan.last_id}"
        scan.problems.append(Problem(number, f"{reason}; now {where}", offset, len(body)))
        parent = scan.last_id
        relinked = True
    role = outline.message.role if outline.message is not None else ""
    scan.add(Node(outline.id, parent, outline.type, role, offset, len(body), number, relinked))


def _lenient_outline(data: dict[str, Any]) -> _Outline:
    kind, identifier = data.get("type"), data.get("id")
    if not isinstance(kind, str):
        raise SessionError("an entry without a type")
    if kind == "session":
        raise SessionError("a second session header")
    if not isinstance(identifier, str) or not identifier:
        raise SessionError("an entry without an id")
    parent = data.get("parentId", msgspec.UNSET)
    if parent is not None and not isinstance(parent, str):
        parent = msgspec.UNSET
    message = data.get("message")
    role = message.get("role") if isinstance(message, dict) else None
    return _Outline(kind, identifier, parent, _Role(role) if isinstance(role, str) else None)
