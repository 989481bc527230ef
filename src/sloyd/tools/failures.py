"""What the model reads when a file operation failed: one set of texts for all seven tools.

Each text has three parts: what could not be done, with the path as the model gave it; why, in
words, with the resolved path where that tells more; and the next useful call. Where pi 1.6 has a
good first sentence, it is kept (``Could not edit file: P. Error code: ENOENT.``, ``Path not found:
P``, ``Not a directory: P``).
"""

from __future__ import annotations

import posixpath

from sloyd.errors import FileProblem, ToolError, WorkspaceError
from sloyd.workspace.base import Workspace
from sloyd.workspace.paths import near_names, quote_name, relative_to
from sloyd.workspace.problems import ERROR_CODES

__all__ = ["file_failure"]

_FILE_ACTIONS = {"read": "read", "edit": "edit", "write": "write", "write to": "write"}
_CHANGING = {"edit", "write", "write to"}


async def file_failure(
    workspace: Workspace, action: str, shown: str, error: WorkspaceError
) -> ToolError:
    """The `ToolError` for a failed operation on a file.

    Args:
        workspace: where the operation failed; asked for near names and kinds.
        action: what the tool was doing: ``read``, ``edit``, ``write to``, ``list`` or ``search``.
        shown: the path as the model gave it (`ResolvedPath.shown`).
        error: what the workspace raised.
    """
    if not shown.isprintable():
        shown = quote_name(shown)
    first = _first_sentence(action, _short(shown), error)
    return ToolError(f"{first}\n{await _reason(workspace, action, error)}")


def _first_sentence(action: str, shown: str, error: WorkspaceError) -> str:
    if shown.endswith("."):
        shown = f'"{shown}"'  # else the sentence's own full stop would seem to belong to it
    if action in _FILE_ACTIONS:
        code = ERROR_CODES[error.reason]
        return f"Could not {_FILE_ACTIONS[action]} file: {shown}. Error code: {code}."
    path = _named(error.path)
    if error.reason == "missing":
        return f"Path not found: {path}"
    if error.reason == "not-directory":
        return f"Not a directory: {path}"
    return f"Could not {action} {shown}. Error code: {ERROR_CODES[error.reason]}."


_REASONS: dict[FileProblem, str] = {
    "is-directory": "{path} is a directory. See what is in it with `ls`, and name a file.",
    "permission": (
        "Permission denied for {path}. See its owner and mode with bash (`ls -ld`); ask the user "
        "before changing them."
    ),
    "link-cycle": "The symbolic links of {path} lead in a circle. Follow them with bash (`ls -l`).",
    "no-space": (
        "No space is left on the disk, or the quota is used up (`df -h`). Nothing was changed."
    ),
    "too-large": (
        "The file would be larger than the system or its limits allow. Nothing was changed."
    ),
    "changed": "{path} was changed by someone else meanwhile. Read it again and repeat.",
    "busy": "{path} is in use by another process. Nothing was changed; try again in a moment.",
}


async def _reason(workspace: Workspace, action: str, error: WorkspaceError) -> str:
    path = error.path
    named = _named(path)
    match error.reason:
        case "permission" if action in _CHANGING and (above := await _closed(workspace, path)):
            return (
                f"Permission denied: nothing can be created in {above}. See its owner and mode "
                "with bash (`ls -ld`); ask the user before changing them."
            )
        case "missing":
            return await _missing(workspace, action, path)
        case "is-directory" if path.endswith("/"):
            return f"{named} ends in a slash, which names a directory. Give the name of a file."
        case "not-directory" | "exists":
            return await _not_directory(workspace, action, path)
        case "not-regular":
            return (
                f"{named} is a {await _kind(workspace, path)}, not a regular file, and could be "
                f"waited on for ever. If you need what it delivers, use bash with a timeout."
            )
        case "read-only":
            return (
                f"{named} is write-protected{await _mode(workspace, path)}, or its file system is "
                f"read-only. Ask the user before making it writable with bash (`chmod u+w`)."
            )
        case "name-too-long":
            longest = max(len(name.encode("utf-8", "surrogateescape")) for name in path.split("/"))
            return f"Most file systems allow names of 255 bytes; the longest here has {longest}."
        case reason if reason in _REASONS:
            return _REASONS[reason].format(path=named)
        case _:
            return _capital(f"{error}.")


async def _missing(workspace: Workspace, action: str, path: str) -> str:
    cwd = workspace.cwd
    sentences = []
    leads_to = await _dangling_link(workspace, path)
    if leads_to is not None:
        sentences.append(f"{_named(path)} is a symbolic link to {leads_to}, which does not exist.")
    elif action in _FILE_ACTIONS:
        sentences.append(f"There is no {_named(path)}.")
    near = [
        quote_name(relative_to(name, cwd))
        for name in await near_names(workspace, path)
        if name != path
    ]
    if near:
        sentences.append(f"Near names: {', '.join(near)}.")
    existing, missing_directory = await _deepest_directory(workspace, path)
    if existing is not None:
        directory = quote_name(relative_to(existing, cwd))
        if missing_directory:
            missing = quote_name(relative_to(missing_directory, cwd))
            sentences.append(f"The directory {missing} does not exist.")
        create = ", or create the file with write" if action == "edit" else ""
        sentences.append(f"See what is there with `ls {directory}`{create}.")
    return " ".join(sentences)


async def _deepest_directory(workspace: Workspace, path: str) -> tuple[str | None, str | None]:
    """The deepest existing directory above ``path``, and the first one below it that is missing."""
    missing: str | None = None
    directory = posixpath.dirname(path.rstrip("/"))
    while directory:
        try:
            kind = (await workspace.stat(directory)).kind
        except WorkspaceError:
            kind = None
        if kind == "directory":
            return directory, missing
        missing = directory
        parent = posixpath.dirname(directory)
        if parent == directory:
            break
        directory = parent
    return None, None


async def _not_directory(workspace: Workspace, action: str, path: str) -> str:
    """Name the part of the path that is in the way."""
    part = path.rstrip("/") or "/"
    while part not in ("", "/"):
        try:
            kind = (await workspace.stat(part)).kind
        except WorkspaceError:
            part = posixpath.dirname(part)
            continue
        if kind != "directory":
            advice = "List its parent." if action not in _CHANGING else ""
            if kind == "file":
                advice = advice and "Read it, or list its parent."
            what = _KINDS.get(kind, kind)
            return f"{_named(part)} is a {what}, not a directory. {advice}".rstrip()
        break
    return f"A part of {_named(path)} is not a directory."


_KINDS = {"file": "regular file", "fifo": "FIFO (named pipe)", "other": "special file"}


async def _kind(workspace: Workspace, path: str) -> str:
    try:
        kind = (await workspace.stat(path)).kind
    except WorkspaceError:
        return "special file"
    return _KINDS.get(kind, kind)


async def _dangling_link(workspace: Workspace, path: str) -> str | None:
    """Where a link leads whose end does not exist; None for anything else."""
    try:
        if (await workspace.stat(path, follow_symlinks=False)).kind != "symlink":
            return None
        return _named(relative_to(await workspace.realpath(path), workspace.cwd))
    except WorkspaceError:
        return None


async def _closed(workspace: Workspace, path: str) -> str | None:
    """The directory in which a file that does not exist could not be created."""
    try:
        await workspace.stat(path, follow_symlinks=False)
    except WorkspaceError as error:
        above, _ = await _deepest_directory(workspace, path)
        return None if error.reason != "missing" or above is None else _named(above)
    return None


async def _mode(workspace: Workspace, path: str) -> str:
    try:
        return f" (mode {(await workspace.stat(path)).mode:04o})"
    except WorkspaceError:
        return ""


_LONGEST_SHOWN = 400


def _named(path: str) -> str:
    return _short(quote_name(path))


def _short(text: str) -> str:
    """A path, its middle left out where it is too long to be worth reading."""
    half = _LONGEST_SHOWN // 2
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:half]}...{text[-half:]}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
