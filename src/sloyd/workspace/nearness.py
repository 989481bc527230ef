"""Names near one that does not exist, to suggest them. Bounded in names looked at."""

from __future__ import annotations

from sloyd.errors import WorkspaceError
from sloyd.workspace.base import DirEntry, Workspace
from sloyd.workspace.names import fold

__all__ = ["near_names"]

_MOST_NAMES = 5_000
_MOST_SUGGESTIONS = 5
_NEAR_ENOUGH = 0.65


async def near_names(workspace: Workspace, path: str) -> list[str]:
    """Up to five existing paths near ``path``, the nearest first; the list may be empty.

    Looked at are the names in the deepest directory of ``path`` that exists: the same name in
    another case or spelling, with another extension, or with a few letters changed. Never raises.
    """
    separator = "\\" if path[1:2] == ":" else "/"
    directory, _, name = path.rstrip(separator).rpartition(separator)
    while True:
        try:
            entries = await workspace.list(directory or separator)
            break
        except WorkspaceError as error:
            if not directory or error.reason not in ("missing", "not-directory", "name-too-long"):
                return []
            directory, _, name = directory.rpartition(separator)
    found = _nearest(name, entries[:_MOST_NAMES])
    return [f"{directory}{separator}{near}" for near in found]


def _nearest(name: str, entries: list[DirEntry]) -> list[str]:
    from difflib import SequenceMatcher  # costs 3 ms, and only a failed call needs it

    wanted = fold(name).casefold()
    stem = wanted.rpartition(".")[0] or wanted
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    scored: list[tuple[float, str]] = []
    for entry in entries:
        candidate = fold(entry.name).casefold()
        if candidate == wanted:
            scored.append((2.0, entry.name))
            continue
        if (candidate.rpartition(".")[0] or candidate) == stem:
            scored.append((1.5, entry.name))
            continue
        matcher.set_seq1(candidate)
        if matcher.real_quick_ratio() >= _NEAR_ENOUGH and matcher.quick_ratio() >= _NEAR_ENOUGH:
            ratio = matcher.ratio()
            if ratio >= _NEAR_ENOUGH:
                scored.append((ratio, entry.name))
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    return [near for _, near in scored[:_MOST_SUGGESTIONS]]
