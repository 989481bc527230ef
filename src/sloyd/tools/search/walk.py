"""Everything below a directory, in the order of paths, without what ignore rules hide.

Entries come sorted by name within each directory, a directory before what is in it, so a search
that has enough can stop and has the first results. Symbolic links are entries and are never
followed. ``.git`` is passed over. Directories are listed many at a time, ahead of their turn, since
each visit to the workspace costs more than a small listing; entries are handed on in runs, since
there may be millions.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

from sloyd.errors import WorkspaceError
from sloyd.tools.search.scope import RULE_FILES, IgnoreScope, RuleChain, read_rules
from sloyd.workspace.base import DirEntry, Workspace

__all__ = ["Run", "Walk"]

_LISTED_AT_ONCE: Final = 512
_FIRST_HELD: Final = 2_000
_MOST_HELD: Final = 50_000
_TELLING_NAMES: Final = frozenset(name.split("/", 1)[0] for name in RULE_FILES)
_by_name = attrgetter("name")


class Run(NamedTuple):
    """Entries of one directory that follow each other; only the last one may be a directory.

    ``start`` is their directory relative to the root, with a slash behind it, or empty.
    """

    start: str
    entries: list[DirEntry]


class _Directory(NamedTuple):
    """A directory that waits for its turn, and the rules that hold where it was found."""

    path: str
    chain: RuleChain


_Item: TypeAlias = Run | _Directory


class Walk:
    """One walk below the root of a scope.

    Attributes:
        problems: directories that could not be listed, relative to the root, with their errors.
    """

    def __init__(self, workspace: Workspace, scope: IgnoreScope) -> None:
        self.problems: list[tuple[str, WorkspaceError]] = []
        self._workspace = workspace
        self._scope = scope
        self._prefix = scope.root.rstrip("/") + "/"
        root = _Directory("", scope.rules)
        self._pending: list[_Item] = [root]  # the next one last
        self._unlisted = [root]  # the directories that are known and not listed, the next one last
        self._listed: dict[str, list[_Item]] = {}  # contents of directories, the first one last
        self._held = 0
        self._most_held = _FIRST_HELD

    async def batches(self) -> AsyncIterator[list[Run]]:
        """The entries, a few or many runs at once. Stop iterating when there are enough."""
        pending = self._pending
        while pending:
            batch: list[Run] = []
            while pending:
                item = pending.pop()
                if isinstance(item, Run):
                    batch.append(item)
                    self._held -= len(item.entries)
                elif item.path in self._listed:
                    pending.extend(self._listed.pop(item.path))
                else:
                    pending.append(item)
                    break
            if batch:
                yield batch
            if pending:
                await self._list_ahead()

    async def _list_ahead(self) -> None:
        """List the next directory, and with it those that come after it, as far as may be held."""
        while self._unlisted:
            now = self._unlisted[: -_LISTED_AT_ONCE - 1 : -1]
            del self._unlisted[-_LISTED_AT_ONCE:]
            absolute = [self._prefix + item.path if item.path else self._scope.root for item in now]
            listings = await self._workspace.list_many(absolute)
            below: list[_Directory] = []
            for item, directory, listing in zip(now, absolute, listings, strict=True):
                if isinstance(listing, WorkspaceError):
                    self.problems.append((item.path, listing))
                    listing = []
                items = await self._items(item, directory, listing)
                self._listed[item.path] = items
                below.extend(found for found in reversed(items) if isinstance(found, _Directory))
            self._unlisted.extend(reversed(below))
            if self._held >= self._most_held:
                # A search that goes on wants more at once; one that stops early never gets here.
                self._most_held = min(self._most_held * 2, _MOST_HELD)
                return

    async def _items(
        self, parent: _Directory, directory: str, entries: list[DirEntry]
    ) -> list[_Item]:
        """What the rules leave of a directory, as runs and directories, the first one last."""
        names = {entry.name for entry in entries if entry.name in _TELLING_NAMES}
        chain = parent.chain
        if names and not self._scope.is_hidden:
            chain = await self._chain_inside(chain, directory, names)
        start = f"{parent.path}/" if parent.path else ""
        if ".git" in names:
            entries = [entry for entry in entries if entry.name != ".git"]
        if chain.checks:
            above = self._prefix + start
            entries = [
                entry
                for entry in entries
                if not chain.ignores(
                    above + entry.name, entry.name, is_directory=entry.kind == "directory"
                )
            ]
        self._held += len(entries)
        entries.sort(key=_by_name)
        items: list[_Item] = []
        begin = 0
        for number, entry in enumerate(entries):
            if entry.kind == "directory":
                items.append(Run(start, entries[begin : number + 1]))
                items.append(_Directory(start + entry.name, chain))
                begin = number + 1
        if begin < len(entries):
            items.append(Run(start, entries[begin:]))
        items.reverse()
        return items

    async def _chain_inside(self, chain: RuleChain, directory: str, names: set[str]) -> RuleChain:
        files = [name for name in RULE_FILES if name.split("/", 1)[0] in names]
        rules = await read_rules(self._workspace, directory, files)
        starts_anew = ".git" in names and self._scope.in_repository
        return chain.enter(directory, rules, starts_anew=starts_anew)
