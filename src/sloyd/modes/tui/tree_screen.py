"""The session as a tree: going to another place in it, with or without a summary or the files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual import work

from sloyd.errors import SloydError
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.messages import TreeAction
from sloyd.modes.tui.pickers.dialogs import InputDialog
from sloyd.modes.tui.pickers.fuzzy_screen import FuzzyScreen
from sloyd.modes.tui.pickers.row_list import Row
from sloyd.modes.tui.tree_rows import FILTERS, TreeFilter, TreeRow, entry_line, tree_rows
from sloyd.sessions.plain import entry_text

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = ["TreeScreen"]

_MEANING: Final[dict[TreeFilter, str]] = {
    "default": "all messages",
    "no-tools": "without tool calls",
    "user": "only what you said",
    "labelled": "only labelled entries",
    "all": "everything in the file",
}
_STYLES: Final = {"user": "bold", "assistant": "", "!": "italic"}
_PREVIEW: Final = 6


class TreeScreen(FuzzyScreen[str, TreeAction]):
    """All branches of the session. What is picked is an entry and what to do with it."""

    CONTEXTS = ("list", "tree")

    def __init__(self, agent: CodingAgent, keys: KeyMap) -> None:
        super().__init__(keys, title="Tree", hint=_hint(keys))
        self._agent = agent
        self._filter: TreeFilter = "default"
        self._folded: set[str] = set()
        self._shows_times = False
        self._rows: dict[str, TreeRow] = {}

    # What is shown

    def all_rows(self) -> Sequence[Row[str]]:
        found = tree_rows(self._agent.session, self._filter, self._folded)
        self._rows = {row.entry_id: row for row in found}
        labels = self._agent.session.labels
        return [self._row(row, labels.get(row.entry_id)) for row in found]

    def _row(self, row: TreeRow, label: str | None) -> Row[str]:
        entry = self._agent.session.entry(row.entry_id)
        who, words = entry_line(entry)
        mark = "●" if row.is_leaf else "•" if row.is_active else " "
        named = f"[{label}] " if label else ""
        tail = entry.timestamp[:19].replace("T", " ") if self._shows_times else ""
        return Row(
            row.entry_id,
            f"{mark} {row.guides}{'▸ ' if row.folds else ''}{named}{who}: {words}",
            f"({row.folds} folded)" if row.folds else "",
            tail=tail,
            style=_STYLES.get(who, "dim"),
        )

    def first_cursor(self, rows: Sequence[Row[str]]) -> int:
        return next((i for i, row in enumerate(rows) if self._rows[row.value].is_leaf), 0)

    def moved(self) -> None:
        self.heading.update(f"Tree: {_MEANING[self._filter]}")
        row = self.chosen
        text = entry_text(self._agent.session.entry(row.value)) if row is not None else ""
        lines = text.strip().splitlines()
        self.more.display = len(lines) > 1
        self.more.update("\n".join(lines[:_PREVIEW]))

    # What can be done

    def choose(self, row: Row[str]) -> None:
        self.dismiss(TreeAction("navigate", row.value))

    def act(self, action: str) -> bool:
        if action == "tree.filter":
            following = FILTERS.index(self._filter) + 1
            self._show(FILTERS[following % len(FILTERS)])
        elif action in _FILTER_KEYS:
            self._show(_FILTER_KEYS[action])
        elif action == "tree.times":
            self._shows_times = not self._shows_times
            self.fill(stay=True)
        elif self.chosen is not None:
            return self._act_on(self.chosen.value, action)
        return action.startswith("tree.")

    def _act_on(self, entry_id: str, action: str) -> bool:
        if action == "tree.fold":
            self._fold(entry_id)
        elif action == "tree.unfold":
            self._folded.discard(entry_id)
            self.fill(stay=True)
        elif action == "tree.label":
            self._label(entry_id)
        elif action == "tree.copy":
            self.app.copy_to_clipboard(entry_text(self._agent.session.entry(entry_id)))
            self.notify("copied")
        elif action == "tree.summarise":
            self.dismiss(TreeAction("summarise", entry_id))
        elif action == "tree.fork":
            self.dismiss(TreeAction("fork", entry_id))
        elif action == "tree.rewind":
            self.dismiss(TreeAction("rewind", entry_id))
        else:
            return False
        return True

    def _show(self, chosen: TreeFilter) -> None:
        self._filter = chosen
        self.fill(stay=True)

    def _fold(self, entry_id: str) -> None:
        """Fold what follows; where nothing follows, or it is folded, go to the branch's start."""
        row = self._rows[entry_id]
        if row.follows and not row.folds:
            self._folded.add(entry_id)
            self.fill(stay=True)
            return
        places = [shown.value for shown in self.list.rows]
        place = max(places.index(entry_id) - 1, 0)
        while place > 0 and not self._rows[places[place]].starts_branch:
            place -= 1
        self.list.cursor = place
        self.moved()

    @work
    async def _label(self, entry_id: str) -> None:
        session = self._agent.session
        old = session.labels.get(entry_id, "")
        label = await self.app.push_screen_wait(InputDialog(self.keys, "Label of this entry", old))
        if label is None:
            return
        try:
            session.set_label(entry_id, label.strip())
        except SloydError as error:
            self.notify(str(error), severity="error", markup=False)
        self.fill(stay=True)


_FILTER_KEYS: Final[dict[str, TreeFilter]] = {
    "tree.default": "default",
    "tree.no_tools": "no-tools",
    "tree.user": "user",
    "tree.labelled": "labelled",
    "tree.all": "all",
}


def _hint(keys: KeyMap) -> str:
    parts = (
        ("list.choose", "go there"),
        ("tree.summarise", "with a summary"),
        ("tree.rewind", "with the files"),
        ("tree.fork", "new session"),
        ("tree.fold", "fold"),
        ("tree.label", "label"),
        ("tree.copy", "copy"),
        ("tree.filter", "filter"),
        ("tree.times", "times"),
    )
    return "   ".join(f"{keys.shown(action)} {doc}" for action, doc in parts if keys.shown(action))
