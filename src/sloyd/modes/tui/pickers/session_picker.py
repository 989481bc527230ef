"""Choosing a session to go on with: by name, by beginning, or by any word in it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import work
from textual.widgets import Input

from sloyd.errors import SloydError
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.pickers.dialogs import ConfirmDialog, InputDialog
from sloyd.modes.tui.pickers.fuzzy_screen import FuzzyScreen
from sloyd.modes.tui.pickers.row_list import Row
from sloyd.sessions.catalogue import delete_session, list_sessions, rename_session
from sloyd.sessions.index import SessionIndex
from sloyd.sessions.summary_of import SessionSummary

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = ["SessionPicker"]

_ORDERS: Final = ("last used", "newest", "name", "longest")
_SEARCH_SECONDS: Final = 0.15
_MOST_HITS: Final = 50


class SessionPicker(FuzzyScreen[str, Path]):
    """The sessions of this directory, or of all."""

    CONTEXTS = ("list", "sessions")

    def __init__(self, agent: CodingAgent, keys: KeyMap) -> None:
        super().__init__(keys, title="Sessions", hint=_hint(keys))
        self._agent = agent
        self._sessions: list[SessionSummary] = []
        self._hits: dict[str, str] = {}
        self._order = 0
        self._everywhere = False
        self._only_named = False
        self._shows_paths = False

    def on_mount(self) -> None:
        super().on_mount()
        self._load()

    # What is shown

    def all_rows(self) -> Sequence[Row[str]]:
        chosen = [
            summary
            for summary in self._sessions
            if (self._everywhere or summary.cwd == self._agent.workspace.cwd)
            and (summary.name or not self._only_named)
        ]
        chosen.sort(key=self._sort_key)
        return [self._row(summary) for summary in chosen]

    def matching(self, rows: Sequence[Row[str]], query: str) -> list[Row[str]]:
        """Those whose name or beginning fits, then those that hold the words somewhere."""
        found = super().matching(rows, query)
        if not query.strip():
            return found
        shown = {row.value for row in found}
        return found + [
            Row(row.value, row.label, self._hits[row.value], tail=row.tail)
            for row in rows
            if row.value in self._hits and row.value not in shown
        ]

    def moved(self) -> None:
        order, scope = _ORDERS[self._order], "all directories" if self._everywhere else "here"
        named = ", only named" if self._only_named else ""
        self.heading.update(f"Sessions: {scope}, {order} first{named}")

    def _row(self, summary: SessionSummary) -> Row[str]:
        is_open = summary.path == str(self._agent.session.path)
        facts = [f"{summary.messages} messages", _age(summary.modified)]
        if self._shows_paths:
            facts.append(Path(summary.path).name)
        elif self._everywhere:
            facts.insert(0, summary.cwd)
        detail = summary.first_message if summary.name else ""
        problem = "cannot be read: " if summary.problem else ""
        return Row(
            summary.path,
            f"{'●' if is_open else ' '} {problem}{summary.title}",
            detail,
            tail="  ".join(facts),
            style="italic" if summary.name else "",
        )

    def _sort_key(self, summary: SessionSummary) -> tuple[object, ...]:
        if self._order == 1:
            return (-summary.created,)
        if self._order == 2:
            return (summary.name is None, summary.title.casefold())
        return (-summary.messages,) if self._order == 3 else (-summary.modified,)

    # What can be done

    def choose(self, row: Row[str]) -> None:
        self.dismiss(Path(row.value))

    def act(self, action: str) -> bool:
        row = self.chosen
        if action == "sessions.scope":
            self._everywhere = not self._everywhere
        elif action == "sessions.path":
            self._shows_paths = not self._shows_paths
        elif action == "sessions.sort":
            self._order = (self._order + 1) % len(_ORDERS)
        elif action == "sessions.named":
            self._only_named = not self._only_named
        elif action == "sessions.rename" and row is not None:
            self._rename(row.value)
        elif action == "sessions.delete" and row is not None:
            self._delete(row.value)
        else:
            return action in ("sessions.rename", "sessions.delete")
        self.fill(stay=True)
        return True

    def on_input_changed(self, event: Input.Changed) -> None:
        super().on_input_changed(event)
        self._search(self.input.value)

    @work(exclusive=True, group="load")
    async def _load(self) -> None:
        self._sessions = await asyncio.to_thread(_listed, self._agent.sessions_directory)
        self.fill(stay=True)

    @work(exclusive=True, group="search")
    async def _search(self, query: str) -> None:
        """Look for the words inside the sessions, once the typing pauses."""
        self._hits = {}
        if query.strip():
            await asyncio.sleep(_SEARCH_SECONDS)
            self._hits = await asyncio.to_thread(_found, self._agent.sessions_directory, query)
            self.fill(stay=True)

    @work
    async def _rename(self, path: str) -> None:
        summary = self._summary(path)
        old = (summary.name if summary is not None else None) or ""
        name = await self.app.push_screen_wait(InputDialog(self.keys, "Name of the session", old))
        if name is None:
            return
        session = self._agent.session
        try:
            if path == str(session.path):
                session.set_name(name)
            else:
                await asyncio.to_thread(rename_session, Path(path), name)
        except SloydError as error:
            self.notify(str(error), severity="error", markup=False)
        self._load()

    @work
    async def _delete(self, path: str) -> None:
        if path == str(self._agent.session.path):
            self.notify("this session is open here; begin another one first", severity="warning")
            return
        summary = self._summary(path)
        title = summary.title if summary is not None else path
        if not await self.app.push_screen_wait(
            ConfirmDialog(self.keys, "Delete this session?", title, by_enter=False)
        ):
            return
        try:
            await asyncio.to_thread(delete_session, Path(path))
        except SloydError as error:
            self.notify(str(error), severity="error", markup=False)
        self._load()

    def _summary(self, path: str) -> SessionSummary | None:
        return next((summary for summary in self._sessions if summary.path == path), None)


def _listed(sessions: Path) -> list[SessionSummary]:
    """All sessions; without the index when that cannot be used."""
    try:
        with SessionIndex(sessions) as index:
            return index.sessions()
    except SloydError:
        return list(list_sessions(sessions))


def _found(sessions: Path, query: str) -> dict[str, str]:
    """Where the words stand: the text around them, by the session's path."""
    hits: dict[str, str] = {}
    try:
        with SessionIndex(sessions) as index:
            for hit in index.search(query, limit=_MOST_HITS):
                hits.setdefault(hit.session.path, f"… {' '.join(hit.excerpt.split())}")
    except SloydError:
        return {}
    return hits


def _age(modified: int) -> str:
    """How long ago a time in milliseconds was."""
    seconds = max(0.0, time.time() - modified / 1000)
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size:.0f}{name} ago"
    return "now"


def _hint(keys: KeyMap) -> str:
    parts = (
        ("sessions.scope", "here or all"),
        ("sessions.sort", "order"),
        ("sessions.named", "named"),
        ("sessions.rename", "rename"),
        ("sessions.delete", "delete"),
        ("sessions.path", "files"),
    )
    return "    ".join(f"{keys.shown(action)} {doc}" for action, doc in parts if keys.shown(action))
