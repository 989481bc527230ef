"""What a search pattern means, in the words of ripgrep and of Python's ``re``.

A pattern is about single lines, whose end (LF or CRLF) is no part of them. When it asks for a line
break, it is matched across lines, and every ``\\n`` of it stands for either line end. Markers of
undecodable bytes (``⟨E9⟩``) stand for those bytes, as the read tool shows them.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
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
    if not request.literal and (len(request.pattern) - len(request.pattern.rstrip("\\"))) % 2:
        raise invalid_pattern(request, "the backslash at its end escapes nothing")
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
    else:
        pattern = _in_python(request, pattern)
    if spans_lines(request):
        pattern = _with_line_ends(pattern)
    flags = re.MULTILINE | (re.IGNORECASE if request.ignore_case else 0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that some set may mean something else one day
            return re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise invalid_pattern(request, str(error)) from error


def _has_bytes(pattern: str) -> bool:
    return not pattern.isascii() and re.search("[\udc80-\udcff]", pattern) is not None


def _with_line_ends(pattern: str) -> str:
    """The pattern with every line break that is not in a character class as either line end."""
    return "".join(
        _ANY_LINE_END if not in_class and token in ("\n", "\\n", "\\\n") else token
        for token, in_class in _tokens(pattern)
    )


_POSIX_CLASSES: Final = {
    "[:alnum:]": "0-9A-Za-z",
    "[:alpha:]": "A-Za-z",
    "[:ascii:]": r"\x00-\x7f",
    "[:blank:]": r"\t ",
    "[:cntrl:]": r"\x00-\x1f\x7f",
    "[:digit:]": "0-9",
    "[:graph:]": "!-~",
    "[:lower:]": "a-z",
    "[:print:]": " -~",
    "[:punct:]": r"!-/:-@\[-`{-~",
    "[:space:]": r"\t\n\v\f\r ",
    "[:upper:]": "A-Z",
    "[:word:]": "0-9A-Za-z_",
    "[:xdigit:]": "0-9A-Fa-f",
}
_BYTES: Final = r"\udc80-\udcff"
_IN_PYTHON: Final = {
    "$": r"(?:$|(?=\r))",
    "^": r"(?:^|(?<=\r))",
    **{opposite: rf"(?:(?![{_BYTES}])\{opposite[1]})" for opposite in (r"\D", r"\S", r"\W")},
    ".": rf"(?:(?![{_BYTES}]).)",
}


def _in_python(request: SearchRequest, pattern: str) -> str:
    """What ripgrep's dialect says in the words of ``re``, as far as ``re`` has them.

    A lone CR ends a line for its anchors and its dot, and it knows the classes of POSIX. A byte
    that is no UTF-8 is none of the characters that a dot or the opposite of a set stands for.
    """
    words = dict(_IN_PYTHON)
    if not re.search(r"\(\?[a-z]*s", pattern):
        words["."] = rf"[^\r\n{_BYTES}]"
    parts: list[str] = []
    for token, in_class in _tokens(pattern):
        if in_class and token.startswith("[:"):
            if token not in _POSIX_CLASSES:
                raise invalid_pattern(request, f"there is no class {token} here")
            parts.append(_POSIX_CLASSES[token])
        elif token.startswith("[^"):
            parts.append(token + _BYTES)
        else:
            parts.append(token if in_class else words.get(token, token))
    return "".join(parts)


def _tokens(pattern: str) -> Iterator[tuple[str, bool]]:
    """Characters and escapes, and whether they stand inside a character class."""
    in_class = False
    position = 0
    while position < len(pattern):
        found = _TOKEN_IN_CLASS.match(pattern, position) if in_class else None
        if found is None:
            found = _TOKEN.match(pattern, position)
        token = found[0] if found is not None else pattern[position:]
        position += len(token)
        if in_class:
            in_class = token != "]"
            yield token, in_class
        else:
            in_class = token.startswith("[")
            yield token, False


# A bracket right at the beginning of a class is a member, not its end.
_TOKEN: Final = re.compile(r"\[\^?\]?|\\.|.", re.DOTALL)
_TOKEN_IN_CLASS: Final = re.compile(r"\[:\^?\w+:\]|\\.|.", re.DOTALL)
