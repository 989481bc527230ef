"""Which key does what: the declared actions, and what ``keybindings.toml`` makes of them.

A key is spelled ``ctrl+shift+f``, ``alt+enter``, ``ctrl+]``, ``f5``: names as Textual has them, and
symbols as themselves. The file has one line an action:

    "model.pick" = ["ctrl+l", "f2"]
    "app.suspend" = []

A named action has the keys that the file says and no others; ``[]`` takes them away. A key that the
file gives away is lost to the action that has it by default.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sloyd.modes.tui.key_table import ACTIONS, TOGETHER, KeyAction, KeyContext
from sloyd.text.suggestion import suggestion

__all__ = ["KeyMap", "key_name", "load_keys", "shown_key"]

_MODIFIERS = ("alt", "ctrl", "hyper", "meta", "shift", "super")
_SYMBOLS = {
    "-": "minus", "_": "underscore", "/": "slash", "\\": "backslash", "@": "at", "+": "plus",
}  # fmt: skip
_ALIASES = {
    "return": "enter", "esc": "escape", "del": "delete", "ins": "insert", "pgup": "pageup",
    "pgdn": "pagedown", "page_up": "pageup", "page_down": "pagedown", "spacebar": "space",
}  # fmt: skip
_SHOWN = {
    "right_square_bracket": "]", "left_square_bracket": "[", "minus": "-", "underscore": "_",
    "slash": "/", "backslash": "\\", "at": "@", "plus": "+", "escape": "esc", "pageup": "pgup",
    "pagedown": "pgdn", "question_mark": "?", "full_stop": ".", "comma": ",",
}  # fmt: skip
_CHARACTERS = {"\r": "enter", "\t": "tab", "\x7f": "backspace", "\x1b": "escape", " ": "space"}
_NAMED = frozenset(
    {
        "enter",
        "escape",
        "delete",
        "insert",
        "pageup",
        "pagedown",
        "space",
        "tab",
        "backspace",
        "home",
        "end",
        "up",
        "down",
        "left",
        "right",
        "newline",
    }
) | {f"f{number}" for number in range(1, 25)}


def key_name(spelled: str) -> str:
    """The name of a key as Textual gives it. Raises `ValueError` for what is no key."""
    text = spelled.strip()
    front, plus, last = text[:-1].rpartition("+") if len(text) > 1 else ("", "", "")
    last = last + text[-1:] if text else ""
    modifiers = {part.lower() for part in front.split("+")} if plus else set()
    if not last or not modifiers <= set(_MODIFIERS):
        raise ValueError(f"{spelled!r} is no key")
    name = _base_name(last, spelled)
    if len(name) == 1 and name.isalpha():
        # A terminal sends a letter typed with shift as a capital, unless more modifiers are held.
        if not modifiers:
            return name
        name = name.lower()
        if modifiers == {"shift"}:
            return name.upper()
    return "+".join([*sorted(modifiers), name])


def _base_name(last: str, spelled: str) -> str:
    if len(last) == 1 and not last.isalnum():
        return _SYMBOLS.get(last) or unicodedata.name(last).lower().replace("-", "_").replace(
            " ", "_"
        )
    if len(last) == 1:
        return last
    lower = _ALIASES.get(last.lower(), last.lower())
    if lower in _NAMED or lower in _SHOWN:
        return lower
    raise ValueError(f"{spelled!r} is no key")


def shown_key(name: str) -> str:
    """The key as people read it."""
    *modifiers, last = name.split("+")
    if len(last) == 1 and last.isupper():
        modifiers, last = [*modifiers, "shift"], last.lower()
    return "+".join([*modifiers, _SHOWN.get(last, last)])


class KeyMap:
    """The keys in force.

    Attributes:
        problems: what is wrong with the file, in sentences for a person.
    """

    def __init__(
        self, configured: Mapping[str, Any] | None = None, *, source: str = "keybindings.toml"
    ) -> None:
        self.problems: list[str] = []
        self._source = source
        self._actions = {action.name: action for action in ACTIONS}
        chosen = self._chosen(configured or {})
        taken = [
            (self._actions[name].context, key) for name, keys in chosen.items() for key in keys
        ]
        self._keys: dict[str, tuple[str, ...]] = {}
        for action in ACTIONS:
            if action.name in chosen:
                self._keys[action.name] = chosen[action.name]
                continue
            defaults = [key_name(key) for key in action.keys]
            self._keys[action.name] = tuple(
                key
                for key in defaults
                if not any(k == key and _meet(action.context, other) for other, k in taken)
            )
        self._by_key: dict[KeyContext, dict[str, str]] = {}
        for action in ACTIONS:
            for key in self._keys[action.name]:
                self._by_key.setdefault(action.context, {}).setdefault(key, action.name)

    def action(self, key: str, *contexts: KeyContext) -> str | None:
        """What the key does in the first of the contexts that knows it."""
        name = _canonical(key)
        for context in contexts:
            found = self._by_key.get(context, {}).get(name)
            if found is not None:
                return found
        return None

    def is_key(self, action: str, key: str) -> bool:
        """Whether the key starts that action."""
        return _canonical(key) in self._keys[action]

    def keys(self, action: str) -> tuple[str, ...]:
        """The keys of an action."""
        return self._keys[action]

    def shown(self, action: str) -> str:
        """The first key of an action as people read it; empty when it has none."""
        keys = self._keys[action]
        return shown_key(keys[0]) if keys else ""

    def table(self, *contexts: KeyContext) -> Sequence[tuple[str, str]]:
        """Keys and what they do, for help; of all contexts when none is named."""
        rows: list[tuple[str, str]] = []
        for action in ACTIONS:
            keys = self._keys[action.name]
            if keys and (not contexts or action.context in contexts):
                rows.append((", ".join(shown_key(key) for key in keys), action.doc))
        return rows

    def _chosen(self, configured: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
        chosen: dict[str, tuple[str, ...]] = {}
        for name, value in configured.items():
            action = self._actions.get(name)
            if action is None:
                self._problem(f"there is no action {name}{suggestion(name, self._actions)}")
                continue
            keys = self._valid(name, value)
            if keys is not None:
                chosen[name] = self._free(action, keys, chosen)
        return chosen

    def _valid(self, name: str, value: object) -> list[str] | None:
        spelled = [value] if isinstance(value, str) else value
        if not isinstance(spelled, list) or not all(isinstance(key, str) for key in spelled):
            self._problem(f"{name} must be a key or a list of keys")
            return None
        keys: list[str] = []
        for key in spelled:
            try:
                keys.append(key_name(key))
            except ValueError as error:
                self._problem(f"{name}: {error}")
        return keys

    def _free(
        self, action: KeyAction, keys: Iterable[str], chosen: Mapping[str, tuple[str, ...]]
    ) -> tuple[str, ...]:
        """The keys that no action named before has, where both are heard at once."""
        free: list[str] = []
        for key in keys:
            other = next(
                (
                    name
                    for name, taken in chosen.items()
                    if key in taken and _meet(self._actions[name].context, action.context)
                ),
                None,
            )
            if other is None:
                free.append(key)
            else:
                self._problem(
                    f"{shown_key(key)} is given to {other} and to {action.name}; {other} keeps it"
                )
        return tuple(free)

    def _problem(self, text: str) -> None:
        self.problems.append(f"{self._source}: {text}")


def load_keys(path: Path) -> KeyMap:
    """The keys as the file changes them; without a file, or with a broken one, the defaults."""
    import tomllib

    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return KeyMap()
    except (OSError, ValueError) as error:
        keys = KeyMap()
        keys.problems.append(f"{path.name} cannot be read, so the usual keys hold: {error}")
        return keys
    return KeyMap(_flat(values), source=path.name)


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Tables as dotted names: ``[model]`` with ``pick`` is ``model.pick``."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def _canonical(key: str) -> str:
    """A key as an event has it, with its modifiers in our order."""
    *modifiers, last = key.split("+")
    if not modifiers:
        return key
    # Textual reads xterm's modifyOtherKeys, but leaves the character without a name.
    return "+".join([*sorted(modifiers), _CHARACTERS.get(last, last)])


def _meet(one: KeyContext, other: KeyContext) -> bool:
    return one == other or any({one, other} <= together for together in TOGETHER)
