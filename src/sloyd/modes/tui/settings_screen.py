"""All settings of the declared table: to be searched, read and changed."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from textual import work

from sloyd.errors import SloydError
from sloyd.harness.settings import Setting, declared_settings, type_name
from sloyd.harness.settings_edit import change_setting, parse_value
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.pickers.dialogs import InputDialog, SelectDialog
from sloyd.modes.tui.pickers.fuzzy_screen import FuzzyScreen
from sloyd.modes.tui.pickers.row_list import Row

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = ["SettingsScreen", "choices_of", "shown_value"]

_UNSET = "(the default)"


class SettingsScreen(FuzzyScreen[Setting, tuple[str, ...]]):
    """Settings as they are. Its result is the names of those that were changed.

    Changes go into the user's own file at once; who opened the screen reads the settings again.
    """

    def __init__(self, agent: CodingAgent, keys: KeyMap, query: str = "") -> None:
        path = agent.home / "config.toml"
        hint = f"{keys.shown('list.choose')} change    {keys.shown('list.close')} leave    {path}"
        super().__init__(keys, title="Settings", query=query, hint=hint)
        self._agent = agent
        self._path = path
        self._settings = list(declared_settings())
        loaded = agent.resources.loaded
        self._values: dict[str, Any] = {
            row.name: getattr(getattr(loaded.settings, row.section), row.key)
            for row in self._settings
        }
        self._sources = {name: str(file) for name, file in loaded.sources.items()}
        self._changed: dict[str, None] = {}

    def all_rows(self) -> Sequence[Row[Setting]]:
        return [
            Row(
                row,
                f"{row.name} = {shown_value(self._values[row.name])}",
                row.doc,
                style="bold" if self._values[row.name] != row.default else "",
            )
            for row in self._settings
        ]

    def moved(self) -> None:
        row = self.chosen
        self.more.display = row is not None
        if row is None:
            return
        setting = row.value
        lines = [
            setting.doc,
            f"{type_name(setting.type)}; by default {shown_value(setting.default)}",
        ]
        source = self._sources.get(setting.name)
        if source is not None:
            lines.append(f"set in {source}")
        self.more.update("\n".join(lines))

    def choose(self, row: Row[Setting]) -> None:
        self._edit(row.value)

    def leave(self) -> None:
        self.dismiss(tuple(self._changed))

    @work
    async def _edit(self, setting: Setting) -> None:
        choices = choices_of(setting.type)
        if choices == ("true", "false"):
            self._put(setting, "false" if self._values[setting.name] else "true")
        elif choices:
            options = [*choices, _UNSET]
            picked = await self.app.push_screen_wait(SelectDialog(self.keys, setting.name, options))
            if picked is not None:
                self._put(setting, options[picked] if picked < len(choices) else "")
        else:
            text = await self.app.push_screen_wait(
                InputDialog(
                    self.keys,
                    setting.name,
                    _editable(self._values[setting.name]),
                    hint=f"{setting.doc}. {type_name(setting.type)}; empty for the default",
                )
            )
            if text is not None:
                self._put(setting, text.strip())

    def _put(self, setting: Setting, text: str) -> None:
        """Change the setting to what was typed; an empty text takes it out of the file."""
        try:
            value = parse_value(setting, [text]) if text else None
            change_setting(self._path, setting.name, value)
        except SloydError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        known = setting.default if value is None else msgspec.convert(value, setting.type)
        self._values[setting.name] = known
        self._changed[setting.name] = None
        source = self._sources.get(setting.name, str(self._path))
        if source != str(self._path):
            self.notify(f"{source} sets it too, and wins here", severity="warning", markup=False)
        elif value is None:
            self._sources.pop(setting.name, None)
        else:
            self._sources[setting.name] = str(self._path)
        self.fill(stay=True)


def shown_value(value: object) -> str:
    """A value as it stands in the file; a dash for none."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple | list):
        return "[" + ", ".join(shown_value(item) for item in value) + "]"
    return str(value)


def _editable(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else shown_value(value)


def choices_of(declared: Any) -> tuple[str, ...]:
    """The values that a setting may have, where they are few."""
    if declared is bool:
        return ("true", "false")
    origin = get_origin(declared)
    if origin is Annotated:
        return choices_of(get_args(declared)[0])
    if origin is Literal:
        return tuple(str(value) for value in get_args(declared))
    if origin in (Union, types.UnionType):
        parts = [part for part in get_args(declared) if part is not types.NoneType]
        return choices_of(parts[0]) if len(parts) == 1 else ()
    return ()
