"""Patterns for file names, in the dialect of ripgrep and gitignore, as regular expressions.

``*`` and ``?`` never match ``/``; ``**`` as a whole component matches any number of directories;
``[a-z]``, ``[!a]`` and ``[^a]`` are classes; ``{a,b}`` are alternatives and may nest; a backslash
makes the next character literal.
"""

from __future__ import annotations

import re

from sloyd.errors import ToolError

__all__ = ["compile_glob", "glob_to_regex"]


def compile_glob(pattern: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    """A compiled expression to be used with ``fullmatch`` on a path with ``/`` separators.

    Raises:
        ToolError: the pattern is not a glob; the text says why and what to write instead.
    """
    return re.compile(glob_to_regex(pattern), re.IGNORECASE if ignore_case else 0)


def glob_to_regex(pattern: str) -> str:
    """The source of a regular expression that matches what the glob matches."""
    return _Translator(pattern).translate()


class _Translator:
    """One pass over a pattern."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.depth = 0

    def translate(self) -> str:
        parts: list[str] = []
        while self.position < len(self.pattern):
            parts.append(self._next())
        if self.depth:
            raise self._error("`{` is never closed", "\\{")
        return "".join(parts)

    def _next(self) -> str:
        pattern, start = self.pattern, self.position
        character = pattern[start]
        self.position += 1
        if character == "*":
            return self._stars(start)
        if character == "?":
            return "[^/]"
        if character == "[":
            return self._character_class()
        if character == "{":
            self.depth += 1
            return "(?:"
        if character == "}" and self.depth:
            self.depth -= 1
            return ")"
        if character == "," and self.depth:
            return "|"
        if character == "\\":
            if self.position == len(pattern):
                raise self._error("a backslash at its end escapes nothing", "\\\\")
            character = pattern[self.position]
            self.position += 1
        elif character == "/" and self._at_double_star(self.position):
            return self._directories_behind_slash()
        return re.escape(character)

    def _at_double_star(self, position: int) -> bool:
        """Whether a whole component ``**`` begins here."""
        end = position + 2
        return self.pattern[position:end] == "**" and (
            end == len(self.pattern) or self.pattern[end] in "/,}"
        )

    def _stars(self, start: int) -> str:
        pattern = self.pattern
        begins_component = start == 0 or pattern[start - 1] in "/{,"
        if begins_component and self._at_double_star(start):
            self.position = start + 2
            if pattern[self.position : self.position + 1] == "/":
                self.position += 1
                return "(?:(?s:.*)/)?"
            return "(?s:.*)"
        while pattern[self.position : self.position + 1] == "*":
            self.position += 1
        return "[^/]*"

    def _directories_behind_slash(self) -> str:
        """``/**`` and what follows: at the end it needs something below, inside it may be none."""
        self.position += 2
        while self.pattern[self.position : self.position + 3] == "/**" and self._at_double_star(
            self.position + 1
        ):
            self.position += 3
        if self.pattern[self.position : self.position + 1] == "/":
            self.position += 1
            return "/(?:(?s:.*)/)?"
        return "/(?s:.*)"

    def _character_class(self) -> str:
        pattern = self.pattern
        negated = pattern[self.position : self.position + 1] in ("!", "^")
        begin = self.position + negated
        # A bracket right at the beginning is a member, not the end.
        end = pattern.find("]", begin + 1)
        if end < 0:
            raise self._error("`[` is never closed", "\\[")
        self.position = end + 1
        members = _class_members(pattern[begin:end])
        if members is None:
            raise self._error("a range of characters runs backwards", "\\[")
        if negated:
            return f"[^/{members}]"
        return f"(?!/)[{members}]"

    def _error(self, what: str, literal: str) -> ToolError:
        return ToolError(
            f"Invalid glob pattern `{self.pattern}`: {what}. "
            f"Write `{literal}` for the character itself."
        )


def _class_members(body: str) -> str | None:
    """The members of a class, escaped; None when a range runs backwards."""
    parts: list[str] = []
    position = 0
    while position < len(body):
        first = body[position]
        if body[position + 1 : position + 2] == "-" and position + 2 < len(body):
            last = body[position + 2]
            if first > last:
                return None
            parts.append(f"{re.escape(first)}-{re.escape(last)}")
            position += 3
        else:
            parts.append(re.escape(first))
            position += 1
    return "".join(parts)
