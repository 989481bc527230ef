"""What a search pattern means, in the words of ripgrep and of Python's ``re``.

A pattern is about single lines, whose end (LF or CRLF) is no part of them. When it asks for a line
break, it is matched across lines, and every ``\\n`` of it stands for either line end. Markers of
undecodable bytes (``⟨E9⟩``) stand for those bytes, as the read tool shows them.
"""

from __future__ import annotations

import re
from typing import Final

from sloyd.errors import ToolError
from sloyd.text.encoding import parse_undecodable
from sloyd.tools.search.request import SearchRequest

__all__ = [
    "check_pattern",
    "invalid_pattern",
    "python_pattern",
    "ripgrep_pattern",
    "spans_lines",
]

_MOST_PATTERN_BYTES: Final = 100_000  # one argument of a process may have 128 KB
_ANY_LINE_END: Final = r"(?:\r?\n)"
_SPECIAL: Final = frozenset(r"\.+*?()|[]{}^$#&-~")


def check_pattern(request: SearchRequest) -> None:
    """Raise `ToolError` for a pattern that no engine can search for."""
    size = len(request.pattern.encode("utf-8", "surrogatepass"))
    if size > _MOST_PATTERN_BYTES:
        raise ToolError(
            f"The pattern is too long: {size} bytes, at most {_MOST_PATTERN_BYTES}. "
            "Search for a telling part of it."
        )
    if "\0" in request.pattern:
        raise ToolError(
            "The pattern holds a NUL character, which no text file holds. Leave it out; to look "
            "into binary files, use bash."
        )
    for character in request.pattern:
        if "\ud800" <= character <= "\udfff" and not "\udc80" <= character <= "\udcff":
            raise ToolError(
                f"The pattern holds U+{ord(character):04X}, half of a surrogate pair, which no "
                "file can hold. Leave it out."
            )


def invalid_pattern(request: SearchRequest, problem: str) -> ToolError:
    """The error for a pattern that is no regular expression."""
    return ToolError(
        f"Invalid regular expression `{request.pattern}`: {problem}. "
        "Escape the character with a backslash, or search for the text itself with literal=true."
    )


def spans_lines(request: SearchRequest) -> bool:
    """Whether the pattern asks for a line break."""
    if "\n" not in request.pattern and (request.literal or "\\n" not in request.pattern):
        return False
    return request.literal or _with_line_ends(request.pattern) != request.pattern


def ripgrep_pattern(request: SearchRequest) -> str:
    """The regular expression for ripgrep, or the text itself when ``--fixed-strings`` will do."""
    pattern = parse_undecodable(request.pattern)
    if not pattern:
        # An empty match at every character would make the events as long as a book.
        return "^"
    if request.literal:
        pattern = pattern.replace("\r\n", "\n")
        if not spans_lines(request) and not _has_bytes(pattern):
            return pattern
        pattern = "".join(f"\\{part}" if part in _SPECIAL else part for part in pattern)
    if spans_lines(request):
        pattern = _with_line_ends(pattern)
    if _has_bytes(pattern):
        pattern = re.sub(
            "[\udc80-\udcff]", lambda byte: rf"(?-u:\x{ord(byte[0]) - 0xDC00:02X})", pattern
        )
    return pattern


def python_pattern(request: SearchRequest) -> re.Pattern[str]:
    """The pattern for Python's ``re``; raises `ToolError` when it is none."""
    pattern = parse_undecodable(request.pattern)
    if request.literal:
        pattern = re.escape(pattern.replace("\r\n", "\n")).replace("\\\n", "\n")
    if spans_lines(request):
        pattern = _with_line_ends(pattern)
    flags = re.MULTILINE | (re.IGNORECASE if request.ignore_case else 0)
    try:
        return re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise invalid_pattern(request, str(error)) from error


def _has_bytes(pattern: str) -> bool:
    return not pattern.isascii() and re.search("[\udc80-\udcff]", pattern) is not None


def _with_line_ends(pattern: str) -> str:
    """The pattern with every line break that is not in a character class as either line end."""
    parts: list[str] = []
    in_class = False
    position = 0
    while position < len(pattern):
        width = 2 if pattern[position] == "\\" else 1
        token = pattern[position : position + width]
        position += width
        if in_class:
            in_class = token != "]"
        elif token == "[":
            in_class = True
            # A bracket right at the beginning is a member, not the end.
            members = re.match(r"\^?\]?", pattern[position:])
            token += members[0] if members is not None else ""
            position += len(token) - 1
        elif token in ("\n", "\\n", "\\\n"):
            token = _ANY_LINE_END
        parts.append(token)
    return "".join(parts)
