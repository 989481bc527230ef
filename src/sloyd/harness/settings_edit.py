"""Change one setting in a TOML file and leave the rest of it, comments included, as it is."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import msgspec

from sloyd.errors import SettingsError
from sloyd.harness.home import replace_privately
from sloyd.harness.left_files import read_left
from sloyd.harness.settings import Setting, declared_settings, type_name
from sloyd.text.suggestion import suggestion

__all__ = ["change_setting", "find_setting", "parse_value", "settings_text"]


def find_setting(name: str) -> Setting:
    """The declared setting of a dotted name. Raises `SettingsError` with the nearest one."""
    rows = {row.name: row for row in declared_settings()}
    if name in rows:
        return rows[name]
    hint = suggestion(name, rows, "sloyd config list shows all")
    raise SettingsError(f"there is no setting {name}{hint}")


def parse_value(row: Setting, words: list[str]) -> Any:
    """A value as typed on a command line: TOML where it is TOML, else the text itself.

    Several words, or one for a list, become a list. Raises `SettingsError` for a wrong type.
    """
    import tomllib

    candidates: list[Any] = [words] if len(words) > 1 else []
    if len(words) == 1:
        with contextlib.suppress(tomllib.TOMLDecodeError):
            candidates.append(tomllib.loads(f"v = {words[0]}")["v"])
        candidates += [words[0], words]
    for candidate in candidates:
        try:
            return msgspec.to_builtins(msgspec.convert(candidate, row.type))
        except msgspec.ValidationError:
            continue
    raise SettingsError(f"{row.name} takes {type_name(row.type)}, not {' '.join(words)}")


def change_setting(path: Path, name: str, value: Any) -> None:
    """Set ``name`` in the file to ``value``; None takes it out. The file is made if need be.

    Raises `SettingsError` when the file is broken (it is then left as it is) or cannot be written.
    """
    import tomlkit
    from tomlkit.container import OutOfOrderTableProxy
    from tomlkit.exceptions import TOMLKitError
    from tomlkit.items import AbstractTable

    row = find_setting(name)
    text = settings_text(path)
    lines = text.replace("\r\n", "\n")
    try:
        document = tomlkit.parse(lines.removeprefix("\ufeff"))
    except (ValueError, TOMLKitError, RecursionError) as error:
        raise SettingsError(f"cannot change {path}: {error}") from error
    section = document.get(row.section)
    if section is None:
        section = tomlkit.table()
        document[row.section] = section
    if not isinstance(section, AbstractTable | OutOfOrderTableProxy):
        raise SettingsError(f"cannot change {path}: {row.section} in it is no table")
    if value is None:
        section.pop(row.key, None)
    else:
        section[row.key] = value
    changed = tomlkit.dumps(document)
    if "\r\n" in text:
        changed = changed.replace("\n", "\r\n")
    replace_privately(path, ("\ufeff" if text.startswith("\ufeff") else "") + changed)


def settings_text(path: Path) -> str:
    """The text of a settings file, empty where there is none. Raises `SettingsError`."""
    if not os.path.lexists(path):
        return ""
    if path.is_symlink() and not path.exists():
        return ""  # a link to a file that is still to be made
    try:
        return read_left(path).decode("utf-8")
    except (SettingsError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot change {path}: it {error}") from error
