"""Instructions that people leave for agents: ``AGENTS.md`` and its kin, up the tree.

Each directory gives at most one file, the first of `NAMES` that is a regular file. The user's own
comes first, then from the outermost directory to the working directory. They are text for the
model, not configuration, so they are read without project trust.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sloyd.errors import SettingsError
from sloyd.harness.left_files import read_left
from sloyd.text.markup import attribute

__all__ = ["NAMES", "ContextFile", "find_context_files", "project_context"]

_LARGEST = 128 << 10
"""Bytes of one file that the model is told: some 32,000 tokens, far beyond what people write."""

NAMES = ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")


class ContextFile(msgspec.Struct, frozen=True):
    """One file of instructions. ``problem`` says why its text is not whole, or empty."""

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
        paths = (directory / name for name in NAMES)
        path = next((path for path in paths if os.path.isfile(path)), None)
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
        data = read_left(path, _LARGEST + 1)
    except SettingsError as error:
        return ContextFile(path, "", f"{path}: {error}")
    if b"\0" in data[:8192]:
        return ContextFile(path, "", f"{path}: is binary, not text; left out")
    if len(data) <= _LARGEST:
        return ContextFile(path, data.decode("utf-8-sig", "replace"))
    kept = data[: data.rfind(b"\n", 0, _LARGEST) + 1] or data[:_LARGEST]
    text = kept.decode("utf-8-sig", "replace")
    return ContextFile(
        path,
        f"{text}\n[Cut at {_LARGEST >> 10} KiB; read {path} for the rest.]",
        f"{path}: is larger than {_LARGEST >> 10} KiB; the model is told only of its beginning",
    )


def _main_repository(upward: Sequence[Path]) -> Path | None:
    """The main repository around a git worktree that lies inside of it.

    Both have the same checked-in instructions; those of the worktree are the ones that hold.
    """
    for directory in upward:
        pointer = directory / ".git"
        if not os.path.isfile(pointer):
            continue
        try:
            text = read_left(pointer, 4096).decode("utf-8", "replace")
        except SettingsError:
            return None
        target = text.removeprefix("gitdir:").strip()
        main, inside, _ = target.partition("/.git/worktrees/")
        return Path(main) if inside and Path(main) in directory.parents else None
    return None
