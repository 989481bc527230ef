"""From a `stat` result of the operating system to the records of `sloyd.workspace.base`."""

from __future__ import annotations

import os
import stat

from sloyd.workspace.base import FileKind, FileStat, FileVersion

__all__ = ["facts", "kind_of", "may_write", "version_of"]

_KINDS: dict[int, FileKind] = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "directory",
    stat.S_IFLNK: "symlink",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}
_EFFECTIVE = os.access in os.supports_effective_ids


def kind_of(mode: int) -> FileKind:
    """The kind of file that ``st_mode`` tells of."""
    return _KINDS.get(stat.S_IFMT(mode), "other")


def version_of(found: os.stat_result) -> FileVersion:
    """The version of the file at the moment of the ``stat``."""
    return FileVersion(
        found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    )


def facts(path: str, found: os.stat_result) -> FileStat:
    """The facts of ``path``; asks the system whether this user may write it."""
    kind = kind_of(found.st_mode)
    return FileStat(
        kind=kind,
        size=found.st_size,
        mode=stat.S_IMODE(found.st_mode),
        mtime_ns=found.st_mtime_ns,
        version=version_of(found),
        writable=kind == "symlink" or may_write(path),
    )


def may_write(path: str) -> bool:
    """Whether this process's user may write what ``path`` leads to."""
    return os.access(path, os.W_OK, effective_ids=_EFFECTIVE)
