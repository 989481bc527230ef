"""Where a person writes: the edited text, its menu of completions, and the messages that wait.

`sloyd.modes.tui.messages` says what the composer posts and what the app may ask of it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from textual import events
from textual.app import ComposeResult
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from sloyd.errors import SloydError
from sloyd.modes.tui.clipboard_reader import dropped_images, read_clipboard
from sloyd.modes.tui.composer_area import PromptArea
from sloyd.modes.tui.composer_menu import CompletionMenu
from sloyd.modes.tui.draft import Draft
from sloyd.modes.tui.editing import clean_text
from sloyd.modes.tui.external_editor import edit_text, editor_command
from sloyd.modes.tui.history import Browser, History
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.messages import Changed, Interrupt, Submitted, TakeBack
from sloyd.modes.tui.paste import Atoms
from sloyd.modes.tui.pickers.row_list import RowList
from sloyd.tools.images import prepare_image

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = ["Composer"]

_PLACEHOLDER: Final = "Ask for something, / for commands, @ for files, ! for the shell"
_DRAFT_SECONDS: Final = 0.3
_WAITING_SHOWN: Final = 3


class Composer(Widget):
    """The composer. ``history_path`` is in Sloyd's home; drafts are kept beside it."""

    Submitted, Interrupt, TakeBack, Changed = Submitted, Interrupt, TakeBack, Changed
    DEFAULT_CSS = """
    Composer { height: auto; layout: vertical; }
    Composer > PromptArea { border: round $panel; padding: 0 1; }
    Composer > PromptArea:focus { border: round $primary; }
    Composer > .waiting { height: auto; padding: 0 2; color: $text-muted; }
    """

    def __init__(self, agent: CodingAgent, keys: KeyMap, history_path: Path) -> None:
        super().__init__()
        self._agent = agent
        self._keys = keys
        self._atoms = Atoms()
        self._history = History(history_path)
        self._browser = Browser(self._history)
        self._draft = Draft(history_path.parent, agent.workspace.cwd)
        self._saving: Timer | None = None
        self._shown = ""
        self.area = PromptArea(keys, self._atoms.marker, placeholder=_PLACEHOLDER)
        self.area.hear = self._hear
        self.area.edited = self._edited
        self._editor = self.area.editor
        self._menu = CompletionMenu(agent, self._editor)
        self._waiting = Static(classes="waiting", markup=False)

    def compose(self) -> ComposeResult:
        yield self._waiting
        yield self._menu
        yield self.area

    def on_mount(self) -> None:
        self._waiting.display = False
        left = self._draft.take()
        if left and not self._editor.text:
            self._editor.reset(clean_text(left))

    def on_unmount(self) -> None:
        self._draft.save(self.text)
        self._draft.close()

    def focus(self, scroll_visible: bool = True) -> Self:
        """Put the keys here."""
        self.area.focus(scroll_visible)
        return self

    # What the app asks for

    @property
    def text(self) -> str:
        """What is written, with pastes unfolded."""
        return self._atoms.expand(self._editor.text)

    @property
    def completions(self) -> list[str]:
        """What the open menu offers; empty when none is open."""
        return self._menu.choices

    @property
    def is_completing(self) -> bool:
        """Whether completions are being looked for."""
        return self._menu.is_looking

    def set_text(self, text: str) -> None:
        """Put a text in the place of what is written; it can be undone."""
        self._browser.leave()
        self._editor.set_text(clean_text(text))
        self._menu.dismiss()

    def insert(self, text: str) -> None:
        """Put a text in at the cursor, folded when it is large."""
        self._editor.insert(self._atoms.paste(clean_text(text)))

    def set_queue(self, waiting: Sequence[str]) -> None:
        """Show the messages that wait for the model."""
        lines = [f"↳ {' '.join(text.split())[:200]}" for text in waiting[:_WAITING_SHOWN]]
        if len(waiting) > _WAITING_SHOWN:
            lines.append(f"  and {len(waiting) - _WAITING_SHOWN} more")
        key = self._keys.shown("queue.take_back")
        if lines and key:
            lines.append(f"  {key} takes them back")
        self._waiting.display = bool(lines)
        self._waiting.update("\n".join(lines))

    # Keys

    def _hear(self, action: str | None, event: events.Key) -> bool:
        """Act on a key before it edits; true when it is used up."""
        if self._menu.is_open and self._in_menu(action, event):
            return True
        if self._keys.is_key("app.interrupt", event.key):
            self.post_message(Interrupt())
            return True
        acts: dict[str, Callable[[], object]] = {
            "input.submit": self._enter,
            "input.follow_up": lambda: self._submit(follow_up=True),
            "input.complete": self._menu.complete,
            "input.history": self._search_history,
            "input.editor": self._write_outside,
            "input.paste_image": self._paste_clipboard,
            "queue.take_back": lambda: self.post_message(TakeBack()),
        }
        if action in acts:
            acts[action]()
            return True
        return action in ("cursor.up", "cursor.down") and self._leaf(action)

    def _in_menu(self, action: str | None, event: events.Key) -> bool:
        in_list = self._keys.action(event.key, "list")
        if in_list is not None and self._menu.move(in_list):
            return True
        if in_list == "list.close":
            self._menu.dismiss()
            return True
        sends = action == "input.submit" and self._menu.changes_nothing
        if action in ("input.complete", "input.submit") and not sends:
            self._menu.accept()
            return True
        return False

    def _enter(self) -> None:
        editor = self._editor
        if editor.text[editor.cursor - 1 : editor.cursor] == "\\":
            # For terminals that cannot tell Shift+Enter from Enter.
            editor.replace(editor.cursor - 1, editor.cursor, "\n")
        else:
            self._submit(follow_up=False)

    def _submit(self, *, follow_up: bool) -> None:
        written = self._editor.text
        text, images = self._atoms.expand(written).strip(), self._atoms.images(written)
        if not text:
            return
        self._menu.close()
        self._browser.leave()
        self._history.add(text)
        self._atoms.begin_message()
        self._editor.reset()
        self._save_draft()
        self.post_message(Submitted(text, images, follow_up))

    def _leaf(self, action: str) -> bool:
        """Go through the history where the cursor can go no further; false when it can."""
        if action == "cursor.up":
            if not self.area.is_on_first_row:
                return False
            # What is being written is kept with its pastes folded.
            text = self._browser.older(self._editor.text)
        else:
            if not (self._browser.is_active and self.area.is_on_last_row):
                return False
            text = self._browser.newer()
        if text is None:
            return False
        self._shown = text
        self._editor.set_text(text, 0 if action == "cursor.up" else None)
        self._menu.dismiss()
        return True

    def _edited(self) -> None:
        """The text or the place of the cursor has changed."""
        if self._browser.is_active and self._editor.text != self._shown:
            self._browser.leave()
        self._menu.look()
        if self._saving is None:
            self._saving = self.set_timer(_DRAFT_SECONDS, self._save_draft)
        self.post_message(Changed())

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        self._menu.accept()
        self.focus()

    def _save_draft(self) -> None:
        if self._saving is not None:
            self._saving.stop()
            self._saving = None
        self._draft.save(self.text)

    # What takes longer

    def _search_history(self) -> None:
        from sloyd.modes.tui.pickers.history_picker import HistoryPicker

        def take(text: str | None) -> None:
            if text is not None:
                self.set_text(text)

        self.app.push_screen(HistoryPicker(self._history, self._keys, self.text), take)

    def _write_outside(self) -> None:
        self.run_worker(self._edit_outside(), exclusive=True, group="editor")

    async def _edit_outside(self) -> None:
        try:
            argv = editor_command(self._agent.settings.display.editor, os.environ)
            text = await edit_text(self.app, argv, self.text)
        except SloydError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        if text is None:
            self.notify("the editor failed; the text is as it was", severity="warning")
        elif text != self.text:
            self.set_text(text)

    def on_prompt_area_pasted(self, event: PromptArea.Pasted) -> None:
        event.stop()
        workspace = self._agent.workspace
        paths = dropped_images(event.text, workspace.cwd, workspace.home)
        if paths:
            self.run_worker(self._attach_files(paths, event.text), group="attach")
        else:
            self.insert(event.text)

    def _paste_clipboard(self) -> None:
        self.run_worker(self._attach_clipboard(), group="attach")

    async def _attach_clipboard(self) -> None:
        found = await asyncio.to_thread(read_clipboard, dict(os.environ))
        if isinstance(found, bytes):
            if not await self._attach_image(found, ""):
                self.notify("the image on the clipboard cannot be read", severity="warning")
        elif found or self.app.clipboard:
            self.insert(found or self.app.clipboard)
        else:
            self.notify("there is nothing on the clipboard that can be read here")

    async def _attach_files(self, paths: Sequence[Path], text: str) -> None:
        for path in paths:
            try:
                data = await asyncio.to_thread(path.read_bytes)
            except OSError as error:
                self.notify(f"cannot read {path}: {error.strerror}", severity="warning")
                data = b""
            if not await self._attach_image(data, path.name):
                self.insert(text if len(paths) == 1 else str(path))

    async def _attach_image(self, data: bytes, name: str) -> bool:
        """Put an image in as an attachment; false when it is none that can be sent."""
        settings = self._agent.toolbox.environment.settings
        prepared = await prepare_image(
            data, box=settings.image_box, max_base64=settings.image_bytes
        )
        if prepared is None or prepared.image is None:
            return False
        atom = self._atoms.image(prepared.image, name)
        if atom:
            self._editor.insert(atom)
        return bool(atom)
