"""Settings from layered TOML files: the user's, then the project's over it.

A broken file or value never stops the start: it is named with its file and line, and skipped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from sloyd.errors import SettingsError
from sloyd.harness.left_files import read_left_text
from sloyd.harness.settings import Setting, Settings, declared_settings, type_name
from sloyd.text.suggestion import suggestion

__all__ = ["LoadedSettings", "SettingProblem", "load_settings"]

_USER_ONLY = ("sessions.project_trust",)


class SettingProblem(msgspec.Struct, frozen=True):
    """Something in a settings file that was skipped. ``line`` counts from 1, or is None."""

    file: Path
    line: int | None
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line is not None else str(self.file)
        return f"{place}: {self.message}"


class LoadedSettings(msgspec.Struct, frozen=True):
    """The settings in force, where each that was set comes from, and what was skipped."""

    settings: Settings = msgspec.field(default_factory=Settings)
    sources: Mapping[str, Path] = msgspec.field(default_factory=dict)
    problems: tuple[SettingProblem, ...] = ()
    tables: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """Free tables that other parts read: ``providers``, ``models``, ``hooks``."""


_FREE_TABLES = ("providers", "models", "hooks")


def load_settings(user: Path, project: Path | None = None) -> LoadedSettings:
    """Read the user's file and, when it is trusted and given, the project's over it.

    Files need not exist. Lists and values of the project replace the user's.
    """
    files = [(path, path == project) for path in (user, project) if path and os.path.isfile(path)]
    if not files:
        return LoadedSettings()
    rows = {row.name: row for row in declared_settings()}
    values: dict[str, dict[str, Any]] = {}
    sources: dict[str, Path] = {}
    problems: list[SettingProblem] = []
    tables: dict[str, Any] = {}
    for path, is_project in files:
        text, content = _parse(path, problems)
        for section, table in content.items():
            if section in _FREE_TABLES:
                joined = _joined if section == "hooks" else _merged
                tables[section] = joined(tables.get(section), table)
                names = table if isinstance(table, dict) else ()
                sources.update({f"{section}.{name}": path for name in names})
                continue
            for row, value in _values(path, text, section, table, rows, problems):
                if is_project and row.name in _USER_ONLY:
                    line = _line_of(text, section, row.key)
                    problems.append(
                        SettingProblem(path, line, f"{row.name} counts in the user's file only")
                    )
                    continue
                values.setdefault(section, {})[row.key] = value
                sources[row.name] = path
    return LoadedSettings(_built(values), sources, tuple(problems), tables)


def _parse(path: Path, problems: list[SettingProblem]) -> tuple[str, dict[str, Any]]:
    import tomllib

    try:
        text = read_left_text(path)
        return text, tomllib.loads(text)
    except SettingsError as error:
        problems.append(SettingProblem(path, None, str(error)))
    except RecursionError:
        problems.append(SettingProblem(path, None, "is nested too deeply"))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found.group(1)) if found else None
        problems.append(SettingProblem(path, line, f"is not TOML: {error}"))
    return "", {}


def _values(
    path: Path,
    text: str,
    section: str,
    table: object,
    rows: Mapping[str, Setting],
    problems: list[SettingProblem],
) -> Iterable[tuple[Setting, Any]]:
    """The valid settings of one section; what is not valid goes to ``problems``."""
    sections = {row.section for row in rows.values()}
    if section not in sections or not isinstance(table, dict):
        hint = suggestion(section, [*sections, *_FREE_TABLES])
        problems.append(
            SettingProblem(path, _line_of(text, section), f"unknown section [{section}]{hint}")
        )
        return
    for key, value in table.items():
        row = rows.get(f"{section}.{key}")
        if row is None:
            keys = [known.key for known in rows.values() if known.section == section]
            problems.append(
                SettingProblem(
                    path,
                    _line_of(text, section, key),
                    f"unknown setting {section}.{key}{suggestion(key, keys)}",
                )
            )
            continue
        try:
            yield row, msgspec.convert(value, row.type)
        except msgspec.ValidationError as error:
            problems.append(
                SettingProblem(
                    path,
                    _line_of(text, section, key),
                    f"{row.name} takes {type_name(row.type)}: {error}",
                )
            )


def _built(values: Mapping[str, Mapping[str, Any]]) -> Settings:
    base = Settings()
    changed = {
        section: msgspec.structs.replace(getattr(base, section), **keys)
        for section, keys in values.items()
    }
    return msgspec.structs.replace(base, **changed)


def _merged(below: object, above: object) -> object:
    """Tables merged key by key, everything else replaced."""
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **{key: _merged(below.get(key), value) for key, value in above.items()}}
    return above


def _joined(below: object, above: object) -> object:
    """Hooks of both files: a project may add checks, but not take the user's away."""
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above if below is None else below
    rows = {event: _rows(below.get(event)) + _rows(above.get(event)) for event in (*below, *above)}
    return dict(rows)


def _rows(value: object) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _line_of(text: str, section: str, key: str | None = None) -> int | None:
    """The line on which a section, or a key in it, stands."""
    current = ""
    for number, line in enumerate(text.split("\n"), 1):
        header = re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line)
        if header:
            current = header.group(1).strip("\"'")
            if key is None and current == section:
                return number
        elif key is not None:
            name = re.match(r"\s*([\w.\"'-]+?)\s*=", line)
            dotted = f"{current}.{name.group(1)}" if name and current else name and name.group(1)
            if dotted == f"{section}.{key}":
                return number
    return None
