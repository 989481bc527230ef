"""Takes a Google-style docstring apart: what a function does, and what each argument means."""

from __future__ import annotations

import inspect
import re

__all__ = ["take_apart"]

_SECTION = r"(Args|Arguments|Parameters):\s*$"
_ENTRY = r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$"


def take_apart(docstring: str) -> tuple[str, dict[str, str]]:
    """The text without its section of arguments, and the descriptions in that section by name."""
    kept: list[str] = []
    descriptions: dict[str, str] = {}
    inside = False
    entry_indent: int | None = None
    current = ""
    for line in inspect.cleandoc(docstring).splitlines():
        indent = len(line) - len(line.lstrip())
        if not inside and re.match(_SECTION, line):
            inside, entry_indent, current = True, None, ""
            continue
        if inside and line.strip() and indent == 0:
            inside = False
        if not inside:
            kept.append(line)
            continue
        if not line.strip():
            continue
        entry_indent = indent if entry_indent is None else entry_indent
        entry = re.match(_ENTRY, line.strip()) if indent <= entry_indent else None
        if entry is not None:
            current = entry[1]
            descriptions[current] = entry[2].strip()
        elif current:
            descriptions[current] = f"{descriptions[current]} {line.strip()}".strip()
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    return text, descriptions
