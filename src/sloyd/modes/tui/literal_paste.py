"""Pasted text as it is. Textual's parser takes escape sequences in a paste for keys.

A log with colours, pasted, would then be typed into the prompt in parts, and a line break among
them would send it. So what stands between the marks of a bracketed paste is cut out before the
parser sees it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.message import Message

__all__ = ["LiteralPasteParser", "use_literal_paste"]

_SHORTEST_HELD: Final = 3
"""Of a start that is cut off by the end of a read, so much must be there: less may be a key."""


class LiteralPasteParser(XTermParser):
    """Reads what a terminal sends."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasted: list[str] | None = None
        self._held = ""

    def feed(self, data: str) -> Iterable[Message]:
        """The events of the data."""
        return self._events(data) if data else super().feed(data)

    def _events(self, data: str) -> Iterator[Message]:
        data = self._held + data
        self._held = ""
        while data:
            if self._pasted is None:
                keys, begins, data = data.partition(BRACKETED_PASTE_START)
                if begins:
                    self._pasted = []
                else:
                    keys = self._hold(keys, BRACKETED_PASTE_START, _SHORTEST_HELD)
                if keys:
                    yield from super().feed(keys)
            else:
                text, ends, data = data.partition(BRACKETED_PASTE_END)
                if not ends:
                    self._pasted.append(self._hold(text, BRACKETED_PASTE_END, 1))
                    return
                pasted = "".join([*self._pasted, text])
                self._pasted = None
                yield events.Paste(pasted.replace("\0", ""))

    def _hold(self, data: str, mark: str, shortest: int) -> str:
        """Keep the beginning of a mark at the end of the data for the next read; the rest."""
        for length in range(len(mark) - 1, shortest - 1, -1):
            if data.endswith(mark[:length]):
                self._held = data[-length:]
                return data[:-length]
        return data


def use_literal_paste() -> None:
    """Let Textual's drivers read with this parser."""
    from textual.drivers import linux_driver

    linux_driver.XTermParser = LiteralPasteParser  # type: ignore[attr-defined]  # imported there
