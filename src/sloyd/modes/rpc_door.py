"""How commands and extensions tell and ask the person at an RPC client."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import anyio
import msgspec

from sloyd.harness.door import NoticeLevel
from sloyd.modes.rpc_protocol import UiRequest, UiResponse

__all__ = ["RpcDoor"]


class RpcDoor:
    """A `Door` whose questions are records that the client answers.

    Attributes:
        on_question: called when somebody begins to wait for a person.
        on_quit: called when the conversation is to end.
    """

    name = "rpc"
    can_ask = True
    keys: Sequence[tuple[str, str]] = ()

    def __init__(self, write: Callable[[Any], Awaitable[None]]) -> None:
        self._write = write
        self._numbers = itertools.count(1)
        self._open: dict[str, _Question] = {}
        self._closed = False
        self.on_question: Callable[[], None] | None = None
        self.on_quit: Callable[[], None] | None = None

    def answer(self, response: UiResponse) -> None:
        """Take a person's answer; one that nobody waits for is passed over."""
        question = self._open.get(response.id)
        if question is not None:
            question.response = response
            question.answered.set()

    def close(self) -> None:
        """Nobody will answer any more."""
        self._closed = True
        for question in self._open.values():
            question.answered.set()

    async def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Shown by the client as it likes."""
        await self._tell(UiRequest(id="", method="notify", message=message, notify_type=level))

    async def confirm(self, title: str, message: str = "") -> bool:
        """Cancelled counts as no."""
        response = await self._ask(UiRequest(id="", method="confirm", title=title, message=message))
        return response is not None and response.confirmed is True

    async def select(self, title: str, options: Sequence[str]) -> int | None:
        """The client answers with the text of an option."""
        response = await self._ask(
            UiRequest(id="", method="select", title=title, options=tuple(options))
        )
        value = None if response is None else response.value
        return list(options).index(value) if value in options and value is not None else None

    async def input(self, title: str, default: str = "") -> str | None:
        """The client answers with a text."""
        response = await self._ask(
            UiRequest(id="", method="input", title=title, placeholder=default or None)
        )
        return None if response is None else response.value

    async def set_editor_text(self, text: str) -> None:
        """Put by the client where the person writes."""
        await self._tell(UiRequest(id="", method="set_editor_text", text=text))

    async def copy(self, text: str) -> bool:
        """The clipboard is the client's."""
        return False

    async def quit(self) -> None:
        """End the process in order."""
        if self.on_quit is not None:
            self.on_quit()

    async def _tell(self, request: UiRequest) -> None:
        await self._write(msgspec.structs.replace(request, id=f"ui-{next(self._numbers)}"))

    async def _ask(self, request: UiRequest) -> UiResponse | None:
        """The person's answer; None when it is cancelled."""
        if self._closed:
            return None
        question = _Question()
        identity = f"ui-{next(self._numbers)}"
        self._open[identity] = question
        try:
            await self._write(msgspec.structs.replace(request, id=identity))
            if self.on_question is not None:
                self.on_question()
            await question.answered.wait()
        finally:
            del self._open[identity]
        response = question.response
        return None if response is None or response.cancelled else response


class _Question:
    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.response: UiResponse | None = None
