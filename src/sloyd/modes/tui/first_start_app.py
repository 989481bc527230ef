"""The screen of the first start, by itself: there is no agent yet, for there is no model."""

from __future__ import annotations

import os
from collections.abc import Mapping

import anyio
from textual.app import App

from sloyd.errors import SettingsError
from sloyd.harness.home import sloyd_home
from sloyd.harness.settings_files import load_settings
from sloyd.modes.tui.driver import driver_class
from sloyd.modes.tui.first_start import FirstStart
from sloyd.modes.tui.keys import KeyMap, load_keys
from sloyd.modes.tui.literal_paste import use_literal_paste
from sloyd.modes.tui.messages import ModelPicked
from sloyd.modes.tui.theme import DARK, TERMINAL, Theme, find_theme

__all__ = ["FirstStartApp", "choose_first_model"]


class FirstStartApp(App[ModelPicked | None], inherit_bindings=False):
    """Leads to a model; its return value is what was picked."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, keys: KeyMap, variables: Mapping[str, str]) -> None:
        super().__init__(driver_class=driver_class())
        self.animation_level = "none"
        self._keys = keys
        self._variables = variables
        home = sloyd_home(variables)
        self._settings = load_settings(home / "config.toml").settings
        look = self._find_look()
        self.register_theme(look.textual())
        self.theme = f"sloyd-{look.name}"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return {"muted": DARK.colours["muted"], "thinking": DARK.colours["thinking"]}

    def on_mount(self) -> None:
        start = FirstStart(self._settings, self._keys, variables=self._variables)
        self.push_screen(start, self.exit)

    def _find_look(self) -> Theme:
        if self._variables.get("NO_COLOR"):
            return TERMINAL
        try:
            return find_theme(self._settings.display.theme, sloyd_home(self._variables))
        except SettingsError:
            return DARK


def choose_first_model() -> ModelPicked | None:
    """Show the screen; what was picked, or None when the person left it."""
    use_literal_paste()
    keys = load_keys(sloyd_home(os.environ) / "keybindings.toml")
    return anyio.run(FirstStartApp(keys, os.environ).run_async)
