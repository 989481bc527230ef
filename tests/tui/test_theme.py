"""Themes: the built-in ones, files, and mistakes in files."""

from __future__ import annotations

from pathlib import Path

import pytest

from sloyd.errors import SettingsError
from sloyd.modes.tui.theme import DARK, LIGHT, TERMINAL, find_theme, theme_names


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, as the accessibility guidelines of the W3C count it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (
            p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_what_is_to_be_read_stands_out(theme: object) -> None:
    assert theme in (DARK, LIGHT)
    colours = (DARK if theme is DARK else LIGHT).colours
    for role in ("text", "accent", "success", "warning", "error", "thinking"):
        assert contrast(colours[role], colours["background"]) >= 4.5, role
        assert contrast(colours[role], colours["surface"]) >= 4.5, role
    assert contrast(colours["muted"], colours["background"]) >= 4.5


def test_the_terminals_own_palette_names_no_colour_of_ours() -> None:
    assert not any(colour.startswith("#") for colour in TERMINAL.colours.values())
    assert TERMINAL.textual().ansi


def test_a_file_changes_what_it_names_and_keeps_the_rest(tmp_path: Path) -> None:
    (tmp_path / "themes").mkdir()
    (tmp_path / "themes" / "mine.toml").write_text(
        'base = "light"\ncode = "vs"\n[colours]\naccent = "#112233"\n'
    )
    theme = find_theme("mine", tmp_path)
    assert (theme.colours["accent"], theme.code, theme.dark) == ("#112233", "vs", False)
    assert theme.colours["text"] == LIGHT.colours["text"]
    assert theme_names(tmp_path) == ["dark", "light", "terminal", "mine"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('base = "nosuch"', "base must be one of"),
        ('[colours]\nacent = "red"', "there is no role acent"),
        ('[colours]\naccent = "nocolour"', "no colour"),
        ('code = "nosuch"', "no code style"),
        ("colours = 3", "must be a table"),
        ("= broken", "mine.toml"),
    ],
)
def test_mistakes_in_a_file_are_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "themes").mkdir()
    (tmp_path / "themes" / "mine.toml").write_text(text)
    with pytest.raises(SettingsError, match=words):
        find_theme("mine", tmp_path)


@pytest.mark.parametrize("name", ["nosuch", "../mine", "a/b"])
def test_a_theme_that_is_not_there_lists_those_that_are(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="known are: dark, light, terminal"):
        find_theme(name, tmp_path)
