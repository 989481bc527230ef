"""The tree of files behind `sloyd.workspace.memory`: nodes, and how a path leads to one."""

from __future__ import annotations

import os
import time
from collections import deque
from dataclasses import dataclass, field
from itertools import count

from sloyd.errors import WorkspaceError
from sloyd.workspace.base import FileKind, FileVersion
from sloyd.workspace.problems import file_problem

__all__ = ["Node", "Place", "Tree"]

_MOST_LINKS = 40  # as Linux counts before it says ELOOP
_LONGEST_NAME = 255
_numbers = count(1)


@dataclass(slots=True, eq=False)
class Node:
    """One file, directory, link or special file; hard links share a node."""

    kind: FileKind
    mode: int = 0o644
    data: bytes = b""
    target: str = ""
    children: dict[str, Node] = field(default_factory=dict)
    number: int = field(default_factory=lambda: next(_numbers))
    links: int = 1
    mtime_ns: int = 0
    ctime_ns: int = 0

    def version(self) -> FileVersion:
        size = len(self.target) if self.kind == "symlink" else len(self.data)
        return FileVersion(0, self.number, size, self.mtime_ns, self.ctime_ns)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads: a name in a directory, and what is there, if anything is."""

    path: str
    parent: Node
    name: str
    node: Node | None

    def existing(self) -> Node:
        """What is there. Raises `WorkspaceError` (``missing``) when nothing is."""
        if self.node is None:
            raise file_problem("missing", self.path)
        return self.node


class Tree:
    """A root directory and what hangs on it."""

    def __init__(self) -> None:
        self._root = Node("directory", mode=0o755)
        self._last = 0

    def now(self) -> int:
        """The time in nanoseconds, never the same one twice."""
        self._last = max(self._last + 1, time.time_ns())
        return self._last

    def add(self, place: Place, node: Node) -> None:
        """Hang a node on a free place."""
        if place.node is not None:
            raise file_problem("exists", place.path)
        node.ctime_ns = self.now()
        node.mtime_ns = node.mtime_ns or node.ctime_ns
        place.parent.children[place.name] = node

    def write(self, node: Node, data: bytes) -> None:
        """Give a file a new content, and so a new version."""
        node.data = data
        node.mtime_ns = node.ctime_ns = self.now()

    def remove(self, place: Place) -> None:
        """Take a name away."""
        node = place.parent.children.pop(place.name)
        node.links -= 1
        node.ctime_ns = self.now()

    def is_directory(self, path: str) -> bool:
        try:
            node = self.find(path).node
        except WorkspaceError:
            return False
        return node is not None and node.kind == "directory"

    def find(self, path: str, *, follow: bool = True) -> Place:
        """Walk to where ``path`` leads; only its last name may be missing."""
        parts = _parts(path)
        follow = follow or path.endswith("/")
        trail = [("", self._root)]
        links = 0
        while parts:
            name = parts.popleft()
            parent = trail[-1][1]
            if parent.kind != "directory":
                raise file_problem("not-directory", path)
            if name == "..":
                trail = trail[:-1] or trail
                continue
            node = parent.children.get(name)
            if node is None:
                if parts:
                    raise file_problem("missing", path)
                return Place(path, parent, name, None)
            if node.kind == "symlink" and (parts or follow):
                links += 1
                if links > _MOST_LINKS:
                    raise file_problem("link-cycle", path)
                trail = trail[:1] if node.target.startswith("/") else trail
                parts.extendleft(reversed(_parts(node.target)))
                continue
            trail.append((name, node))
        name, node = trail[-1]
        if path.endswith("/") and node.kind not in ("directory", "symlink"):
            raise file_problem("not-directory", path)
        return Place(path, trail[-2][1] if len(trail) > 1 else node, name, node)

    def realpath(self, path: str) -> str:
        """The path with its links resolved as far as it exists, the rest as it is."""
        parts = _parts(path)
        names: list[str] = []
        links = 0
        while parts:
            name = parts.popleft()
            if name == "..":
                del names[-1:]
                continue
            names.append(name)
            try:
                node = self.find("/" + "/".join(names), follow=False).node
            except WorkspaceError:
                node = None  # nothing is there, so nothing below is a link
            if node is not None and node.kind == "symlink":
                links += 1
                if links > _MOST_LINKS:
                    raise file_problem("link-cycle", path)
                names = [] if node.target.startswith("/") else names[:-1]
                parts.extendleft(reversed(_parts(node.target)))
        return "/" + "/".join(names)


def _parts(path: str) -> deque[str]:
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise file_problem("invalid-path", path)
    parts = deque(part for part in path.split("/") if part not in ("", "."))
    if any(len(os.fsencode(part)) > _LONGEST_NAME for part in parts):
        raise file_problem("name-too-long", path)
    return parts
