"""What a path argument means: one rule for all tools.

The argument is taken literally first, so every name that exists can be reached as it is spelled.
Only when nothing is there do the other meanings count, in this order:

1. a name in quotes, as `quote_name` writes it;
2. without one leading ``@``, as people mention files;
3. ``~`` and ``~/...`` for the home directory (``~user`` is a plain name);
4. a ``file://`` URL of this host, percent-decoded, also without its ``#...`` or ``?...``;
5. a name on disk that looks the same, in each directory on the way: other spaces (U+00A0, U+202F
   before AM and PM, ...), curly or straight quotes, composed or decomposed accents. When several
   look the same, none is taken: `near_names` shows them.

When nothing exists under any of them, the argument is a new file's path in the sense of 1 to 4; a
leading ``@`` stays where the directory so named exists. ``..`` may leave the working directory and
is resolved by the workspace, after symlinks, as a shell does it. Nothing is trimmed.

The set of meanings is that of pi 1.6, with the literal name put first and the look-alike spellings
searched in both directions and for every tool.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sloyd.errors import WorkspaceError
from sloyd.workspace.base import Workspace
from sloyd.workspace.names import fold, may_have_twins, quote_name, unquote_name
from sloyd.workspace.nearness import near_names

__all__ = ["ResolvedPath", "near_names", "quote_name", "relative_to", "resolve"]


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """What a path argument means.

    Attributes:
        path: absolute, for the workspace.
        shown: the argument for messages: as given, quoted where it is odd, ``.`` where empty.
        exists: whether something is there, be it a dangling symlink.
    """

    path: str
    shown: str
    exists: bool


async def resolve(workspace: Workspace, argument: str, *, cwd: str | None = None) -> ResolvedPath:
    """Find what ``argument`` means, starting from ``cwd`` or the workspace's own.

    Raises `WorkspaceError` (``invalid-path``) for a NUL and for a URL of another host.

    A tool that changes files asks for its turn first, with `MutationQueue.hold_argument`, because
    finding out takes longer for some arguments than for others.
    """
    shown = quote_name(unquote_name(argument) or argument or ".")
    if "\0" in argument:
        raise _invalid("it holds a NUL character", argument)
    base = cwd if cwd is not None else workspace.cwd
    meanings = list(_meanings(argument, base, workspace.home))
    for path in meanings:
        if await _exists(workspace, path):
            return ResolvedPath(path, shown, exists=True)
    for path in meanings:
        twin = await _twin(workspace, path)
        if twin is not None:
            return ResolvedPath(twin, shown, await _exists(workspace, twin))
    path = meanings[-1]
    if argument.startswith("@") and "/" in argument:
        mentioned = _absolute(argument.split("/", 1)[0], base)
        if await _exists(workspace, mentioned):
            path = meanings[0]
    return ResolvedPath(path, shown, exists=False)


def relative_to(path: str, base: str) -> str:
    """The path as seen from ``base`` where it lies inside, ``.`` for base itself, else as it is."""
    if path == base:
        return "."
    separator = "\\" if _is_windows(base) else "/"
    inside = base if base.endswith(separator) else base + separator
    return path.removeprefix(inside)


def _meanings(argument: str, base: str, home: str) -> Iterator[str]:
    """The absolute paths that an argument may stand for, the literal one first.

    The last of them is the one to create when nothing exists.
    """
    yield _absolute(argument, base)
    text = unquote_name(argument)
    if text is not None:
        if "\0" in text:
            raise _invalid("it holds a NUL character", argument)
        yield _absolute(text, base)
    else:
        text = argument
    if text.startswith("@"):
        text = text[1:]
        yield _absolute(text, base)
    if text == "~" or text.startswith(("~/", "~\\") if _is_windows(base) else "~/"):
        yield _absolute(home + text[1:], base)
    elif text[:7].lower() == "file://":
        plain = re.split(r"[?#]", text, maxsplit=1)[0]
        if plain != text:
            yield _absolute(_from_url(plain, base), base)
        yield _absolute(_from_url(text, base), base)


def _from_url(url: str, base: str) -> str:
    host, slash, path = url[7:].partition("/")
    if host.lower() not in ("", "localhost"):
        raise _invalid('File URL host must be "localhost" or empty', url)
    if re.search("%2f", path, re.IGNORECASE):
        raise _invalid("a file URL must not hold an encoded /", url)
    encoded = (slash + path).encode("utf-8", "surrogateescape")
    raw = re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes.fromhex(found[1].decode()), encoded)
    if b"\0" in raw:
        raise _invalid("it holds a NUL character", url)
    decoded = raw.decode("utf-8", "surrogateescape")
    return decoded.lstrip("/") if _is_windows(base) else decoded


def _absolute(text: str, base: str) -> str:
    if _is_windows(base):
        return ntpath.normpath(ntpath.join(base, _from_posix_drive(text)))
    path = posixpath.join(base, text) if text else base
    if "//" in path or "/./" in path or path.endswith("/."):
        trailing = "/" if path.endswith("/") else ""
        parts = [part for part in path.split("/") if part not in ("", ".")]
        path = "/" + "/".join(parts) + (trailing if parts else "")
    return path


def _from_posix_drive(text: str) -> str:
    """``/c/x``, ``/mnt/c/x`` and ``/cygdrive/c/x`` are ``C:\\x`` on Windows."""
    found = re.fullmatch(r"/(?:mnt/|cygdrive/)?([A-Za-z])(/.*)?", text)
    return f"{found[1].upper()}:{found[2] or '/'}" if found else text


def _is_windows(base: str) -> bool:
    return base[1:2] == ":" or base.startswith("\\\\")


async def _exists(workspace: Workspace, path: str) -> bool:
    try:
        await workspace.stat(path, follow_symlinks=False)
    except WorkspaceError as error:
        # What may not be looked at is left to the tool, whose own attempt says why.
        return error.reason in ("permission", "io", "busy")
    return True


async def _twin(workspace: Workspace, path: str) -> str | None:
    """The one path on disk that looks like this one; its last name may be new, and plain."""
    separator = "\\" if _is_windows(path) else "/"
    existing, _, name = path.rpartition(separator)
    missing = [name]
    if not any(map(may_have_twins, path.split(separator))):
        return None
    while existing and not await _exists(workspace, existing):
        existing, _, name = existing.rpartition(separator)
        missing.append(name)
    replaced = False
    for position, name in enumerate(reversed(missing)):
        twin = await _only_twin(workspace, existing or separator, name)
        if twin is None:
            is_new_file = position == len(missing) - 1 and replaced
            if not is_new_file and not await _exists(workspace, existing + separator + name):
                return None
        replaced = replaced or twin is not None
        existing += separator + (twin or name)
    return existing


async def _only_twin(workspace: Workspace, directory: str, name: str) -> str | None:
    if not may_have_twins(name):
        return None
    try:
        entries = await workspace.list(directory)
    except WorkspaceError:
        return None
    folded = fold(name)
    twins = [entry.name for entry in entries if fold(entry.name) == folded]
    return twins[0] if len(twins) == 1 else None


def _invalid(words: str, path: str) -> WorkspaceError:
    return WorkspaceError(f"{words}: {quote_name(path)}", path=path, reason="invalid-path")
