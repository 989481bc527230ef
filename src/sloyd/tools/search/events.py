"""The JSON lines that ripgrep writes, read as they come and within bounded memory.

An event holds its whole line of the searched file, which may be as long as the file. Of an event
over `MOST_EVENT_BYTES` only its numbers are kept; the part of the line to show is fetched later.
"""

from __future__ import annotations

import base64
import re
from typing import Final, NamedTuple

import msgspec

from sloyd.tools.search.request import Block, ShownLine
from sloyd.tools.search.shown import shown_line

__all__ = ["MOST_EVENT_BYTES", "EventReader", "RipgrepEvent"]

MOST_EVENT_BYTES: Final = 1 << 20
_HEAD_BYTES: Final = 32_768
_TAIL_BYTES: Final = 8_192
# Inside a JSON string its quotation marks would be escaped, so neither can occur in a line.
_NUMBERS: Final = b'},"line_number":'
_FIRST_START: Final = re.compile(rb'[^\\]"\},"start":(\d+)')


class RipgrepEvent(NamedTuple):
    """``block`` is a match or a line of context; None marks the end of the file's events."""

    path: str
    block: Block | None
    is_binary: bool = False


class _Text(msgspec.Struct):
    text: str | None = None
    encoded: str | None = msgspec.field(name="bytes", default=None)

    def raw(self) -> bytes:
        if self.encoded is not None:
            return base64.b64decode(self.encoded)
        return (self.text or "").encode("utf-8", "surrogatepass")


class _Submatch(msgspec.Struct):
    start: int
    end: int


class _Data(msgspec.Struct):
    path: _Text | None = None
    lines: _Text | None = None
    line_number: int | None = None
    absolute_offset: int = 0
    submatches: list[_Submatch] = []
    binary_offset: int | None = None


class _Event(msgspec.Struct):
    type: str
    data: _Data


class EventReader:
    """Cuts the output into events."""

    def __init__(self) -> None:
        self._buffer = b""
        self._skipped: _LongEvent | None = None
        self._decoder = msgspec.json.Decoder(_Event)

    def feed(self, chunk: bytes) -> list[RipgrepEvent]:
        """The events that end in this chunk. Lines that are no events are passed over."""
        events: list[RipgrepEvent] = []
        position = 0
        while (end := chunk.find(b"\n", position)) >= 0:
            piece = chunk[position:end]
            position = end + 1
            if self._skipped is not None:
                self._skipped.feed(piece)
                event = self._skipped.event()
                self._skipped = None
            else:
                event = self._parsed(self._buffer + piece)
                self._buffer = b""
            if event is not None:
                events.append(event)
        rest = chunk[position:]
        if self._skipped is not None:
            self._skipped.feed(rest)
        else:
            self._buffer += rest
            if len(self._buffer) > MOST_EVENT_BYTES:
                self._skipped = _LongEvent()
                self._skipped.feed(self._buffer)
                self._buffer = b""
        return events

    def _parsed(self, line: bytes) -> RipgrepEvent | None:
        try:
            event = self._decoder.decode(line)
        except msgspec.MsgspecError:
            return None
        data = event.data
        if data.path is None:
            return None
        path = _path(data.path)
        if event.type == "end":
            return RipgrepEvent(path, None, is_binary=data.binary_offset is not None)
        if event.type not in ("match", "context") or data.lines is None:
            return None
        first = data.submatches[0] if data.submatches else _Submatch(0, 0)
        lines = tuple(_shown(data.lines.raw(), first))
        return RipgrepEvent(path, Block(data.line_number or 1, lines, event.type == "match"))


def _path(text: _Text) -> str:
    return text.raw().decode("utf-8", "surrogateescape").removeprefix("./")


def _shown(raw: bytes, first: _Submatch) -> list[ShownLine]:
    """The lines of a match, of which the first holds the start of it."""
    pieces = raw.split(b"\n")
    if len(pieces) > 1 and not pieces[-1]:
        pieces.pop()
    return [
        shown_line(piece, first.start, first.end) if number == 0 else shown_line(piece)
        for number, piece in enumerate(pieces)
    ]


class _LongEvent:
    """An event that is too long to keep: its head, and what follows the line of the file."""

    def __init__(self) -> None:
        self._head = b""
        self._tail = b""
        self._in_tail = False

    def feed(self, piece: bytes) -> None:
        if len(self._head) < _HEAD_BYTES:
            self._head += piece[: _HEAD_BYTES - len(self._head)]
        if self._in_tail:
            if len(self._tail) < _TAIL_BYTES:
                self._tail += piece[:_TAIL_BYTES]
            return
        # The marker may have begun in the piece before.
        joined = self._tail + piece
        found = joined.find(_NUMBERS)
        if found >= 0:
            self._in_tail = True
            self._tail = joined[found : found + _TAIL_BYTES]
        else:
            self._tail = joined[-len(_NUMBERS) :]

    def event(self) -> RipgrepEvent | None:
        number = re.match(rb'\},"line_number":(\d+),"absolute_offset":(\d+)', self._tail)
        path_end = self._head.find(b',"lines":')
        path_start = self._head.find(b'"path":')
        if number is None or path_end < 0 or path_start < 0:
            return None
        path = msgspec.json.decode(self._head[path_start + 7 : path_end], type=_Text)
        start = _FIRST_START.search(self._tail)
        window = (int(number[2]), int(start[1]) if start is not None else 0)
        line = ShownLine("", was_cut=True, window=window)
        is_match = self._head.startswith(b'{"type":"match"')
        return RipgrepEvent(_path(path), Block(int(number[1]), (line,), is_match))
