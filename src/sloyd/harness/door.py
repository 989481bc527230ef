"""What commands and extensions may ask of the surface that a person sits at.

Every door implements `Door`: the plain conversation, the screen, RPC. Where nobody can be asked
(print, JSON, an SDK program), `HeadlessDoor` answers no for them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, Protocol, TypeAlias

__all__ = ["Door", "HeadlessDoor", "NoticeLevel", "Tell"]

NoticeLevel: TypeAlias = Literal["info", "warning", "error"]
Tell: TypeAlias = Callable[[str, NoticeLevel], Awaitable[None]]


class Door(Protocol):
    """A surface. Answers that a person does not give are None or False, never an exception."""

    @property
    def name(self) -> str:
        """``plain``, ``tui``, ``rpc``, ``print``, ``json`` or ``sdk``."""

    @property
    def can_ask(self) -> bool:
        """Whether there is a person who can answer."""

    @property
    def keys(self) -> Sequence[tuple[str, str]]:
        """The keys of this door and what they do, for ``/hotkeys``."""

    async def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Show a text of one or more lines."""

    async def confirm(self, title: str, message: str = "") -> bool:
        """Ask yes or no."""

    async def select(self, title: str, options: Sequence[str]) -> int | None:
        """Let one of the options be chosen; its index, or None."""

    async def input(self, title: str, default: str = "") -> str | None:
        """Ask for a line of text."""

    async def set_editor_text(self, text: str) -> None:
        """Put a text where the person writes, to be changed and sent again."""

    async def copy(self, text: str) -> bool:
        """Put a text on the clipboard; False when this door has none."""

    async def quit(self) -> None:
        """End the conversation once the command is done."""


class HeadlessDoor:
    """A door without a person: notices go where ``tell`` puts them, questions are answered no."""

    keys: Sequence[tuple[str, str]] = ()

    def __init__(self, name: str, tell: Tell) -> None:
        self._name = name
        self._tell = tell
        self.ended = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def can_ask(self) -> bool:
        return False

    async def notify(self, message: str, level: NoticeLevel = "info") -> None:
        await self._tell(message, level)

    async def confirm(self, title: str, message: str = "") -> bool:
        return False

    async def select(self, title: str, options: Sequence[str]) -> int | None:
        return None

    async def input(self, title: str, default: str = "") -> str | None:
        return None

    async def set_editor_text(self, text: str) -> None:
        await self._tell(text, "info")

    async def copy(self, text: str) -> bool:
        return False

    async def quit(self) -> None:
        self.ended = True
