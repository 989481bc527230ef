"""The documentation as tests see it: fenced blocks, links, and commands.

What the language of a block means:

- ``python`` and ``sh`` are run, in the order of the document, in a fresh copy of the demo project
  with a model on loopback behind ``OPENAI_BASE_URL``;
- ``output`` behind one of them is what it prints; ``...`` in it stands for anything;
- ``console`` is shown, not run: what needs a network, a key or a person;
- ``json``, ``jsonl`` and ``toml`` are parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.project.sources import ROOT

__all__ = ["Block", "blocks", "documents", "links", "matches"]

_FENCE = re.compile(r"^```([a-z]*)$(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block; ``line`` is where its fence stands."""

    path: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"


def documents() -> list[Path]:
    """The pages that people read."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [*top, *sorted((ROOT / "docs").glob("*.md"))]


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    text = path.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Block(path, line, match[1], match[2].lstrip("\n"))


def links(path: Path) -> list[str]:
    """The targets of a page's links, those inside fenced blocks left out."""
    return _LINK.findall(_FENCE.sub("", path.read_text(encoding="utf-8")))


def matches(expected: str, actual: str) -> bool:
    """Whether an output is the expected one.

    A line ``...`` stands for any lines, three dots within a line for anything in it.
    """
    pattern = "\n".join(
        ".*" if line.strip() == "..." else "[^\n]*".join(map(re.escape, line.rstrip().split("...")))
        for line in expected.strip().splitlines()
    )
    shown = "\n".join(line.rstrip() for line in actual.strip().splitlines())
    return re.fullmatch(pattern, shown, re.DOTALL) is not None
