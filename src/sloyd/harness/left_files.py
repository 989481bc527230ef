"""Files that people and projects leave about, read without trust in what they are.

A named pipe would be waited for without end, a directory may hide what is in it, and a log under
the wrong name would fill the memory. So only regular files of a bounded size are read, and what
cannot be looked at counts as not there.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from sloyd.errors import SettingsError

__all__ = [
    "LARGEST",
    "is_closed",
    "is_directory",
    "is_file",
    "is_same",
    "read_left",
    "read_left_text",
]

LARGEST = 4 << 20
"""Bytes of the largest file that is read whole; written by hand, they have a few thousand."""


def read_left(path: Path, most: int | None = None) -> bytes:
    """The bytes of a regular file, at most the first ``most``.

    Raises `SettingsError` with the reason, which names no path, when it is none, cannot be read,
    or is larger than `LARGEST` and ``most`` is not given.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | _FLAGS)
    except (OSError, ValueError) as error:
        raise SettingsError(f"cannot be read: {_reason(error)}") from error
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise SettingsError("is not a regular file")
        if most is None and facts.st_size > LARGEST:
            raise SettingsError(f"is larger than {LARGEST >> 20} MiB")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(LARGEST + 1 if most is None else most)
    except OSError as error:
        raise SettingsError(f"cannot be read: {_reason(error)}") from error
    finally:
        os.close(descriptor)


def read_left_text(path: Path) -> str:
    """The file as UTF-8, without a byte order mark. Raises `SettingsError` as `read_left` does."""
    try:
        return read_left(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(f"is not UTF-8: {error.reason}") from error


def is_closed(directory: Path) -> bool:
    """Whether there is a directory whose files this user may not look at."""
    return os.path.isdir(directory) and not os.access(directory, os.R_OK | os.X_OK)


def is_file(path: Path) -> bool:
    """Whether a regular file is there that can be looked at. Never raises."""
    return os.path.isfile(path)


def is_directory(path: Path) -> bool:
    """Whether a directory is there that can be looked at. Never raises."""
    return os.path.isdir(path)


def is_same(one: Path, other: Path) -> bool:
    """Whether both are there, and one file or directory."""
    try:
        return one.samefile(other)
    except OSError:
        return False


# Without waiting: to open a named pipe waits for somebody who writes to it.
_FLAGS: int = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
