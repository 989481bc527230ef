"""From an error of the operating system to a `WorkspaceError` with a reason to decide on."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from sloyd.errors import FileChanged, FileProblem, WorkspaceError
from sloyd.workspace.names import quote_name

__all__ = ["ERROR_CODES", "file_changed", "file_problem", "reported", "workspace_error"]

_REASONS: dict[int, FileProblem] = {
    errno.ENOENT: "missing",
    errno.EEXIST: "exists",
    errno.ENOTEMPTY: "exists",
    errno.EISDIR: "is-directory",
    errno.ENOTDIR: "not-directory",
    errno.ENXIO: "not-regular",  # opening a socket
    errno.ENODEV: "not-regular",
    errno.EACCES: "permission",
    errno.EPERM: "permission",
    errno.EROFS: "read-only",
    errno.ELOOP: "link-cycle",
    errno.ENAMETOOLONG: "name-too-long",
    errno.ENOSPC: "no-space",
    errno.EFBIG: "too-large",
    errno.EBUSY: "busy",
    errno.ETXTBSY: "busy",
    errno.EAGAIN: "busy",
    errno.EOPNOTSUPP: "unsupported",
    errno.ENOSYS: "unsupported",
}
if hasattr(errno, "EDQUOT"):
    _REASONS[errno.EDQUOT] = "no-space"

ERROR_CODES: dict[FileProblem, str] = {
    "missing": "ENOENT",
    "exists": "EEXIST",
    "is-directory": "EISDIR",
    "not-directory": "ENOTDIR",
    "not-regular": "ENXIO",
    "permission": "EACCES",
    "read-only": "EROFS",
    "link-cycle": "ELOOP",
    "name-too-long": "ENAMETOOLONG",
    "invalid-path": "EINVAL",
    "no-space": "ENOSPC",
    "too-large": "EFBIG",
    "changed": "ESTALE",
    "busy": "EBUSY",
    "unsupported": "ENOTSUP",
    "io": "EIO",
}
"""The name of the POSIX error that stands for each reason, for texts that quote one."""

_WORDS: dict[FileProblem, str] = {
    "missing": "no such file or directory",
    "exists": "something is there already",
    "is-directory": "it is a directory",
    "not-directory": "a part of the path is not a directory",
    "not-regular": "it is not a regular file",
    "permission": "permission denied",
    "read-only": "it is read-only",
    "link-cycle": "its symbolic links lead in a circle",
    "name-too-long": "the name is too long",
    "invalid-path": "this cannot be a path",
    "no-space": "no space is left on the disk",
    "too-large": "the file would be larger than the system allows",
    "changed": "the file has changed since it was read",
    "busy": "it is in use by another process",
    "unsupported": "the file system cannot do it",
    "io": "input/output error",
}


def file_problem(reason: FileProblem, path: str) -> WorkspaceError:
    """The `WorkspaceError` for what was found out about ``path`` without a failed system call."""
    return WorkspaceError(f"{_WORDS[reason]}: {quote_name(path)}", path=path, reason=reason)


def file_changed(path: str) -> FileChanged:
    """The error for a file that is not what ``expect`` saw."""
    return FileChanged(f"{_WORDS['changed']}: {quote_name(path)}", path=path)


def workspace_error(error: OSError | ValueError, path: str) -> WorkspaceError:
    """The `WorkspaceError` for what a system call on ``path`` raised.

    Python raises `ValueError`, not `OSError`, for a NUL in a path, and `UnicodeEncodeError` for a
    surrogate that stands for no byte.
    """
    if not isinstance(error, OSError):
        words = (
            "it holds a NUL character" if "\0" in path else "it cannot be encoded as a file name"
        )
        return WorkspaceError(f"{words}: {quote_name(path)}", path=path, reason="invalid-path")
    reason = _REASONS.get(error.errno or 0, "io")
    words = _WORDS[reason]
    if reason == "io" and error.errno:
        words = os.strerror(error.errno)
    return WorkspaceError(f"{words}: {quote_name(path)}", path=path, reason=reason)


@contextmanager
def reported(path: str) -> Iterator[None]:
    """Turn what system calls on ``path`` raise inside the block into `WorkspaceError`."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise workspace_error(error, path) from error
