"""Instructions that people leave for agents: ``AGENTS.md`` and its kin, up the tree.

Each directory gives at most one file, the first of `NAMES` that is a regular file. The user's own
comes first, then from the outermost directory to the working directory. They are text for the
model, not configuration, so they are read without project trust.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from sloyd.text.markup import attribute

__all__ = ["NAMES", "ContextFile", "find_context_files", "project_context"]

NAMES = ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")


class ContextFile(msgspec.Struct, frozen=True):
    """One file of instructions. ``problem`` says why its text is empty, if it could not be read."""

    path: Path
    text: str
    problem: str | None = None


def find_context_files(cwd: Path, home: Path) -> list[ContextFile]:
    """The files that hold for work in ``cwd``; ``home`` is Sloyd's own directory."""
    upward = [cwd, *cwd.parents]
    skipped = _main_repository(upward)
    directories = [home, *(path for path in reversed(upward) if path != skipped)]
    found: dict[Path, ContextFile] = {}
    for directory in directories:
        path = next((directory / name for name in NAMES if (directory / name).is_file()), None)
        if path is not None and path.resolve() not in found:
            found[path.resolve()] = _read(path)
    return list(found.values())


def project_context(files: Sequence[ContextFile]) -> str:
    """The part of the system prompt that holds the files, or nothing."""
    told = [file for file in files if file.text.strip()]
    if not told:
        return ""
    parts = [
        f"<project_instructions path={attribute(str(file.path))}>\n{file.text.strip()}\n"
        "</project_instructions>"
        for file in told
    ]
    return "<project_context>\n" + "\n".join(parts) + "\n</project_context>"


def _read(path: Path) -> ContextFile:
    try:
        return ContextFile(path, path.read_bytes().decode("utf-8-sig", "replace"))
    except OSError as error:
        return ContextFile(path, "", f"{path}: cannot be read: {error.strerror}")


def _main_repository(upward: Sequence[Path]) -> Path | None:
    """The main repository around a git worktree that lies inside of it.

    Both have the same checked-in instructions; those of the worktree are the ones that hold.
    """
    for directory in upward:
        pointer = directory / ".git"
        if not pointer.is_file():
            continue
        try:
            text = pointer.read_text("utf-8", "replace")
        except OSError:
            return None
        target = text.removeprefix("gitdir:").strip()
        main, inside, _ = target.partition("/.git/worktrees/")
        return Path(main) if inside and Path(main) in directory.parents else None
    return None
