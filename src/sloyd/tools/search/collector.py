"""Takes matches in the order of paths up to a limit, as pi shows them.

Behind the last match that the limit allows its context still counts, and a match inside that
context is shown as context. That there is more is said only when one more match proves it. What is
over the byte limit of a result is counted and not kept.
"""

from __future__ import annotations

from sloyd.text.truncate import byte_length
from sloyd.tools.search.request import Block, FileMatches, SearchOutcome, SearchRequest

__all__ = ["MOST_KEPT_BYTES", "Collector", "block_size", "path_key"]

MOST_KEPT_BYTES = 256 * 1024
"""Bytes of lines that are kept; several times what a result may hold."""


def path_key(path: str) -> str:
    """Sorts paths as a walk meets them: by component, so ``a/b`` comes before ``a.txt``."""
    return path.replace("/", "\0")


def block_size(path: str, block: Block) -> int:
    """About the bytes that a block takes in a result."""
    around = byte_length(path) + len(str(block.number)) + 4  # path:N: and the line break
    return sum(byte_length(line.text) + around for line in block.lines)


class Collector:
    """What was found so far.

    Attributes:
        files: with their blocks, in the order in which they came.
        matches: how many matches were taken.
        has_more: whether a match beyond the limit was seen.
        is_done: whether nothing that is still to come can change the outcome.
        dropped_lines: lines that were counted and not kept.
        dropped_bytes: about the bytes that those take in a result.
    """

    def __init__(self, request: SearchRequest) -> None:
        self.files: list[FileMatches] = []
        self.matches = 0
        self.has_more = False
        self.is_done = False
        self.dropped_lines = 0
        self.dropped_bytes = 0
        self._limit = request.limit
        self._context = request.context
        self._context_end = 0
        self._kept_bytes = 0

    def add(self, path: str, block: Block) -> None:
        """Take the next block, which follows all earlier ones in path and line."""
        if self.is_done:
            return
        if self.matches < self._limit:
            self._keep(path, block)
            if block.is_match:
                self.matches += 1
                self._context_end = block.number + len(block.lines) - 1 + self._context
            return
        is_in_context = (
            bool(self.files)
            and self.files[-1].path == path
            and block.number <= self._context_end
            and not self.files[-1].is_binary
        )
        if is_in_context:
            shown = block.lines[: self._context_end - block.number + 1]
            self._keep(path, Block(block.number, shown, is_match=False))
        if block.is_match:
            self.has_more = True
        if self.has_more and not (is_in_context and block.number < self._context_end):
            self.is_done = True

    def add_binary(self, path: str) -> None:
        """Take a file with matches that are not shown; it counts as one match."""
        if self.is_done:
            return
        if self.matches >= self._limit:
            self.has_more = self.is_done = True
            return
        self.matches += 1
        self.files.append(FileMatches(path, is_binary=True))

    def add_file(self, found: FileMatches) -> None:
        """Take all that was found in one file."""
        if found.is_binary:
            self.add_binary(found.path)
            return
        for block in found.blocks:
            self.add(found.path, block)

    def outcome(self, unreadable: list[tuple[str, str]]) -> SearchOutcome:
        """What was found."""
        return SearchOutcome(
            self.files, self.has_more, unreadable, self.dropped_lines, self.dropped_bytes
        )

    def _keep(self, path: str, block: Block) -> None:
        size = block_size(path, block)
        if self._kept_bytes > MOST_KEPT_BYTES:
            self.dropped_lines += len(block.lines)
            self.dropped_bytes += size
            return
        self._kept_bytes += size
        if not self.files or self.files[-1].path != path or self.files[-1].is_binary:
            self.files.append(FileMatches(path))
        self.files[-1].blocks.append(block)
