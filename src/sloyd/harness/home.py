"""Where Sloyd keeps its own files: one private directory, ``SLOYD_HOME`` or ``~/.sloyd``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sloyd.errors import SettingsError

__all__ = ["private_directory", "sloyd_home"]


def sloyd_home(environment: Mapping[str, str]) -> Path:
    """The directory for everything that Sloyd keeps; it need not exist yet."""
    named = environment.get("SLOYD_HOME")
    if named:
        return Path(named).expanduser().absolute()
    home = environment.get("HOME") or environment.get("USERPROFILE")
    return (Path(home) if home else Path.home()) / ".sloyd"


def private_directory(path: Path) -> Path:
    """Make a directory and its parents, readable by this user alone.

    Raises `SettingsError` when it cannot be made.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"cannot make the directory {path}: {error.strerror}; set SLOYD_HOME to a writable one"
        ) from error
    return path
