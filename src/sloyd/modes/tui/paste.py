"""What stands behind the atoms of the composer: folded pastes and attached images.

An atom is one character of the edited text (see `sloyd.modes.tui.editing`); on the screen it is a
marker such as ``[paste #1 +42 lines]``. Numbers are given anew for each message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

from sloyd.llm.messages import Image

__all__ = ["Atom", "Atoms", "AttachedImage", "FoldedPaste", "is_large"]

_MOST_LINES: Final = 10
"""A paste of more lines than these is folded (pi's number)."""
_MOST_CHARACTERS: Final = 1_000
"""A paste of more characters than these is folded (pi's number)."""

_FIRST: Final = 0xD800
_COUNT: Final = 0x400
_ATOM: Final = re.compile("[\ud800-\udbff]")


@dataclass(frozen=True, slots=True)
class FoldedPaste:
    """A large paste."""

    number: int
    text: str

    @property
    def marker(self) -> str:
        """What the screen shows."""
        lines = _lines(self.text)
        if lines > _MOST_LINES:
            return f"[paste #{self.number} +{lines} lines]"
        return f"[paste #{self.number} {len(self.text)} chars]"

    @property
    def expanded(self) -> str:
        """What the message says in its place."""
        return self.text


@dataclass(frozen=True, slots=True)
class AttachedImage:
    """An image that goes with the message; its marker stays in the text, so one can speak of it."""

    number: int
    image: Image
    name: str

    @property
    def marker(self) -> str:
        """What the screen shows."""
        return f"[image #{self.number} {self.name}]" if self.name else f"[image #{self.number}]"

    @property
    def expanded(self) -> str:
        """What the message says in its place."""
        return self.marker


Atom: TypeAlias = FoldedPaste | AttachedImage


def is_large(text: str) -> bool:
    """Whether a paste is to be folded."""
    return len(text) > _MOST_CHARACTERS or _lines(text) > _MOST_LINES


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


class Atoms:
    """The atoms of one composer. There can be 1,024 in a process; further pastes stay unfolded."""

    def __init__(self) -> None:
        self._atoms: list[Atom] = []
        self._pastes = 0
        self._images = 0

    @property
    def is_full(self) -> bool:
        """Whether no further atom can be made."""
        return len(self._atoms) >= _COUNT

    def paste(self, text: str) -> str:
        """What to insert for a pasted text: an atom for a large one, else the text itself."""
        if self.is_full or not is_large(text):
            return text
        self._pastes += 1
        return self._add(FoldedPaste(self._pastes, text))

    def image(self, image: Image, name: str = "") -> str:
        """What to insert for an image; empty when there is no room for one more."""
        if self.is_full:
            return ""
        self._images += 1
        return self._add(AttachedImage(self._images, image, name))

    def begin_message(self) -> None:
        """Count from one again. Atoms that were made keep their meaning."""
        self._pastes = self._images = 0

    def get(self, character: str) -> Atom | None:
        """The atom that a character stands for."""
        index = ord(character) - _FIRST
        return self._atoms[index] if 0 <= index < len(self._atoms) else None

    def marker(self, character: str) -> str:
        """The marker of an atom's character."""
        atom = self.get(character)
        return atom.marker if atom is not None else "\ufffd"

    def expand(self, text: str) -> str:
        """The text with all that stands behind its atoms: what is sent, edited and kept."""

        def expanded(found: re.Match[str]) -> str:
            atom = self.get(found[0])
            return atom.expanded if atom is not None else "\ufffd"

        return _ATOM.sub(expanded, text)

    def images(self, text: str) -> tuple[Image, ...]:
        """The images of a text, in its order."""
        atoms = (self.get(character) for character in _ATOM.findall(text))
        return tuple(atom.image for atom in atoms if isinstance(atom, AttachedImage))

    def _add(self, atom: Atom) -> str:
        self._atoms.append(atom)
        return chr(_FIRST + len(self._atoms) - 1)
