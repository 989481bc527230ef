"""Where Sloyd keeps its own files: one private directory, ``SLOYD_HOME`` or ``~/.sloyd``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sloyd.errors import SettingsError

__all__ = ["private_directory", "replace_privately", "sloyd_home"]


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
    # Parents that `Path.mkdir` makes would be open to others, whatever the mode of the last.
    missing = [each for each in (path, *path.parents) if not os.path.isdir(each)]
    try:
        for directory in reversed(missing):
            directory.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"cannot make the directory {path}: {error.strerror}; set SLOYD_HOME to a writable one"
        ) from error
    return path


def replace_privately(path: Path, text: str, *, secret: bool = False) -> None:
    """Put ``text`` in the place of a file, whole or not at all; a new one is this user's alone.

    A link is followed: people keep their configuration in a repository of dotfiles. An old file's
    mode stays, unless the text is ``secret``. Raises `SettingsError` when it cannot be written.
    """
    private_directory(path.parent)
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            if target.exists() and not secret:
                temporary.chmod(target.stat().st_mode & 0o777)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SettingsError(f"cannot write {path}: {reason}") from error
