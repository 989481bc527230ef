"""The menu of completions above the composer: commands, their arguments, files, paths."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from sloyd.modes.tui.completion import (
    ArgumentTarget,
    Choice,
    CommandTarget,
    FileTarget,
    PathTarget,
    Target,
    find_target,
)
from sloyd.modes.tui.completion_files import FileList, path_steps
from sloyd.modes.tui.editing import Editor
from sloyd.modes.tui.fuzzy import rank
from sloyd.modes.tui.pickers.row_list import Row, RowList

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = ["CompletionMenu"]

_MOST_ROWS: Final = 8
_MOST_CHOICES: Final = 200


class CompletionMenu(Vertical):
    """Shows what could follow, and puts the chosen one into the text."""

    DEFAULT_CSS = """
    CompletionMenu { height: auto; padding: 0 1; }
    CompletionMenu > Static { height: auto; max-height: 1; color: $text-muted; }
    """

    def __init__(self, agent: CodingAgent, editor: Editor) -> None:
        super().__init__()
        self.files = FileList(agent.toolbox.environment)
        self._agent = agent
        self._editor = editor
        self._rows: RowList[Choice] = RowList(most=_MOST_ROWS)
        self._hint = Static(markup=False)
        self._target: Target | None = None
        self._left: int | None = None
        self._asking: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        yield self._hint
        yield self._rows

    def on_mount(self) -> None:
        self._hint.display = self._rows.display = False

    async def on_unmount(self) -> None:
        self._stop_asking()
        await self.files.close()

    @property
    def is_open(self) -> bool:
        """Whether there is something to choose."""
        return bool(self._rows.display)

    @property
    def is_looking(self) -> bool:
        """Whether choices are being looked for."""
        return self._asking is not None

    @property
    def choices(self) -> list[str]:
        """What can be chosen, as it is shown."""
        return [row.label for row in self._rows.rows] if self.is_open else []

    def move(self, action: str) -> bool:
        """Move as an action of a list says; false for any other action."""
        if action in ("list.up", "list.down"):
            self._rows.move(-1 if action == "list.up" else 1, around=True)
        elif action in ("list.page_up", "list.page_down"):
            self._rows.move_page(-1 if action == "list.page_up" else 1)
        else:
            return False
        return True

    def close(self) -> None:
        """Close the menu, until the text changes."""
        self._stop_asking()
        self._target = None
        self._rows.display = False

    def dismiss(self) -> None:
        """Close it, and do not open it again for what the cursor stands in."""
        target = find_target(self._editor.text, self._editor.cursor)
        self._left = target.start if target is not None else None
        self.close()

    def look(self) -> None:
        """The text or the cursor has changed: open, change or close the menu."""
        before = self._target
        target = find_target(self._editor.text, self._editor.cursor)
        self._show_hint(target)
        if isinstance(before, PathTarget) and not before.is_mention and self.is_open:
            target = find_target(self._editor.text, self._editor.cursor, asked=True)
            target = target if target is not None and target.start == before.start else None
        if target is None:
            self._left = None
        if target is None or target.start == self._left:
            self.close()
        else:
            self._ask(target)

    def complete(self) -> None:
        """A person asks for a completion: put it in if it is the only one, else open the menu."""
        self._left = None
        target = find_target(self._editor.text, self._editor.cursor, asked=True)
        if target is not None:
            self._ask(target, asked=True)

    @property
    def changes_nothing(self) -> bool:
        """Whether what is written is a command already, so that Enter may send it."""
        row, target = self._rows.chosen, self._target
        if row is None or not isinstance(target, CommandTarget | ArgumentTarget):
            return False
        written = self._editor.text[target.start : target.end]
        return written.strip() == row.value.insert.strip()

    def accept(self) -> None:
        """Put the chosen one into the text."""
        row, target = self._rows.chosen, self._target
        self.close()
        if row is None or target is None:
            return
        insert = row.value.insert
        if self._editor.text[target.end : target.end + 1].isspace():
            insert = insert.removesuffix(" ")
        self._editor.replace(target.start, target.end, insert)

    # Asking for choices

    def _ask(self, target: Target, *, asked: bool = False) -> None:
        self._stop_asking()
        if isinstance(target, CommandTarget):
            self._open(target, self._commands(target))
        elif isinstance(target, ArgumentTarget):
            self._open(target, self._arguments(target))
            if asked and not self.is_open:
                self._ask_for_path(target)
        else:
            self._asking = asyncio.create_task(self._find(target, asked=asked))

    def _stop_asking(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    def _ask_for_path(self, target: ArgumentTarget) -> None:
        blank = max(target.query.rfind(" "), target.query.rfind("\t")) + 1
        path = PathTarget(target.start + blank, target.end, target.query[blank:])
        self._asking = asyncio.create_task(self._find(path, asked=True))

    async def _find(self, target: FileTarget | PathTarget, *, asked: bool) -> None:
        text, cursor = self._editor.text, self._editor.cursor
        if isinstance(target, FileTarget):
            choices = await self.files.search(target.query, is_mention=not target.is_shell)
        else:
            workspace = self._agent.workspace
            choices = await asyncio.to_thread(
                path_steps,
                workspace.cwd,
                workspace.home,
                target.query,
                is_mention=target.is_mention,
            )
        if (text, cursor) != (self._editor.text, self._editor.cursor):
            return
        self._asking = None
        self._open(target, choices)
        if asked and len(choices) == 1:
            self.accept()
        elif asked and isinstance(target, PathTarget):
            self._go_as_far_as_all_agree(target, choices)

    def _go_as_far_as_all_agree(self, target: PathTarget, choices: Sequence[Choice]) -> None:
        common = _beginning_of_all([choice.insert.rstrip() for choice in choices])
        written = self._editor.text[target.start : target.end]
        if len(common) > len(written) and common.startswith(written):
            self._editor.replace(target.start, target.end, common)
            further = find_target(self._editor.text, self._editor.cursor, asked=True)
            if further is not None:
                self._open(further, choices)

    def _open(self, target: Target, choices: Sequence[Choice]) -> None:
        self._target = target if choices else None
        rows = [Row(choice, choice.label, choice.detail, choice.places) for choice in choices]
        self._rows.display = bool(rows)
        self._rows.show(rows)

    def _commands(self, target: CommandTarget) -> list[Choice]:
        commands = list(self._agent.commands)
        found = rank(target.query, [command.name for command in commands])
        # What begins with the letters goes first, in the order of the table.
        found.sort(key=lambda pair: not commands[pair[0]].name.startswith(target.query))
        return [
            Choice(
                commands[index].usage,
                f"/{commands[index].name} ",
                commands[index].doc,
                goes_on=bool(commands[index].hint),
                places=tuple(place + 1 for place in hit.places),
            )
            for index, hit in found[:_MOST_CHOICES]
        ]

    def _arguments(self, target: ArgumentTarget) -> list[Choice]:
        command = self._agent.commands.get(target.command)
        if command is None or command.complete is None:
            return []
        values = list(command.complete(self._agent))
        found = rank(target.query, values)[:_MOST_CHOICES]
        return [Choice(values[index], values[index], places=hit.places) for index, hit in found]

    def _show_hint(self, target: Target | None) -> None:
        command = None
        if isinstance(target, ArgumentTarget):
            command = self._agent.commands.get(target.command)
        self._hint.display = command is not None
        if command is not None:
            self._hint.update(f"{command.usage}  {command.doc}")


def _beginning_of_all(texts: Sequence[str]) -> str:
    first, last = min(texts, default=""), max(texts, default="")
    length = 0
    while length < min(len(first), len(last)) and first[length] == last[length]:
        length += 1
    return first[:length]
