"""Change one setting in a TOML file and leave the rest of it, comments included, as it is."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import msgspec

from sloyd.errors import SettingsError
from sloyd.harness.home import replace_privately
from sloyd.harness.settings import Setting, declared_settings, type_name
from sloyd.text.suggestion import suggestion

__all__ = ["change_setting", "find_setting", "parse_value"]


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
    from tomlkit.exceptions import TOMLKitError

    row = find_setting(name)
    try:
        text = path.read_text("utf-8-sig") if path.exists() else ""
        document = tomlkit.parse(text)
    except (OSError, ValueError, TOMLKitError) as error:
        raise SettingsError(f"cannot change {path}: {error}") from error
    section = document.get(row.section)
    if section is None:
        section = tomlkit.table()
        document[row.section] = section
    if value is None:
        section.pop(row.key, None)
    else:
        section[row.key] = value
    replace_privately(path, tomlkit.dumps(document))
