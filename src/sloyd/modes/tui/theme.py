"""How the screen is coloured: dark, light, the terminal's own palette, and themes from files.

A theme gives a colour to each of a few roles, and everything that is drawn names a role. A file
``themes/NAME.toml`` in Sloyd's home makes the theme NAME:

    base = "dark"            # what is not said is taken from there
    code = "monokai"         # a Pygments style
    [colours]
    accent = "#7aa2f7"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from sloyd.errors import SettingsError

if TYPE_CHECKING:
    from rich.style import Style
    from rich.terminal_theme import TerminalTheme
    from textual.theme import Theme as TextualTheme

__all__ = ["DARK", "LIGHT", "TERMINAL", "Role", "Theme", "find_theme", "theme_names"]

Role: TypeAlias = Literal[
    "text",
    "muted",
    "accent",
    "background",
    "surface",
    "panel",
    "success",
    "warning",
    "error",
    "thinking",
]
"""``surface`` lies under what a person said and under the composer; ``panel`` draws borders."""


@dataclass(frozen=True)
class Theme:
    """Colours by role: ``#rrggbb``, or the name of one of the terminal's sixteen.

    Attributes:
        native: the colours are the terminal's own and stay so.
        code: the Pygments style of code, or ``ansi_dark`` / ``ansi_light``.
    """

    name: str
    colours: Mapping[Role, str]
    dark: bool = True
    native: bool = False
    code: str = "monokai"
    ansi: tuple[str, ...] = field(default=(), repr=False)
    """What the first eight terminal colours become when they are not native."""

    def style(self, role: Role, *, on: Role | None = None, **attributes: bool) -> Style:
        """The rich style of a role; ``attributes`` are rich's own, such as ``bold=True``."""
        from rich.style import Style

        behind = self.colours[on] if on is not None else None
        return Style(
            color=_rich_colour(self.colours[role]),
            bgcolor=_rich_colour(behind) if behind is not None else None,
            **attributes,  # type: ignore[arg-type]  # none but its switches
        )

    def textual(self) -> TextualTheme:
        """The theme as Textual takes it: ``$primary`` is accent, ``$foreground`` is text."""
        from textual.theme import Theme as TextualTheme

        own = {role: _textual_colour(colour) for role, colour in self.colours.items()}
        return TextualTheme(
            name=f"sloyd-{self.name}",
            primary=own["accent"],
            secondary=own["thinking"],
            warning=own["warning"],
            error=own["error"],
            success=own["success"],
            accent=own["accent"],
            foreground=own["text"],
            background=own["background"],
            surface=own["surface"],
            panel=own["panel"],
            boost=own["surface"],
            dark=self.dark,
            ansi=self.native,
            variables=_variables(own, native=self.native),
        )

    def terminal_theme(self) -> TerminalTheme:
        """What named colours of tool renderers become when they are not native."""
        from rich.color import Color
        from rich.terminal_theme import TerminalTheme

        def triplet(colour: str) -> tuple[int, int, int]:
            red, green, blue = Color.parse(colour).get_truecolor()
            return red, green, blue

        colours = [triplet(colour) for colour in self.ansi]
        return TerminalTheme(
            triplet(self.colours["background"]), triplet(self.colours["text"]), colours, colours
        )


def _variables(own: Mapping[Role, str], *, native: bool) -> dict[str, str]:
    variables = {
        "muted": own["muted"],
        # Textual's own are blends that component styles cannot hold.
        "text-muted": own["muted"],
        "text-disabled": own["muted"],
        "thinking": own["thinking"],
        "scrollbar": own["panel"],
        "scrollbar-hover": own["muted"],
        "scrollbar-active": own["accent"],
        "scrollbar-background": own["background"],
        "scrollbar-background-hover": own["background"],
        "scrollbar-background-active": own["background"],
        "scrollbar-corner-color": own["background"],
        "block-cursor-foreground": own["background"],
        "block-cursor-background": own["accent"],
        "block-cursor-text-style": "none",
    }
    if native:
        variables |= {
            "ansi-background": "ansi_black",
            "ansi-foreground": "ansi_white",
            "border-blurred": "ansi_bright_black",
            "block-cursor-foreground": "ansi_black",
            "input-cursor-background": "ansi_white",
            "input-cursor-foreground": "ansi_black",
            "input-selection-background": "ansi_blue",
            "input-selection-foreground": "ansi_white",
            "screen-selection-background": "ansi_blue",
            "screen-selection-foreground": "ansi_white",
        }
    else:
        variables["screen-selection-background"] = f"{own['accent']} 40%"
    return variables


DARK = Theme(
    name="dark",
    colours={
        "text": "#d6d9e0",
        "muted": "#7d8590",
        "accent": "#6cb6ff",
        "background": "#14171c",
        "surface": "#1f242c",
        "panel": "#363d48",
        "success": "#6bc46d",
        "warning": "#daaa3f",
        "error": "#f47067",
        "thinking": "#a394c9",
    },
    code="github-dark",
    ansi=(
        "#363d48", "#f47067", "#6bc46d", "#daaa3f", "#6cb6ff", "#c99bdb", "#56b6c2", "#d6d9e0",
    ),
)  # fmt: skip

LIGHT = Theme(
    name="light",
    colours={
        "text": "#24292f",
        "muted": "#6a737d",
        "accent": "#0757b8",
        "background": "#ffffff",
        "surface": "#eef1f5",
        "panel": "#c9d1d9",
        "success": "#11722e",
        "warning": "#8a5a00",
        "error": "#b92027",
        "thinking": "#6b4fa8",
    },
    dark=False,
    code="friendly",
    ansi=(
        "#24292f", "#b92027", "#11722e", "#8a5a00", "#0757b8", "#8a3aa8", "#0b6b78", "#6a737d",
    ),
)  # fmt: skip

TERMINAL = Theme(
    name="terminal",
    colours={
        "text": "default",
        "muted": "bright_black",
        "accent": "cyan",
        "background": "default",
        "surface": "default",
        "panel": "bright_black",
        "success": "green",
        "warning": "yellow",
        "error": "red",
        "thinking": "magenta",
    },
    native=True,
    code="ansi_dark",
)

_BUILT_IN = {theme.name: theme for theme in (DARK, LIGHT, TERMINAL)}


def theme_names(home: Path) -> list[str]:
    """The names that `find_theme` knows: ours, then those of files."""
    files = sorted(path.stem for path in (home / "themes").glob("*.toml"))
    return [*_BUILT_IN, *(name for name in files if name not in _BUILT_IN)]


def find_theme(name: str, home: Path) -> Theme:
    """The theme of that name; ``system`` is the terminal's own palette.

    Raises `SettingsError` when there is none or its file is wrong.
    """
    if name == "system":
        return TERMINAL
    path = home / "themes" / f"{name}.toml"
    if "/" in name or not path.is_file():
        if name in _BUILT_IN:
            return _BUILT_IN[name]
        raise SettingsError(f"there is no theme {name}; known are: {', '.join(theme_names(home))}")
    return _load(name, path)


def _load(name: str, path: Path) -> Theme:
    import tomllib

    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path}: {error}") from error
    base = _BUILT_IN.get(values.get("base", "dark"))
    if base is None:
        raise SettingsError(f"{path}: base must be one of: {', '.join(_BUILT_IN)}")
    colours = dict(base.colours)
    given = values.get("colours", {})
    if not isinstance(given, dict):
        raise SettingsError(f"{path}: colours must be a table")
    for role, colour in given.items():
        if role not in get_args(Role):
            known = ", ".join(get_args(Role))
            raise SettingsError(f"{path}: there is no role {role}; known are: {known}")
        colours[role] = _checked(colour, path)
    return replace(base, name=name, colours=colours, code=_code_style(values, base, path))


def _code_style(values: Mapping[str, Any], base: Theme, path: Path) -> str:
    named = values.get("code", base.code)
    if named in ("ansi_dark", "ansi_light"):
        return str(named)
    from pygments.styles import get_all_styles

    if named not in set(get_all_styles()):
        raise SettingsError(f"{path}: there is no code style {named}; Pygments names its styles")
    return str(named)


def _checked(colour: object, path: Path) -> str:
    from rich.color import Color, ColorParseError

    try:
        Color.parse(str(colour))
    except ColorParseError as error:
        raise SettingsError(f"{path}: {colour!r} is no colour, such as #7aa2f7 or red") from error
    return str(colour)


def _rich_colour(colour: str) -> str | None:
    return None if colour == "default" else colour


def _textual_colour(colour: str) -> str:
    """Textual's name: the terminal's own colours carry ``ansi_`` there."""
    return colour if colour.startswith(("#", "rgb")) else f"ansi_{colour}"
