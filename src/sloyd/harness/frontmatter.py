"""Markdown files that begin with a block of YAML between two lines of ``---``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

from sloyd.errors import SettingsError
from sloyd.harness.left_files import read_left

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
        # Of a few lines YAML can make lists in lists that no memory holds as text.
        plain = isinstance(value, str | int | float | date)
        return " ".join(str(value).split()) if plain else ""


def read_document(path: Path) -> Document | DocumentProblem:
    """Read a file with an optional header."""
    try:
        text = read_left(path).decode("utf-8-sig", "replace")
    except SettingsError as error:
        return DocumentProblem(path, str(error))
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
    except (yaml.YAMLError, ValueError, ArithmeticError) as error:
        # The others: a date such as 2026-99-99, a number out of all bounds.
        return DocumentProblem(path, f"the header is not YAML: {error}", 1)
    except RecursionError:
        return DocumentProblem(path, "the header is nested too deeply", 1)
    if not isinstance(header, dict):
        return DocumentProblem(path, "the header must be keys and values", 1)
    return Document(path, text[found.end() :], header)
