"""What the tests of the project itself look at: every source file, parsed once."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["PACKAGE", "ROOT", "Source", "sources"]

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "sloyd"


@dataclass(frozen=True, slots=True)
class Source:
    """One Python file. ``module`` is its dotted name for files of the package, else its path."""

    path: Path
    module: str
    text: str
    tree: ast.Module

    @property
    def shown(self) -> str:
        """The path as people write it, relative to the repository."""
        return self.path.relative_to(ROOT).as_posix()


def _module_of(path: Path) -> str:
    parts = list(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


@cache
def sources(*directories: str) -> tuple[Source, ...]:
    """All sources below directories of the repository; the handed cases are data and left out."""
    found = []
    for directory in directories:
        for path in sorted((ROOT / directory).rglob("*.py")):
            inside = path.relative_to(ROOT).as_posix()
            if inside.startswith(("tests/cases/", "bench/work/", "src/sloyd/demo/project/")):
                continue
            text = path.read_text(encoding="utf-8")
            module = _module_of(path) if path.is_relative_to(PACKAGE) else inside
            found.append(Source(path, module, text, ast.parse(text, inside)))
    return tuple(found)
