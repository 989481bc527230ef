"""Settings: layering, and what is said about keys and values that cannot be used."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from sloyd.errors import SettingsError
from sloyd.harness.settings import Settings, declared_settings, type_name
from sloyd.harness.settings_edit import change_setting
from sloyd.harness.settings_files import load_settings


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_no_file_gives_the_defaults(tmp_path: Path) -> None:
    loaded = load_settings(tmp_path / "config.toml")
    assert loaded.settings == Settings()
    assert loaded.problems == ()


def test_the_project_goes_over_the_user_key_by_key(tmp_path: Path) -> None:
    user = write(tmp_path / "user.toml", '[shell]\nprefix = "set -u"\ntimeout = 30\n')
    project = write(tmp_path / "project.toml", "[shell]\ntimeout = 5.5\n")
    loaded = load_settings(user, project)
    assert loaded.settings.shell.prefix == "set -u"
    assert loaded.settings.shell.timeout == 5.5
    assert loaded.sources == {"shell.prefix": user, "shell.timeout": project}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[tools]\nactve = ['read']\n", 2, "did you mean active?"),
        ("\n[shel]\nx = 1\n", 2, "did you mean shell?"),
        ("[tools]\n# a comment\nimage_side = 'big'\n", 3, "takes whole number"),
        ("[limits]\nturns = 0\n", 2, ">= 1"),
        ("[model]\nthinking = 'loud'\n", 2, '"off" | "minimal"'),
        ("limits = 3\n", None, "unknown section"),
        ("[tools\n", 1, "is not TOML"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_line(
    tmp_path: Path, text: str, line: int | None, said: str
) -> None:
    path = write(tmp_path / "config.toml", text)
    loaded = load_settings(path)
    assert loaded.settings == Settings()
    (problem,) = loaded.problems
    assert problem.line == line
    assert said in problem.message
    assert str(problem).startswith(f"{path}:{line}:" if line else f"{path}: ")


def test_a_bad_value_does_not_take_the_good_ones_with_it(tmp_path: Path) -> None:
    path = write(tmp_path / "config.toml", "[limits]\nturns = 'x'\ndollars = 2\n")
    assert load_settings(path).settings.limits.dollars == 2.0


def test_a_project_cannot_grant_itself_trust(tmp_path: Path) -> None:
    project = write(tmp_path / "project.toml", '[sessions]\nproject_trust = "always"\n')
    loaded = load_settings(tmp_path / "none.toml", project)
    assert loaded.settings.sessions.project_trust == "ask"
    assert "user's file only" in loaded.problems[0].message


def test_files_with_a_bom_and_crlf_are_read(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xef\xbb\xbf[limits]\r\nturns = 7\r\n")
    assert load_settings(path).settings.limits.turns == 7


def test_free_tables_are_kept_for_those_who_read_them(tmp_path: Path) -> None:
    user = write(tmp_path / "u.toml", '[providers.mine]\nbase_url = "http://x"\napi = "a"\n')
    project = write(tmp_path / "p.toml", '[providers.mine]\nbase_url = "http://y"\n')
    assert load_settings(user, project).tables == {
        "providers": {"mine": {"base_url": "http://y", "api": "a"}}
    }


def test_every_declared_setting_has_a_meaning_and_a_default_of_its_type() -> None:
    rows = list(declared_settings())
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        assert row.doc
        assert type_name(row.type)
        msgspec.convert(row.default, row.type)


@pytest.mark.parametrize("text", ["model = 5\n", '[[model]]\ndefault = "a"\n', "model = []\n"])
def test_a_section_that_is_no_table_is_refused_and_kept(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    for value in ("x", None):
        with pytest.raises(SettingsError, match="model in it is no table"):
            change_setting(path, "model.default", value)
    assert path.read_text() == text


def test_line_ends_and_the_byte_order_mark_stay(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b'\xef\xbb\xbf# top\r\n[model]\r\ndefault = "a" # tail\r\n')
    change_setting(path, "model.default", "b")
    change_setting(path, "shell.timeout", 5.0)
    changed = path.read_bytes()
    assert changed.startswith(b'\xef\xbb\xbf# top\r\n[model]\r\ndefault = "b" # tail\r\n')
    assert changed.count(b"\n") == changed.count(b"\r\n")


def test_a_pipe_in_the_place_of_the_settings_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.toml")
    with pytest.raises(SettingsError, match="not a regular file"):
        change_setting(tmp_path / "config.toml", "model.default", "b")


def test_a_table_in_two_places_can_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[model]\ndefault = "a"\n[shell]\n[model.sub]\nx = 1\n')
    change_setting(path, "model.provider", "openai")
    assert load_settings(path).settings.model.provider == "openai"
