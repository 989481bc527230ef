"""Server-sent events out of bytes, however the bytes are cut.

The rules are those of the HTML standard (section 9.2.6): lines end with LF, CR or CRLF, a leading
byte-order mark is dropped, lines that begin with a colon are comments, and an empty line ends an
event. Two liberties, because providers need them: an event that the end of the stream leaves
without its empty line is still an event, and every other character, U+2028 among them, is data.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SseEvent", "SseParser"]

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event. ``name`` is empty when the server gave none; ``data`` joins its lines by LF."""

    name: str
    data: str


class SseParser:
    """Feed it the body piece by piece; the work is linear in the bytes.

    Attributes:
        fields: how many ``field: value`` lines and comments were seen. A body without any is not
            an event stream, whatever its media type says.
    """

    __slots__ = ("_after_cr", "_at_start", "_data", "_name", "_partial", "fields")

    def __init__(self) -> None:
        self.fields = 0
        self._partial: list[bytes] = []
        self._after_cr = False
        self._at_start = True
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events that ``chunk`` completes."""
        if not chunk:
            return []
        if self._after_cr:
            self._after_cr = False
            if chunk[:1] == b"\n":
                chunk = chunk[1:]
                if not chunk:
                    return []
        # Joining only when a line ends keeps a line of many megabytes linear.
        if b"\n" not in chunk and b"\r" not in chunk:
            self._partial.append(chunk)
            return []
        if self._partial:
            self._partial.append(chunk)
            chunk = b"".join(self._partial)
            self._partial.clear()
        if self._at_start:
            self._at_start = False
            chunk = chunk.removeprefix(_BOM)
        lines = chunk.splitlines()
        last = chunk[-1:]
        if last == b"\r":
            self._after_cr = True
        elif last != b"\n":
            self._partial.append(lines.pop())
        events: list[SseEvent] = []
        for line in lines:
            self._line(line, events)
        return events

    def finish(self) -> list[SseEvent]:
        """What the end of the stream completes: a last line and a last event without their ends."""
        events: list[SseEvent] = []
        rest = b"".join(self._partial)
        self._partial.clear()
        if self._at_start:
            self._at_start = False
            rest = rest.removeprefix(_BOM)
        if rest:
            self._line(rest, events)
        self._line(b"", events)
        return events

    def _line(self, line: bytes, events: list[SseEvent]) -> None:
        if not line:
            if self._data:
                data = self._data[0] if len(self._data) == 1 else "\n".join(self._data)
                events.append(SseEvent(self._name, data))
                self._data = []
            self._name = ""
            return
        field, _, value = line.partition(b":")
        if field == b"data":
            self.fields += 1
            self._data.append(_without_space(value))
        elif field == b"event":
            self.fields += 1
            self._name = _without_space(value)
        elif field in {b"", b"id", b"retry"}:
            self.fields += 1


def _without_space(value: bytes) -> str:
    return value.removeprefix(b" ").decode("utf-8", "replace")
