"""The rules of one ignore file, as git and ripgrep read them.

The last rule that matches decides. A rule without a slash, except at its end, is about names at
any depth below the file's directory; any other rule is about paths that start there. A slash at
the end means directories only; ``!`` takes a match back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from sloyd.errors import ToolError
from sloyd.tools.search.globs import glob_to_regex

__all__ = ["IgnoreRules", "Verdict", "parse_rules"]

Verdict: TypeAlias = Literal["ignored", "kept"]

_MOST_CACHED_NAMES: Final = 4096


@dataclass(frozen=True, slots=True)
class _Rule:
    regex: str
    takes_back: bool
    directories_only: bool
    by_name: bool


class IgnoreRules:
    """All rules of one file, ready to be asked."""

    def __init__(self, rules: Sequence[_Rule]) -> None:
        self._rules = rules
        self._by_name = {
            False: _Matcher(rules, by_name=True, is_directory=False),
            True: _Matcher(rules, by_name=True, is_directory=True),
        }
        self._by_path = {
            False: _Matcher(rules, by_name=False, is_directory=False),
            True: _Matcher(rules, by_name=False, is_directory=True),
        }
        self._cached: dict[tuple[str, bool], int] = {}

    def __bool__(self) -> bool:
        return bool(self._rules)

    def verdict(self, path: str, name: str, *, is_directory: bool) -> Verdict | None:
        """What the rules say of an entry, or None when none of them matches.

        ``path`` is relative to the directory of the ignore file, ``name`` its last component.
        """
        key = (name, is_directory)
        last = self._cached.get(key)
        if last is None:
            last = self._by_name[is_directory].last_match(name)
            if len(self._cached) >= _MOST_CACHED_NAMES:
                self._cached.clear()
            self._cached[key] = last
        by_path = self._by_path[is_directory]
        if by_path.highest > last:
            last = max(last, by_path.last_match(path))
        if last < 0:
            return None
        return "kept" if self._rules[last].takes_back else "ignored"


class _Matcher:
    """Finds the last of many rules that matches, with one regular expression."""

    def __init__(self, rules: Sequence[_Rule], *, by_name: bool, is_directory: bool) -> None:
        self._numbers = [
            number
            for number, rule in enumerate(rules)
            if rule.by_name is by_name and (is_directory or not rule.directories_only)
        ]
        self._numbers.reverse()
        self.highest = self._numbers[0] if self._numbers else -1
        # Alternatives are tried in order, so the last rule comes first and its group tells.
        self._source = "|".join(f"({rules[number].regex})" for number in self._numbers)
        self._compiled: re.Pattern[str] | None = None

    def last_match(self, text: str) -> int:
        if not self._numbers:
            return -1
        if self._compiled is None:
            self._compiled = re.compile(self._source)
        found = self._compiled.fullmatch(text)
        if found is None or found.lastindex is None:
            return -1
        return self._numbers[found.lastindex - 1]


def parse_rules(data: bytes) -> IgnoreRules:
    """The rules in an ignore file's content. Lines that are no valid pattern are passed over."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return IgnoreRules(list(_parsed(text.split("\n"))))


def _parsed(lines: Iterable[str]) -> Iterable[_Rule]:
    for line in lines:
        try:
            rule = _parse(line.removesuffix("\r"))
        except ToolError:
            continue
        if rule is not None:
            yield rule


def _parse(line: str) -> _Rule | None:
    if line.startswith("#"):
        return None
    pattern = _without_trailing_blanks(line)
    takes_back = pattern.startswith("!")
    if takes_back:
        pattern = pattern[1:]
    is_anchored = pattern.startswith("/")
    pattern = pattern.removeprefix("/")
    directories_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern:
        return None
    by_name = not is_anchored and "/" not in pattern
    if pattern.endswith("/**"):
        pattern += "/*"  # what is below the directory, never the directory itself
    return _Rule(glob_to_regex(pattern), takes_back, directories_only, by_name)


def _without_trailing_blanks(line: str) -> str:
    stripped = line.rstrip(" \t")
    if stripped == line:
        return line
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    # An escaped blank belongs to the pattern.
    return stripped + line[len(stripped)] if backslashes % 2 else stripped
