"""What a search in files asks for and what it gives, whichever engine does it."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from sloyd.tools.search.globs import compile_glob

__all__ = ["Block", "FileFilter", "FileMatches", "SearchOutcome", "SearchRequest", "ShownLine"]


class ShownLine(NamedTuple):
    """A line as a model reads it, without its end.

    ``was_cut`` says that only a part is there. ``window`` is set where the line was too long to
    keep: where it starts in the file and where the match starts in it, in bytes, so that the part
    around the match can be fetched.
    """

    text: str
    was_cut: bool = False
    window: tuple[int, int] | None = None


class Block(NamedTuple):
    """Lines that were matched together, or one line of context; the first has this number."""

    number: int
    lines: tuple[ShownLine, ...]
    is_match: bool


@dataclass(slots=True)
class FileMatches:
    """What was found in one file; ``path`` is relative to the searched directory.

    ``is_binary`` means that the file holds NUL bytes, so that its lines are not shown.
    """

    path: str
    blocks: list[Block] = field(default_factory=list)
    is_binary: bool = False

    def matches(self) -> int:
        return sum(block.is_match for block in self.blocks)


class FileFilter:
    """A glob that chooses files by their path below the searched directory.

    Without a slash it is about names; with one about paths, starting at the directory. ``!`` in
    front chooses what does not match, and then a directory stands for all that is in it.
    """

    def __init__(self, glob: str, directory: str) -> None:
        self.negated = glob.startswith("!")
        pattern = glob[1:] if self.negated else glob
        pattern = pattern.removeprefix(directory.rstrip("/") + "/")
        pattern = re.sub(r"^(?:\./)+", "", pattern)
        if pattern.endswith("/"):
            pattern += "**"
        self._by_name = "/" not in pattern
        self.pattern = pattern.removeprefix("/")
        self._regex = compile_glob(self.pattern)

    def admits(self, path: str) -> bool:
        """Whether the file at ``path``, relative to the directory, is to be searched."""
        if not self.negated:
            return self._matches(path)
        while path:
            if self._matches(path):
                return False
            path = posixpath.dirname(path)
        return True

    def _matches(self, path: str) -> bool:
        text = posixpath.basename(path) if self._by_name else path
        return self._regex.fullmatch(text) is not None

    @property
    def name_pattern(self) -> str | None:
        """A glob that the names of all chosen files match, where there is a telling one."""
        head, slash, name = self.pattern.rpartition("/")
        is_plain = head.count("{") == head.count("}") and "\\" not in self.pattern
        # To ripgrep a negated class is one byte, and no letter beyond ASCII is.
        if self.negated or name == "**" or "[" in name or (slash and not is_plain):
            return None
        return name


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search in one directory or one file.

    Attributes:
        directory: absolute; paths in the outcome are relative to it.
        file: the name of the only file to search in it, or None for all that is below.
        pattern: a regular expression, or plain text when ``literal``.
        context: lines shown before and after each match.
        limit: most matches wanted, at least 1.
        files: chooses among the files below the directory.
    """

    directory: str
    file: str | None
    pattern: str
    literal: bool = False
    ignore_case: bool = False
    context: int = 0
    limit: int = 100
    files: FileFilter | None = None


@dataclass(slots=True)
class SearchOutcome:
    """What a search found, in the order of paths.

    Attributes:
        files: the files with matches, as far as the limit reaches.
        has_more: whether there is at least one match beyond the limit.
        unreadable: paths that could not be read, and why.
        dropped_lines: lines that were counted and not kept, far over the limit of a result.
        dropped_bytes: about the bytes that they take.
    """

    files: list[FileMatches] = field(default_factory=list)
    has_more: bool = False
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    dropped_lines: int = 0
    dropped_bytes: int = 0
