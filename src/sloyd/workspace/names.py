"""File names that are hard to write down: quoting them, and telling which ones look alike.

A name is quoted only when it has to be: when it would be lost, misread or mistyped as it is. The
quoted form is a JSON string, so a model can copy it, with or without its quotes, into the arguments
of the next call, and `sloyd.workspace.paths` accepts both.
"""

from __future__ import annotations

import unicodedata

__all__ = ["fold", "may_have_twins", "quote_name", "unquote_name"]

_SPACES = "\u00a0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_SINGLE_QUOTES = "\u2018\u2019\u201a\u201b\u02bc\u2032"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u2033"
_FOLDED = str.maketrans(
    {
        **dict.fromkeys(_SPACES, " "),
        **dict.fromkeys(_SINGLE_QUOTES, "'"),
        **dict.fromkeys(_DOUBLE_QUOTES, '"'),
    }
)
_MARKS = '"\\'
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def fold(name: str) -> str:
    """One form for all names that look the same: NFC, plain spaces, straight quotes.

    The set of spaces is pi's, and with it the U+202F that macOS puts before AM and PM.
    """
    if name.isascii():
        return name
    return unicodedata.normalize("NFC", name).translate(_FOLDED)


def may_have_twins(name: str) -> bool:
    """Whether another name can look like this one, so that a directory is worth searching."""
    return not name.isascii() or " " in name or "'" in name or '"' in name


def _is_plain(name: str) -> bool:
    if name.isascii() and name.isprintable():
        return bool(name) and name[0] not in ' "' and name[-1] != " "
    if not name or name[0] in ' "' or name[-1].isspace():
        return False
    return not any(map(_is_hidden, name))


def quote_name(name: str) -> str:
    """The name as it is where that is plain to read, else as a JSON string.

    Quoted are names that are empty, begin or end with a space, begin with a quotation mark, or hold
    control characters, invisible ones, special spaces, or bytes that are not UTF-8 (shown as
    ``\\udcXX``, the surrogate escape that stands for the byte).
    """
    if _is_plain(name):
        return name
    import json  # only odd names pay for it

    def escaped(character: str) -> str:
        return (
            json.dumps(character)[1:-1]
            if _is_hidden(character) or character in _MARKS
            else character
        )

    return '"' + "".join(map(escaped, name)) + '"'


def _is_hidden(character: str) -> bool:
    return character in _SPACES or unicodedata.category(character) in _UNSEEN


def unquote_name(text: str) -> str | None:
    """The name that `quote_name` made ``text`` of, or None when it is not a quoted name."""
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return None
    import json

    try:
        name = json.loads(text)
    except ValueError:
        return None
    return name if isinstance(name, str) else None
