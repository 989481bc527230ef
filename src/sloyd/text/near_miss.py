"""Why a text was not found: the nearest place and what differs, short enough for a model.

The work is bounded: exact searches of a few variants over the whole file (at memory speed), and a
closer look only at a small file or at the lines around an anchor.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from sloyd.text.encoding import show_undecodable
from sloyd.text.newlines import line_number

__all__ = ["MAX_EXPLANATION", "explain_miss"]

MAX_EXPLANATION: Final = 600
"""Most bytes of an explanation."""

_CLOSE_LOOK: Final = 1 << 20
_MAX_QUOTE: Final = 70
_MAX_ANCHORS: Final = 50


def explain_miss(text: bytes, old: str, new: str) -> str:
    """What to tell about ``old``, which occurs nowhere in ``text`` (an LF view); at most
    `MAX_EXPLANATION` bytes."""
    explanation = _cause(text, old, new)
    data = explanation.encode("utf-8", "replace")
    if len(data) <= MAX_EXPLANATION:
        return explanation
    return data[: MAX_EXPLANATION - 3].decode("utf-8", "ignore") + "…"


def _cause(text: bytes, old: str, new: str) -> str:
    if not text:
        return "The file is empty. Use write to fill it."
    for check in (_already_applied, _final_newline, _variants):
        found = check(text, old, new)
        if found:
            return found
    return _nearest(text, old) or "No place resembles it. Read the file again."


def _find(text: bytes, needle: str) -> int:
    return text.find(needle.encode("utf-8", "surrogateescape")) if _encodes(needle) else -1


def _encodes(needle: str) -> bool:
    return not re.search("[\ud800-\udc7f\udd00-\udfff]", needle)


def _already_applied(text: bytes, old: str, new: str) -> str:
    wanted = new.strip("\n")
    if len(wanted.strip()) < 4 or wanted in old:
        return ""
    place = _find(text, wanted)
    if place < 0 or not _stands_alone(text, place, wanted):
        return ""
    return (
        f"newText is in the file already, at line {line_number(text, place)}: "
        "this edit seems to be applied."
    )


def _stands_alone(text: bytes, place: int, wanted: str) -> bool:
    """Whether an occurrence is not just a part of longer words."""
    end = place + len(wanted.encode("utf-8", "surrogateescape"))
    before, after = text[place - 1 : place] if place else b"", text[end : end + 1]
    return not (
        (_is_word(wanted[0]) and _is_word(before.decode("latin-1")))
        or (_is_word(wanted[-1]) and _is_word(after.decode("latin-1")))
    )


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _final_newline(text: bytes, old: str, new: str) -> str:
    if not old.endswith("\n") or text.endswith(b"\n"):
        return ""
    if not text.endswith(old[:-1].encode("utf-8", "replace")):
        return ""
    return (
        "The file ends without a line break: the text is there, at the end, but no newline follows "
        "it. Leave the final newline out of oldText."
    )


_ESCAPES: Final = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\'": "'", "\\\\": "\\"}
_NUMBERED: Final = re.compile(r"^ *\d+(?:\t|→|[:|] ?| )", re.MULTILINE)
_MARKED: Final = re.compile(r"^[-+ ]", re.MULTILINE)


def _unescaped(old: str) -> str:
    return re.sub(r"\\[nt\"'\\]", lambda found: _ESCAPES[found[0]], old)


def _escaped(old: str) -> str:
    return old.replace("\n", "\\n").replace("\t", "\\t")


def _without_prefix(pattern: re.Pattern[str]) -> Callable[[str], str]:
    def strip(old: str) -> str:
        lines = old.split("\n")
        if all(pattern.match(line) for line in lines if line):
            return pattern.sub("", old)
        return old

    return strip


_VARIANTS: Final[tuple[tuple[Callable[[str], str], str], ...]] = (
    (
        _unescaped,
        r"oldText is escaped too often: it has \n, \t, \" or \\ where the file has the character",
    ),
    (
        _escaped,
        "the file has \\n or \\t as two characters where oldText has a line break or a tab",
    ),
    (_without_prefix(_NUMBERED), "oldText has line numbers in front of its lines; leave them out"),
    (_without_prefix(_MARKED), "oldText has diff signs in front of its lines; leave them out"),
    (lambda old: old.strip("\n"), "oldText has line breaks around it that the file has not"),
)


def _variants(text: bytes, old: str, new: str) -> str:
    for change, words in _VARIANTS:
        variant = change(old)
        if variant == old or not variant.strip():
            continue
        place = _find(text, variant)
        if place >= 0:
            return f"It would match at line {line_number(text, place)}, but {words}."
    return ""


def _nearest(text: bytes, old: str) -> str:
    wanted = old.split("\n")
    if wanted[-1] == "" and len(wanted) > 1:
        wanted.pop()
    anchor = _anchor(text, wanted)
    if anchor is None:
        return ""
    first, lines = anchor
    last = first + len(lines) - 1
    place = f"line {first}" if last == first else f"lines {first}-{last}"
    for number, (have, want) in enumerate(zip(lines, wanted, strict=False), first):
        if have == want:
            continue
        if len(wanted) == 1 and want in have:
            continue
        if (number == first and have.endswith(want)) or (number == last and have.startswith(want)):
            continue
        where = f"{place}; line {number}" if len(lines) > 1 else f"{place}; it"
        return (
            f"The nearest place is {where} differs {_difference(have, want)}: "
            f"the file has {_quote(have, want)}, oldText has {_quote(want, have)}."
        )
    if len(lines) < len(wanted):
        return f"The nearest place is {place}, where the file ends before oldText does."
    return f"The nearest place is {place}. Read it again and copy it."


def _anchor(text: bytes, wanted: list[str]) -> tuple[int, list[str]] | None:
    """The number of the first line, and the lines, of the place that resembles ``wanted`` most."""
    if len(text) <= _CLOSE_LOOK:
        lines = text.decode("utf-8", "surrogateescape").split("\n")
        if lines[-1] == "":
            lines.pop()
        index = _by_keys(lines, wanted)
        if index is None:
            index = _by_likeness(lines, wanted)
        if index is None:
            return None
        first = max(index, 0)
        return first + 1, lines[first : max(index + len(wanted), first + 1)]
    return _by_search(text, wanted)


def _key(line: str) -> str:
    return "".join(line.split()).casefold()


def _by_keys(lines: list[str], wanted: list[str]) -> int | None:
    """Where most lines agree but for spacing and case; the rarest lines count most."""
    places: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        places.setdefault(_key(line), []).append(number)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(wanted):
        key = _key(line)
        found = places.get(key, ()) if key else ()
        if 0 < len(found) <= _MAX_ANCHORS:
            for number in found:
                votes[number - offset] += max(1, len(key)) * 1000 // len(found)
    if not votes:
        return None
    best = max(votes.values())
    return min(index for index, count in votes.items() if count == best)


def _by_likeness(lines: list[str], wanted: list[str]) -> int | None:
    """Where the longest wanted line has its most similar line, if it is similar enough."""
    from difflib import SequenceMatcher

    offset, target = max(enumerate(wanted), key=lambda item: len(item[1].strip()))
    target = target.strip()[:500]
    key = _key(target)
    if not key:
        return None
    # Part of a line that differs in case or spacing only.
    for number, line in enumerate(lines):
        if len(key) >= 3 and key in _key(line):
            return number - offset
    words = set(re.findall(r"\w+", target))
    scores = Counter[int]()
    for number, line in enumerate(lines):
        shared = sum(len(word) for word in words if word in line)
        if shared:
            scores[number] = shared
    best, best_ratio = None, 0.6
    for number, _ in scores.most_common(20):
        ratio = SequenceMatcher(None, lines[number].strip()[:500], target, autojunk=False).ratio()
        if ratio > best_ratio:
            best, best_ratio = number, ratio
    return None if best is None else best - offset


def _by_search(text: bytes, wanted: list[str]) -> tuple[int, list[str]] | None:
    """In a large file: where one of the longest wanted lines occurs, whatever its indentation."""
    candidates = sorted(enumerate(wanted), key=lambda item: -len(item[1].strip()))[:8]
    for offset, line in candidates:
        if len(line.strip()) < 4 or not _encodes(line):
            continue
        place = text.find(line.strip().encode("utf-8", "surrogateescape"))
        if place < 0:
            continue
        start = text.rfind(b"\n", 0, place) + 1
        moved = 0
        while moved < offset and start > 0:
            start = text.rfind(b"\n", 0, start - 1) + 1
            moved += 1
        return line_number(text, start), list(_lines_from(text, start, len(wanted)))
    return None


def _lines_from(text: bytes, start: int, count: int) -> Iterator[str]:
    for _ in range(count):
        if start >= len(text):
            return
        end = text.find(b"\n", start)
        end = len(text) if end < 0 else end
        yield text[start : min(end, start + 10_000)].decode("utf-8", "surrogateescape")
        start = end + 1


def _difference(have: str, want: str) -> str:
    if have.lstrip(" \t") == want.lstrip(" \t"):
        return _indentation(have, want)
    if have.split() == want.split():
        return (
            "in its spacing (tabs and spaces)"
            if "\t" in have.strip() + want.strip()
            else "in its spacing"
        )
    if "".join(have.split()) == "".join(want.split()):
        return "in its spacing"
    if have.casefold() == want.casefold():
        return "in upper and lower case"
    if have.strip().casefold() == want.strip().casefold():
        return "in indentation and case"
    if _key(have) == _key(want):
        return "in spacing and case"
    if "\ufffd" in want or any("\udc80" <= character <= "\udcff" for character in have):
        return "in bytes that are not UTF-8 (read shows each as a marker like ⟨E9⟩; copy it so)"
    return "in its text"


def _indentation(have: str, want: str) -> str:
    def described(line: str) -> str:
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        parts = []
        for character, name in (("\t", "tab"), (" ", "space")):
            count = indent.count(character)
            if count:
                parts.append(f"{count} {name}{'s' if count > 1 else ''}")
        return " and ".join(parts) or "none"

    return f"in indentation (file: {described(have)}; oldText: {described(want)})"


def _quote(line: str, other: str) -> str:
    """A line, quoted and shortened to where it begins to differ from the other one."""
    start = 0
    if len(line) > _MAX_QUOTE:
        shorter = min(len(line), len(other))
        same = next((at for at in range(shorter) if line[at] != other[at]), shorter)
        start = max(0, min(same - 20, len(line) - _MAX_QUOTE))
    piece = line[start : start + _MAX_QUOTE].replace("\t", "\\t").replace("\r", "\\r")
    left = "…" if start else ""
    right = "…" if start + _MAX_QUOTE < len(line) else ""
    return f"`{left}{show_undecodable(piece)}{right}`"
