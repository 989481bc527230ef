"""Which ignore rules hold where: the same inside and outside of repositories.

- In a repository (a ``.git`` is in the directory or above it) rules come from ``.gitignore`` files
  from its root down, and stop there; a repository inside it starts anew.
- Elsewhere they come from the working directory down, or from the searched directory when that
  lies outside of it. What somebody keeps in a ``.gitignore`` of their home directory does not
  hide a project below it.
- ``.ignore`` and ``.rgignore`` are read beside ``.gitignore`` and win over it, and so does
  ``.gitignore`` over ``.git/info/exclude``. The user's global file is not read, so the same tree
  gives the same results for everybody.
- A directory that the caller names, and that these rules hide, is searched without any rules.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from sloyd.errors import WorkspaceError
from sloyd.tools.search.ignore import IgnoreRules, parse_rules
from sloyd.workspace.base import Workspace

__all__ = ["RULE_FILES", "IgnoreScope", "RuleChain", "open_scope", "read_rules"]

RULE_FILES: Final = (".rgignore", ".ignore", ".gitignore", ".git/info/exclude")
"""Where a directory keeps rules, the strongest first."""

_FIRST_OF_GIT: Final = 2
_MOST_RULE_BYTES: Final = 1 << 20
_PROBE: Final = "zz-no-such-name-0"

_Link = tuple[int, IgnoreRules]
_Chain = tuple[_Link, ...]


@dataclass(frozen=True, slots=True)
class RuleChain:
    """The rules that hold in one directory: its own first, then those of the directories above.

    ``chains`` has one chain for each name of `RULE_FILES`; a link is the length of its directory's
    path with the slash, and the rules.
    """

    chains: tuple[_Chain, ...] = ((), (), (), ())
    checks: _Chain = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "checks", tuple(link for chain in self.chains for link in chain))

    def enter(
        self, directory: str, found: dict[int, IgnoreRules], *, starts_anew: bool
    ) -> RuleChain:
        """The chain for a directory below, with the rules that were found in it."""
        start = len(directory.rstrip("/")) + 1
        chains = []
        for number, chain in enumerate(self.chains):
            above = () if starts_anew and number >= _FIRST_OF_GIT else chain
            rules = found.get(number)
            chains.append(((start, rules), *above) if rules else above)
        return RuleChain(tuple(chains))

    def ignores(self, path: str, name: str, *, is_directory: bool) -> bool:
        """Whether an entry is hidden. ``path`` is absolute; its parents are not looked at."""
        for start, rules in self.checks:
            verdict = rules.verdict(path[start:], name, is_directory=is_directory)
            if verdict is not None:
                return verdict == "ignored"
        return False


@dataclass(frozen=True, slots=True)
class IgnoreScope:
    """What ignore rules mean for a search that starts in ``root``.

    Attributes:
        root: the real path of the searched directory.
        in_repository: whether it lies in a repository.
        is_hidden: whether the rules hide the directory itself, so that it is searched without any.
        rules: the rules that hold in it, its own not included.
        has_foreign_rules: whether ignore files lie above the directory where rules begin.
        starts_at_root: whether no rules of directories above count.
    """

    root: str
    in_repository: bool
    is_hidden: bool
    rules: RuleChain
    has_foreign_rules: bool
    starts_at_root: bool


async def open_scope(workspace: Workspace, root: str) -> IgnoreScope:
    """Find the rules for a search in ``root``, an absolute directory."""
    real = await workspace.realpath(root)
    cwd = await workspace.realpath(workspace.cwd)
    repository = await _repository_above(workspace, real)
    top = repository or (cwd if _is_inside(real, cwd) else real)
    chain = RuleChain()
    has_foreign_rules = is_hidden = False
    for directory in _down_to(real):
        counts = _is_inside(directory, top)
        if counts and directory != top:
            name = posixpath.basename(directory)
            is_hidden = is_hidden or chain.ignores(directory, name, is_directory=True)
        if directory == real or (top == real and repository is None):
            continue
        # Above a repository ripgrep still reads the files that are not git's.
        is_weak = repository is not None and not counts
        found = await read_rules(
            workspace, directory, RULE_FILES[:_FIRST_OF_GIT] if is_weak else RULE_FILES
        )
        if counts or is_weak:
            chain = chain.enter(directory, found, starts_anew=directory == repository)
        else:
            has_foreign_rules = has_foreign_rules or bool(found)
    if not is_hidden and real != cwd:
        is_hidden = await _hides_all(workspace, chain, real, repository)
    return IgnoreScope(
        root=real,
        in_repository=repository is not None,
        is_hidden=is_hidden,
        rules=RuleChain() if is_hidden else chain,
        has_foreign_rules=has_foreign_rules,
        starts_at_root=repository is None and top == real,
    )


async def _hides_all(
    workspace: Workspace, chain: RuleChain, directory: str, repository: str | None
) -> bool:
    """Whether the rules hide whatever the directory may hold (``*``, ``build/**``)."""
    found = await read_rules(workspace, directory, RULE_FILES)
    chain = chain.enter(directory, found, starts_anew=directory == repository)
    probe = posixpath.join(directory, _PROBE)
    return all(chain.ignores(probe, _PROBE, is_directory=kind) for kind in (False, True))


async def read_rules(
    workspace: Workspace, directory: str, names: Iterable[str]
) -> dict[int, IgnoreRules]:
    """The rules that a directory keeps in these files, by their number in `RULE_FILES`."""
    found: dict[int, IgnoreRules] = {}
    for name in names:
        path = posixpath.join(directory, name)
        try:
            data, _ = await workspace.read_file(path, limit=_MOST_RULE_BYTES)
        except WorkspaceError:
            continue
        found[RULE_FILES.index(name)] = parse_rules(data)
    return found


async def _repository_above(workspace: Workspace, directory: str) -> str | None:
    while True:
        try:
            await workspace.stat(posixpath.join(directory, ".git"))
        except WorkspaceError:
            parent = posixpath.dirname(directory)
            if parent == directory:
                return None
            directory = parent
        else:
            return directory


def _down_to(directory: str) -> Iterator[str]:
    """Every directory from the top of the file system down to this one, itself included."""
    parent = posixpath.dirname(directory)
    if parent != directory:
        yield from _down_to(parent)
    yield directory


def _is_inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")
