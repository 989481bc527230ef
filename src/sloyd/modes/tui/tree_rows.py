"""The entries of a session as rows of a tree: which are shown, in which order, how far in.

A conversation without branches is a plain list; only where it branches do rows move to the right.
The branch that is active comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from sloyd.llm.messages import AssistantMessage, Text
from sloyd.sessions.entries import (
    BashExecution,
    CompactionEntry,
    Entry,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
)
from sloyd.sessions.plain import call_line, entry_role, entry_text, first_line
from sloyd.sessions.scan import Node
from sloyd.sessions.session import Session

__all__ = ["FILTERS", "TreeFilter", "TreeRow", "entry_line", "tree_rows"]

TreeFilter: TypeAlias = Literal["default", "no-tools", "user", "labelled", "all"]
FILTERS: Final[tuple[TreeFilter, ...]] = ("default", "no-tools", "user", "labelled", "all")

_SAID: Final = frozenset({"message", "custom_message", "compaction", "branch_summary"})
_WIDTH: Final = 200


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One entry in the tree.

    Attributes:
        guides: the lines in front of it.
        folds: how many shown entries are hidden because it is folded; 0 when it is not.
        follows: whether a shown entry follows it.
        is_active: whether it is on the active branch.
        is_leaf: whether the conversation stands here.
    """

    entry_id: str
    guides: str
    folds: int
    follows: bool
    is_active: bool
    is_leaf: bool

    @property
    def starts_branch(self) -> bool:
        """Whether it is the first entry of one of several branches."""
        return self.guides.endswith("─ ")


def tree_rows(
    session: Session, chosen: TreeFilter, folded: Collection[str] = frozenset()
) -> list[TreeRow]:
    """The rows of a session's tree."""
    shown = _shown(session, chosen)
    children, leaf = _shown_tree(session, shown)
    active = {node.id for node in session.tree.branch()}
    rows: list[TreeRow] = []
    waiting = _branches(children.get(None, []), "", active)
    while waiting:
        entry_id, lead, guides = waiting.pop()
        below = children.get(entry_id, [])
        is_folded = entry_id in folded and bool(below)
        rows.append(
            TreeRow(
                entry_id,
                lead,
                _count(children, entry_id) if is_folded else 0,
                bool(below),
                entry_id in active,
                entry_id == leaf,
            )
        )
        if not is_folded:
            waiting += _branches(below, guides, active)
    return rows


_Waiting: TypeAlias = tuple[str, str, str]


def _branches(below: list[str], guides: str, active: Collection[str]) -> list[_Waiting]:
    """What follows an entry, the last first: its id, its own guides, those of what follows it."""
    if len(below) == 1:
        return [(below[0], guides, guides)]
    ordered = sorted(below, key=lambda entry_id: entry_id not in active)
    last = len(ordered) - 1
    waiting = [
        (
            entry_id,
            guides + ("└─ " if number == last else "├─ "),
            guides + ("   " if number == last else "│  "),
        )
        for number, entry_id in enumerate(ordered)
    ]
    waiting.reverse()
    return waiting


def _shown_tree(
    session: Session, shown: Collection[str]
) -> tuple[dict[str | None, list[str]], str | None]:
    """The shown entries by the shown one before them, and the last shown one up to the leaf."""
    nearest: dict[str | None, str | None] = {None: None}
    children: dict[str | None, list[str]] = {}
    # A parent stands before its children in the file.
    for node in session.tree.nodes():
        above = nearest.get(node.parent_id)
        if node.id in shown:
            children.setdefault(above, []).append(node.id)
            nearest[node.id] = node.id
        else:
            nearest[node.id] = above
    return children, nearest.get(session.leaf_id)


def _count(children: dict[str | None, list[str]], entry_id: str) -> int:
    count = 0
    waiting = list(children.get(entry_id, ()))
    while waiting:
        count += 1
        waiting += children.get(waiting.pop(), ())
    return count


def _shown(session: Session, chosen: TreeFilter) -> set[str]:
    labels = session.labels
    filters: dict[TreeFilter, Callable[[Node], bool]] = {
        "default": lambda node: _says_something(session, node, with_tools=True),
        "no-tools": lambda node: _says_something(session, node, with_tools=False),
        "user": lambda node: node.role == "user",
        "labelled": lambda node: node.id in labels,
        "all": lambda node: True,
    }
    shows = filters[chosen]
    return {node.id for node in session.tree.nodes() if shows(node)}


def _says_something(session: Session, node: Node, *, with_tools: bool) -> bool:
    if node.type not in _SAID or node.role == "system":
        return False
    if with_tools:
        return True
    if node.role == "toolResult":
        return False
    if node.role != "assistant":
        return True
    entry = session.entry(node.id)
    message = entry.message if isinstance(entry, MessageEntry) else None
    return not isinstance(message, AssistantMessage) or bool(message.text.strip())


def entry_line(entry: Entry) -> tuple[str, str]:
    """Who speaks, and the first words."""
    if isinstance(entry, MessageEntry):
        message = entry.message
        if isinstance(message, AssistantMessage):
            said = [block.text for block in message.content if isinstance(block, Text)]
            calls = [call_line(call, limit=60) for call in message.tool_calls]
            return "assistant", first_line(" ".join([*said, *calls]) or "(nothing)", _WIDTH)
        if isinstance(message, BashExecution):
            return "!", first_line(message.command, _WIDTH)
    if isinstance(entry, CompactionEntry):
        return "compaction", f"{entry.tokens_before} tokens: {first_line(entry.summary, _WIDTH)}"
    if isinstance(entry, ModelChangeEntry):
        return "model", f"{entry.provider}/{entry.model_id}"
    if isinstance(entry, ThinkingLevelChangeEntry):
        return "thinking", entry.thinking_level
    if isinstance(entry, LabelEntry):
        return "label", entry.label or "(removed)"
    if isinstance(entry, SessionInfoEntry):
        return "name", entry.name or "(removed)"
    role = entry_role(entry)
    if role:
        return role, first_line(entry_text(entry), _WIDTH)
    return type(entry).__name__.removesuffix("Entry").lower(), ""
