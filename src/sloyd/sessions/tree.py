"""The tree that the entries of a session form, and the place in it where the session stands.

Only ids, parents and types are known here; what an entry says is read when somebody asks. Walking
always ends, because a parent stands before its children (see `sloyd.sessions.scan`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sloyd.errors import SessionError
from sloyd.sessions.scan import Node

__all__ = ["Tree"]


class Tree:
    """Entries by id, their children, and the leaf: the entry that the next one follows."""

    def __init__(self, nodes: Mapping[str, Node], leaf_id: str | None) -> None:
        self._nodes = nodes
        self._children: dict[str | None, list[str]] | None = None
        self.leaf_id = leaf_id

    def node(self, entry_id: str) -> Node:
        """The place of an entry. Raises `SessionError` for an id that is not there."""
        node = self._nodes.get(entry_id)
        if node is None:
            raise SessionError(f"the session has no entry {entry_id}")
        return node

    def nodes(self) -> Iterator[Node]:
        """All entries in the order of the file."""
        return iter(self._nodes.values())

    def children(self, entry_id: str | None) -> tuple[str, ...]:
        """The entries that follow one, oldest first; of None, the roots."""
        if self._children is None:
            self._children = {}
            for node in self._nodes.values():
                self._children.setdefault(node.parent_id, []).append(node.id)
        return tuple(self._children.get(entry_id, ()))

    def added(self, node: Node) -> None:
        """An entry was appended; it is the leaf now."""
        if self._children is not None:
            self._children.setdefault(node.parent_id, []).append(node.id)
        self.leaf_id = node.id

    def path(self, entry_id: str | None) -> list[Node]:
        """The entries from the root to one, both included; empty for None."""
        path = []
        current = entry_id
        while current is not None:
            node = self.node(current)
            path.append(node)
            current = node.parent_id
        path.reverse()
        return path

    def branch(self) -> list[Node]:
        """The entries from the root to the leaf: the active branch."""
        return self.path(self.leaf_id)

    def common_ancestor(self, one: str | None, other: str | None) -> str | None:
        """The last entry that both branches share; None when they share none."""
        shared = None
        for left, right in zip(self.path(one), self.path(other), strict=False):
            if left.id != right.id:
                break
            shared = left.id
        return shared

    def leaves(self) -> list[str]:
        """The entries that nothing follows, in the order of the file."""
        return [node.id for node in self._nodes.values() if not self.children(node.id)]
