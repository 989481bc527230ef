"""Switches of the command line that extensions declare, taken from what Sloyd did not know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from sloyd.errors import UsageError

__all__ = ["ExtensionFlag", "FlagKind", "FlagReader", "UnknownOption"]

FlagKind: TypeAlias = Literal["switch", "text", "integer", "number"]
_FlagValue: TypeAlias = bool | str | int | float | None


class UnknownOption(UsageError):
    """Raised for a switch that neither Sloyd nor an extension knows; ``option`` is its name."""

    def __init__(self, option: str) -> None:
        super().__init__(f"unknown option {option}; see sloyd --help")
        self.option = option


class ExtensionFlag(msgspec.Struct, frozen=True):
    """One declared switch, for help."""

    name: str
    kind: FlagKind
    doc: str
    default: _FlagValue
    extension: str


class FlagReader:
    """Takes the values of declared switches out of the words of a command line."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)
        self._taken: dict[str, _FlagValue] = {}
        self.flags: list[ExtensionFlag] = []
        self.failure: UsageError | None = None

    def take(self, flag: ExtensionFlag) -> _FlagValue:
        """Declare a switch; its value, or its default when it was not given.

        Raises `UsageError` for a value that is missing or of the wrong kind.
        """
        self.flags.append(flag)
        if flag.name not in self._taken:
            try:
                self._taken[flag.name] = self._value(flag)
            except UsageError as error:
                # The person's mistake, not the extension's, whatever that makes of it.
                self.failure = error
                raise
        return self._taken[flag.name]

    def rest(self) -> tuple[str, ...]:
        """The words that are no switches. Raises `UnknownOption` for a switch that is left."""
        for word in self._words:
            if word.startswith("-") and word != "-":
                raise UnknownOption(word.partition("=")[0])
        return tuple(self._words)

    def _value(self, flag: ExtensionFlag) -> _FlagValue:
        option = f"--{flag.name}"
        value = flag.default if flag.kind != "switch" else bool(flag.default)
        at = 0
        while at < len(self._words):
            word, equals, text = self._words[at].partition("=")
            if word != option:
                at += 1
                continue
            del self._words[at]
            if flag.kind == "switch":
                value = True
                continue
            if not equals:
                if at == len(self._words):
                    raise UsageError(f"{option} needs a value")
                text = self._words.pop(at)
            value = _converted(option, text, flag.kind)
        return value


def _converted(option: str, text: str, kind: FlagKind) -> _FlagValue:
    try:
        return int(text) if kind == "integer" else float(text) if kind == "number" else text
    except ValueError:
        name = "a whole number" if kind == "integer" else "a number"
        raise UsageError(f"{option} takes {name}, not {text}") from None
