"""Collecting a command's output: its end for the model, its counts, and the full log.

Memory is bounded by the limits of a result, never by the output. What the model reads is the tail
of `plain_text` of everything, and is the same for any division into chunks; the log keeps the raw
bytes and is begun once a result might not hold all of them.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from sloyd.text.terminal import TerminalText
from sloyd.text.truncate import (
    MAX_BYTES,
    MAX_LINES,
    Truncation,
    byte_length,
    count_lines,
    format_size,
    last_bytes,
    truncate_tail,
)
from sloyd.workspace.base import OutputFile
from sloyd.workspace.output_log import OutputLog

__all__ = ["OutputAccumulator", "OutputSnapshot", "PartialLine"]

_ABSORB_SIZE: Final = 512 * 1024
"""Raw bytes that are gathered before they are decoded, unless somebody looks."""


@dataclass(frozen=True, slots=True)
class PartialLine:
    """A line of which only the end is shown, because the whole is over the byte limit."""

    number: int
    shown_bytes: int
    line_bytes: int


@dataclass(frozen=True, slots=True)
class OutputSnapshot:
    """The output so far, as a result shows it.

    ``truncation.total_bytes`` counts the raw output; the other sizes are those of the text shown.
    ``partial`` is the first line shown where only its end is. ``log_path`` names the full log as
    soon as there is one, and ``log_failure`` says why it is not complete.
    """

    truncation: Truncation
    partial: PartialLine | None
    log_path: str | None
    log_failure: str | None = None

    @property
    def text(self) -> str:
        return self.truncation.content

    @property
    def is_cut(self) -> bool:
        """Whether any line, or part of one, is not shown."""
        cut = self.truncation
        return cut.truncated and (self.partial is not None or cut.output_lines < cut.total_lines)

    def notice(self) -> str:
        """What is shown and where the rest is, in brackets; empty when nothing is missing."""
        if not self.is_cut:
            return ""
        cut, part = self.truncation, self.partial
        first = cut.total_lines - cut.output_lines + 1
        limit = f" ({format_size(cut.max_bytes)} limit)" if cut.truncated_by == "bytes" else ""
        lines = f"lines {first}-{cut.total_lines} of {cut.total_lines}{limit}"
        if part is not None:
            ends = f"last {format_size(part.shown_bytes)} of line {part.number}"
            ends += f" (line is {format_size(part.line_bytes)})"
            rest = f"lines {first + 1}-{cut.total_lines} of {cut.total_lines}{limit}"
            lines = ends if part.number == cut.total_lines else f"{ends} and {rest}"
        if self.log_path is None:
            return f"[Showing {lines}. The full output could not be kept: {self.log_failure}]"
        failure = f" (not complete: {self.log_failure})" if self.log_failure else ""
        return f"[Showing {lines}. Full output: {self.log_path}{failure}]"


class OutputAccumulator:
    """Takes raw output in chunks of any size; knows at any moment what a result would show.

    Args:
        open_log: creates the log; raises `OSError` when it cannot.
    """

    def __init__(
        self,
        open_log: Callable[[], OutputLog],
        *,
        max_lines: int = MAX_LINES,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._open_log = open_log
        self._max_lines = max_lines
        self._max_bytes = max_bytes
        self._total_bytes = 0
        self._line_feeds = 0
        self._early: list[bytes] | None = []
        self._log: OutputLog | None = None
        self._log_failure: str | None = None
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._stage = _Stage(max_bytes)

    def feed(self, data: bytes) -> None:
        """Take the next chunk."""
        self._total_bytes += len(data)
        self._line_feeds += data.count(b"\n")
        if self._early is None:
            if self._log is not None:
                self._log.write(data)
        else:
            self._early.append(data)
            if self._total_bytes > self._max_bytes or self._line_feeds > self._max_lines:
                self._begin_log()
        self._pending.append(data)
        self._pending_size += len(data)
        if self._pending_size >= _ABSORB_SIZE:
            self._absorb()

    def finish(self) -> OutputSnapshot:
        """Say that no more output comes: flush what was held back, complete the log.

        A log in which nothing is that the result does not show is deleted.
        """
        self._absorb()
        self._stage.finish()
        snapshot = self.snapshot()
        if self._log is not None and self._log.is_open:
            if snapshot.is_cut:
                self._log.close()
            else:
                self._log.remove()
                self._log = None
        return self.snapshot()

    def snapshot(self) -> OutputSnapshot:
        """What a result would show now. A character that has not fully arrived is not shown yet."""
        self._absorb()
        text = self._stage.text + self._stage.terminal.pending()
        cut = truncate_tail(text, self._max_lines, self._max_bytes)
        unfinished = bool(text) and not text.endswith("\n")
        cut = replace(cut, total_lines=self._line_feeds + unfinished, total_bytes=self._total_bytes)
        cut, partial = self._with_long_line(text, cut)
        log = self._log
        return OutputSnapshot(
            truncation=cut,
            partial=partial,
            log_path=log.path if log else None,
            log_failure=log.failure if log else self._log_failure,
        )

    def hand_over(self) -> OutputFile | None:
        """Offer the log, begun now if need be, to jobs that are left behind; None without one."""
        if self._early is not None:
            self._begin_log()
        return self._log.hand_over() if self._log is not None else None

    def _begin_log(self) -> None:
        early, self._early = self._early or [], None
        try:
            self._log = self._open_log()
        except OSError as error:
            self._log_failure = error.strerror or str(error)
            return
        for data in early:
            self._log.write(data)

    def _absorb(self) -> None:
        """Decode what has been gathered; of a flood only the end, if the rest cannot be shown."""
        block = b"".join(self._pending)
        self._pending.clear()
        self._pending_size = 0
        for size in (2 * self._max_bytes, 8 * self._max_bytes):
            # Lines are independent of each other, in UTF-8 as on a terminal.
            window = len(block) - size
            start = block.find(b"\n", window) + 1 if window > 0 else 0
            if not start:
                break
            fresh = _Stage(self._max_bytes)
            fresh.feed(block[start:])
            if self._fills_result(fresh.text):
                self._stage = fresh
                return
        self._stage.feed(block)

    def _fills_result(self, text: str) -> bool:
        """Whether nothing before this text can be in a result, not even as a part of a line."""
        return count_lines(text) > self._max_lines or byte_length(text) > self._max_bytes + 1

    def _with_long_line(self, text: str, cut: Truncation) -> tuple[Truncation, PartialLine | None]:
        """Show the end of a line that is over the limit by itself, before the lines that fit."""
        if cut.truncated_by != "bytes":
            return cut, None
        bottom = len(text) - text.endswith("\n")
        if cut.last_line_partial:
            size = self._line_bytes(text, bottom)
            return cut, PartialLine(cut.total_lines, cut.output_bytes, size)
        end = bottom - len(cut.content) - 1
        room = self._max_bytes - cut.output_bytes - 1
        if end < 0 or room <= 0 or cut.output_lines >= self._max_lines:
            return cut, None
        size = self._line_bytes(text, end)
        line_end = last_bytes(text[max(end - room, 0) : end], room)
        if size <= self._max_bytes or not line_end:
            return cut, None
        shown = byte_length(line_end)
        number = cut.total_lines - cut.output_lines
        cut = replace(
            cut,
            content=f"{line_end}\n{cut.content}",
            output_lines=cut.output_lines + 1,
            output_bytes=cut.output_bytes + 1 + shown,
        )
        return cut, PartialLine(number, shown, size)

    def _line_bytes(self, text: str, end: int) -> int:
        """Bytes of the line that ends at ``end``, with what is no longer kept of it."""
        start = text.rfind("\n", 0, end) + 1
        dropped = self._stage.dropped_bytes if start == 0 else 0
        return dropped + byte_length(text[start:end])


class _Stage:
    """Decoder, terminal, and the settled text of which only the end is kept.

    ``dropped_bytes`` is what is gone of the line that the text now begins in.
    """

    def __init__(self, max_bytes: int) -> None:
        self.text = ""
        self.dropped_bytes = 0
        self.terminal = TerminalText()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._kept = 2 * max_bytes + 2

    def feed(self, data: bytes) -> None:
        self._append(self.terminal.feed(self._decoder.decode(data)))

    def finish(self) -> None:
        rest = self.terminal.feed(self._decoder.decode(b"", final=True))
        self._append(rest + self.terminal.finish())

    def _append(self, settled: str) -> None:
        text = self.text + settled
        if len(text) > 2 * self._kept:
            cut = len(text) - self._kept
            line = text.rfind("\n", 0, cut) + 1
            self.dropped_bytes = byte_length(text[line:cut]) + (0 if line else self.dropped_bytes)
            text = text[cut:]
        self.text = text
