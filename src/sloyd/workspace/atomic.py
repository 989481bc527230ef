"""Replace a file in one step: whoever looks, or kills, sees the old or the new content."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Sequence

from sloyd.errors import FileChanged, WorkspaceError
from sloyd.workspace.base import ABSENT, Absent, FileVersion, ReplaceResult
from sloyd.workspace.facts import kind_of, version_of
from sloyd.workspace.problems import reported

__all__ = ["remove_file", "replace_file"]


def replace_file(
    path: str, pieces: Sequence[bytes], expect: FileVersion | Absent | None, durable: bool
) -> ReplaceResult:
    with reported(path):
        real = os.path.realpath(path)
        try:
            found = os.stat(real)
        except FileNotFoundError:
            found = None
        if found is not None and not stat.S_ISREG(found.st_mode):
            kind = kind_of(found.st_mode)
            raise WorkspaceError(
                f"it is a {kind}: {path!r}",
                path=path,
                reason="is-directory" if kind == "directory" else "not-regular",
            )
        _check(path, found, expect)
        if found is not None and not os.access(real, os.W_OK):
            raise WorkspaceError(f"not writable: {path!r}", path=path, reason="permission")
        temporary = f"{os.path.dirname(real)}/.sloyd-{os.getpid()}-{secrets.token_hex(4)}.tmp"
        mode = 0o600 if found is not None else 0o666
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode)
        try:
            try:
                for piece in pieces:
                    view = memoryview(piece)
                    while view:
                        view = view[os.write(descriptor, view) :]
                if found is not None:
                    os.fchmod(descriptor, stat.S_IMODE(found.st_mode))
            finally:
                os.close(descriptor)
            os.replace(temporary, real)
        except BaseException:
            os.unlink(temporary)
            raise
        return ReplaceResult(version_of(os.stat(real)), found is None)


def remove_file(path: str, expect: FileVersion | None) -> None:
    with reported(path):
        found = os.lstat(path)
        if stat.S_ISDIR(found.st_mode):
            raise WorkspaceError(f"it is a directory: {path!r}", path=path, reason="is-directory")
        _check(path, found, expect)
        os.unlink(path)


def _check(path: str, found: os.stat_result | None, expect: FileVersion | Absent | None) -> None:
    if expect is None:
        return
    now = ABSENT if found is None else version_of(found)
    if now != expect:
        raise FileChanged(f"the file has changed since it was read: {path!r}", path=path)
