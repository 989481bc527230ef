"""Markdown files that begin with a block of YAML between two lines of ``---``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

__all__ = ["Document", "DocumentProblem", "parse_document", "read_document"]

_BLOCK = re.compile(r"---[ \t]*\r?\n(.*?)(?:^|\n)---[ \t]*(?:\r?\n|\Z)", re.DOTALL)


class DocumentProblem(msgspec.Struct, frozen=True):
    """A file, or a part of it, that was skipped. ``line`` counts from 1."""

    path: Path
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line is not None else str(self.path)
        return f"{place}: {self.message}"


class Document(msgspec.Struct, frozen=True):
    """A file's header and the text behind it."""

    path: Path
    body: str
    header: Mapping[str, Any] = msgspec.field(default_factory=dict)

    def text(self, key: str) -> str:
        """A value of the header as text on one line, or nothing."""
        value = self.header.get(key)
        return " ".join(str(value).split()) if value is not None else ""


def read_document(path: Path) -> Document | DocumentProblem:
    """Read a file with an optional header."""
    try:
        text = path.read_bytes().decode("utf-8-sig", "replace")
    except OSError as error:
        return DocumentProblem(path, f"cannot be read: {error.strerror}")
    return parse_document(path, text)


def parse_document(path: Path, text: str) -> Document | DocumentProblem:
    """Part a text into its header and its body. A text without a header is all body."""
    found = _BLOCK.match(text)
    if not found:
        return Document(path, text)
    import yaml

    try:
        header = yaml.safe_load(found.group(1)) or {}
    except yaml.MarkedYAMLError as error:
        # The mark counts lines from 0 inside the block, which begins on line 2 of the file.
        line = error.problem_mark.line + 2 if error.problem_mark else None
        return DocumentProblem(path, f"the header is not YAML: {error.problem}", line)
    except yaml.YAMLError as error:
        return DocumentProblem(path, f"the header is not YAML: {error}", 1)
    if not isinstance(header, dict):
        return DocumentProblem(path, "the header must be keys and values", 1)
    return Document(path, text[found.end() :], header)
