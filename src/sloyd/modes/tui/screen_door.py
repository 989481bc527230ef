"""The screen as commands and extensions see it: notices in the transcript, questions over it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from textual.app import App
from textual.screen import ModalScreen

from sloyd.harness.door import NoticeLevel
from sloyd.modes.tui.blocks import NoticeBlock
from sloyd.modes.tui.composer import Composer
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.transcript import Transcript

__all__ = ["ScreenDoor"]

Answer = TypeVar("Answer")


class ScreenDoor:
    """The door of the screen. Questions may be asked from any task."""

    name = "tui"
    can_ask = True

    def __init__(
        self,
        app: App[Any],
        transcript: Transcript,
        composer: Composer,
        keys: KeyMap,
        quit_app: Callable[[], None],
    ) -> None:
        self._app = app
        self._transcript = transcript
        self._composer = composer
        self._keys = keys
        self._quit = quit_app

    @property
    def keys(self) -> Sequence[tuple[str, str]]:
        return self._keys.table()

    async def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """The text becomes a part of the transcript, which its end stays in sight of."""
        self._transcript.add(NoticeBlock(message, level))

    async def confirm(self, title: str, message: str = "") -> bool:
        from sloyd.modes.tui.pickers.dialogs import ConfirmDialog

        return await self.ask(ConfirmDialog(self._keys, title, message)) or False

    async def select(self, title: str, options: Sequence[str]) -> int | None:
        from sloyd.modes.tui.pickers.dialogs import SelectDialog

        return await self.ask(SelectDialog(self._keys, title, options))

    async def input(self, title: str, default: str = "") -> str | None:
        from sloyd.modes.tui.pickers.dialogs import InputDialog

        return await self.ask(InputDialog(self._keys, title, default))

    async def set_editor_text(self, text: str) -> None:
        self._composer.set_text(text)

    async def copy(self, text: str) -> bool:
        self._app.copy_to_clipboard(text)
        return True

    async def quit(self) -> None:
        self._quit()

    async def ask(self, question: ModalScreen[Answer]) -> Answer | None:
        """Show a screen and wait for its answer; None when the app ends first."""
        import asyncio

        answered: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()

        def take(answer: Answer | None) -> None:
            if not answered.done():
                answered.set_result(answer)

        await self._app.push_screen(question, take)
        return await answered
