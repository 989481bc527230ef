"""Some lines out of a stream of bytes, with the true number of all its lines, in flat memory.

The stream is UTF-8 or bytes that take its place; lines end at LF. What lies before and behind the
wanted lines is only counted.
"""

from __future__ import annotations

__all__ = ["LineWindow"]


class LineWindow:
    """Collects the wanted part of a stream that is fed to it chunk by chunk.

    Args:
        first: number of the first wanted line; 1 is the file's first.
        most_lines: at most so many lines are kept, at least 1.
        most_bytes: at most so many bytes are kept; the last line may then be a part of one.
        column: where in the first line to start, a byte's number from 1, and only that line is
            kept; None means whole lines.

    Attributes:
        content: the bytes that were kept.
        first_length: bytes of the first wanted line, without its LF.
        size: all bytes of the stream.
    """

    def __init__(
        self, first: int, most_lines: int, most_bytes: int, column: int | None = None
    ) -> None:
        self.content = bytearray()
        self.first_length = 0
        self.size = 0
        self._first = first
        self._most_bytes = most_bytes
        self._lines_left = most_lines
        self._only_first = column is not None
        self._to_skip = (column or 1) - 1
        self._newlines = 0
        self._started = first == 1
        self._first_ended = False
        self._last = b""

    @property
    def total_lines(self) -> int:
        """Lines of what was fed so far; a final LF starts no further line."""
        return self._newlines + (self.size > 0 and self._last != b"\n")

    def feed(self, chunk: bytes) -> None:
        """Take the next chunk, which is not empty."""
        count = chunk.count(b"\n")
        self.size += len(chunk)
        self._last = chunk[-1:]
        position = 0
        if not self._started:
            before = self._first - 1 - self._newlines
            if count >= before:
                self._started = True
                position = _end_of_line(chunk, before)
        self._newlines += count
        if self._started and not self._is_done() and position < len(chunk):
            self._collect(chunk, position)

    def _is_done(self) -> bool:
        is_full = len(self.content) >= self._most_bytes or self._lines_left <= 0
        return self._first_ended and (is_full or self._only_first)

    def _collect(self, chunk: bytes, start: int) -> None:
        stop = len(chunk)
        if not self._first_ended:
            end = chunk.find(b"\n", start)
            self._first_ended = end >= 0
            line_end = end if end >= 0 else stop
            self.first_length += line_end - start
            skipped = min(self._to_skip, line_end - start)
            self._to_skip -= skipped
            start += skipped
            if self._only_first:
                stop = line_end
        piece = chunk[start : min(stop, start + self._most_bytes - len(self.content))]
        ends = piece.count(b"\n")
        if ends >= self._lines_left:
            piece = piece[: _end_of_line(piece, self._lines_left)]
        self._lines_left -= ends
        self.content += piece


def _end_of_line(chunk: bytes, number: int) -> int:
    """The position behind the LF with this number in the chunk; 0 for number 0."""
    low, high = 0, len(chunk)
    while number > 0:
        # Halve the part that holds the LF; counting is many times faster than finding one by one.
        if high - low <= 4096:
            for _ in range(number):
                low = chunk.index(b"\n", low) + 1
            return low
        middle = (low + high) // 2
        in_first_half = chunk.count(b"\n", low, middle)
        if in_first_half >= number:
            high = middle
        else:
            number -= in_first_half
            low = middle
    return low
