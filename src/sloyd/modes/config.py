"""``sloyd config``: see and change settings without opening the file."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from sloyd.errors import SettingsError, UsageError
from sloyd.harness.home import private_directory, sloyd_home
from sloyd.harness.settings import declared_settings, type_name
from sloyd.harness.settings_edit import change_setting, find_setting, parse_value
from sloyd.harness.settings_files import LoadedSettings, load_settings
from sloyd.modes.output import Output

__all__ = ["config_door"]

_USAGE = """\
usage: sloyd config list              every setting, its value and what it means
       sloyd config get NAME          one value
       sloyd config set NAME VALUE... change it in the user's file
       sloyd config unset NAME        take it out again
       sloyd config edit              open the user's file in VISUAL or EDITOR
       sloyd config path              where the user's file is
--project works on .sloyd/config.toml of this directory instead"""


def config_door(arguments: Sequence[str]) -> int:
    """Run the door with the words behind ``sloyd config``; returns the exit code."""
    words = [word for word in arguments if word != "--project"]
    user = sloyd_home(os.environ) / "config.toml"
    project = Path.cwd() / ".sloyd" / "config.toml"
    path = project if len(words) < len(arguments) else user
    out = Output("stdout")
    match words:
        case ["list"] | []:
            _list(load_settings(user, project), out)
        case ["get", name]:
            row = find_setting(name)
            section = getattr(load_settings(user, project).settings, row.section)
            out.line(_shown(getattr(section, row.key)))
        case ["set", name, *values] if values:
            change_setting(path, name, parse_value(find_setting(name), values))
        case ["unset", name]:
            change_setting(path, name, None)
        case ["edit"]:
            _edit(path)
        case ["path"]:
            out.line(str(path))
        case ["--help"] | ["-h"]:
            out.line(_USAGE)
        case _:
            raise UsageError(f"sloyd config does not know these words\n{_USAGE}")
    return 0


def _list(loaded: LoadedSettings, out: Output) -> None:
    errors = Output("stderr")
    for problem in loaded.problems:
        errors.line(f"sloyd: {problem}")
    for row in declared_settings():
        value = getattr(getattr(loaded.settings, row.section), row.key)
        source = loaded.sources.get(row.name)
        out.line(f"{row.name} = {_shown(value)}")
        out.line(f"    {row.doc} ({type_name(row.type)}; {source or 'default'})")


def _shown(value: Any) -> str:
    return "none" if value is None else msgspec.json.encode(value).decode()


def _edit(path: Path) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "nano"
    private_directory(path.parent)
    try:
        path.touch(mode=0o600)  # keys of providers may be in it
    except OSError as error:
        raise SettingsError(f"cannot write {path}: {error.strerror}") from error
    try:
        code = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode
    except (OSError, ValueError) as error:
        raise SettingsError(f"cannot start the editor {editor!r}: {error}; set EDITOR") from error
    if code:
        raise SettingsError(f"the editor {editor!r} ended with code {code}")
    for problem in load_settings(path).problems:
        Output("stderr").line(f"sloyd: {problem}")
