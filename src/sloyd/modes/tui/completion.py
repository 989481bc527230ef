"""What the cursor stands in that can be completed, and how an accepted choice changes the text.

No screen and no disk: the choices themselves come from `sloyd.modes.tui.completion_files` and from
the table of commands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

__all__ = [
    "ArgumentTarget",
    "Choice",
    "CommandTarget",
    "FileTarget",
    "PathTarget",
    "Target",
    "find_target",
    "path_choice",
    "unquoted",
]

_COMMAND: Final = re.compile(r"/([\w.:-]*)")
_ARGUMENT: Final = re.compile(r"/([\w.:-]+)[ \t]+([^\n]*)")
_MENTION: Final = re.compile(r'(?:^|(?<=[\s(\[{<"\'`=,:]))@("[^"\n]*|[^\s"]*)$')
_BEFORE_TOKEN: Final = frozenset(" \t\n=(<>|;&")
_ELSEWHERE: Final = ("~", "/", "./", "../")


@dataclass(frozen=True, slots=True)
class CommandTarget:
    """The name of a command at the beginning of the text."""

    start: int
    end: int
    query: str


@dataclass(frozen=True, slots=True)
class ArgumentTarget:
    """What stands behind the name of a command."""

    start: int
    end: int
    command: str
    query: str


@dataclass(frozen=True, slots=True)
class FileTarget:
    """A file behind an ``@``; ``query`` is to be found anywhere below the working directory.

    In a line for the shell (``is_shell``) the path takes the place of the ``@`` too.
    """

    start: int
    end: int
    query: str
    is_shell: bool = False


@dataclass(frozen=True, slots=True)
class PathTarget:
    """A path to be completed step by step; ``is_mention`` when it stands behind an ``@``."""

    start: int
    end: int
    query: str
    is_mention: bool = False


Target: TypeAlias = CommandTarget | ArgumentTarget | FileTarget | PathTarget


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to go on.

    Attributes:
        label: what the menu shows; ``detail`` beside it.
        insert: what takes the place of the text from ``start`` to ``end`` of the target.
        goes_on: whether there is more to complete behind it (a directory).
        places: letters of the label that were searched for.
    """

    label: str
    insert: str
    detail: str = ""
    goes_on: bool = False
    places: tuple[int, ...] = ()


def find_target(text: str, cursor: int, *, asked: bool = False) -> Target | None:
    """What the cursor stands behind; ``asked`` when a person wants a completion (Tab)."""
    before = text[:cursor]
    command = _COMMAND.fullmatch(before)
    if command is not None:
        return CommandTarget(0, _word_end(text, cursor), command[1])
    mention = _MENTION.search(before)
    if mention is not None:
        query = mention[1].removeprefix('"')
        is_shell = text.startswith("!")
        if query.startswith(_ELSEWHERE):
            return PathTarget(mention.start(), cursor, query, is_mention=not is_shell)
        return FileTarget(mention.start(), cursor, query, is_shell)
    argument = _ARGUMENT.fullmatch(before)
    if argument is not None:
        return ArgumentTarget(argument.start(2), cursor, argument[1], argument[2])
    return _token(before) if asked else None


def _word_end(text: str, cursor: int) -> int:
    found = re.compile(r"[\w.:-]*").match(text, cursor)
    return found.end() if found is not None else cursor


def _token(before: str) -> PathTarget | None:
    """The shell-like word before the cursor: an open quote, or up to the last blank."""
    line_start = before.rfind("\n") + 1
    line = before[line_start:]
    quote, start, place = "", 0, 0
    while place < len(line):
        letter = line[place]
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'" and (place == start or line[place - 1] in _BEFORE_TOKEN):
            quote, start = letter, place
        elif letter == "\\":
            place += 1
        elif letter in _BEFORE_TOKEN:
            start = place + 1
        place += 1
    if line_start == 0 and start == 0 and line.startswith("!"):
        start = 2 if line.startswith("!!") else 1
    word = line[start:]
    if not word:
        return None
    return PathTarget(line_start + start, len(before), unquoted(word))


def unquoted(word: str) -> str:
    """What a shell would make of a word, its last quote perhaps still open."""
    if word[:1] in ("'", '"'):
        return word[1:].removesuffix(word[0])
    return re.sub(r"\\(.)", r"\1", word)


def path_choice(path: str, *, is_mention: bool, places: tuple[int, ...] = ()) -> Choice:
    """The choice of a path; directories end with a slash. Blanks and quotes make it a quoted one.

    The quote of a directory stays open, so that one can go on behind it.
    """
    is_directory = path.endswith("/")
    mark = "@" if is_mention else ""
    if re.search(r"[\s\"'`()\[\]{}<>|;&$*?!\\,=]", path):
        # A shell takes single quotes literally; a model reads either.
        quote = "'" if re.search(r'["$`\\!]', path) and not is_mention else '"'
        shown = f"{mark}{quote}{path}" + ("" if is_directory else quote)
    else:
        shown = mark + path
    return Choice(path, shown + ("" if is_directory else " "), goes_on=is_directory, places=places)
