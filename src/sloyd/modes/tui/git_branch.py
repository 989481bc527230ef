"""The branch of the git work tree that a directory lies in, read from its files: no process."""

from __future__ import annotations

from pathlib import Path

__all__ = ["git_branch"]

_REFERENCE = "ref: refs/heads/"


def git_branch(directory: str) -> str | None:
    """The branch's name, the first digits of a commit that no branch names, or None outside."""
    for place in (Path(directory), *Path(directory).parents):
        entry = place / ".git"
        try:
            if entry.is_dir():
                return _head(entry)
            if entry.is_file():
                # A work tree of its own, or a submodule, says where its git directory is.
                target = entry.read_text(encoding="utf-8").strip().removeprefix("gitdir: ")
                return _head((place / target).resolve())
        except (OSError, ValueError):
            return None
    return None


def _head(git_directory: Path) -> str | None:
    head = (git_directory / "HEAD").read_text(encoding="utf-8").strip()
    if head.startswith(_REFERENCE):
        return head.removeprefix(_REFERENCE)
    return head[:8] or None
