"""The files that can be completed: all below the working directory, or the next step of a path.

Listing 100,000 files takes ripgrep a tenth of a second and is done in a thread, as is searching.
What was listed last is used at once; it is listed again in the background when it has become old.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from sloyd.modes.tui.completion import Choice, path_choice
from sloyd.modes.tui.fuzzy import Lines, match
from sloyd.tools.environment import ToolEnvironment

__all__ = ["FileList", "path_steps"]

_MOST_SHOWN: Final = 50
_MOST_FILES: Final = 300_000
"""More names are not kept: a working directory with more is none to search in by hand."""
_FRESH_SECONDS: Final = 5.0
_LISTING_SECONDS: Final = 20.0


class FileList:
    """The files and directories below the working directory that no ignore rule hides."""

    def __init__(self, environment: ToolEnvironment) -> None:
        self._environment = environment
        self._cwd = environment.workspace.cwd
        self._lines = Lines(())
        self._listed_at = float("-inf")
        self._listing: asyncio.Task[None] | None = None

    async def search(self, query: str, *, is_mention: bool = True) -> list[Choice]:
        """The best files for a query; the first call waits until they are listed."""
        if time.monotonic() - self._listed_at > _FRESH_SECONDS and self._listing is None:
            self._listing = asyncio.create_task(self._list())
        if self._listed_at == float("-inf") and self._listing is not None:
            await asyncio.shield(self._listing)
        lines = self._lines
        found = await asyncio.to_thread(lines.best, query, _MOST_SHOWN)
        return [path_choice(path, is_mention=is_mention, places=hit.places) for path, hit in found]

    async def close(self) -> None:
        """Stop what is under way."""
        if self._listing is not None:
            self._listing.cancel()

    async def _list(self) -> None:
        try:
            paths = await self._names()
            self._lines = await asyncio.to_thread(_with_directories, paths)
        finally:
            # Also after a failure: asking again for each letter would help nobody.
            self._listed_at = time.monotonic()
            self._listing = None

    async def _names(self) -> Sequence[str]:
        from sloyd.errors import SloydError
        from sloyd.tools.search.ripgrep import find_ripgrep
        from sloyd.tools.search.scope import open_scope

        try:
            program = await find_ripgrep(self._environment)
            scope = await open_scope(self._environment.workspace, self._cwd)
            if program is not None:
                flags = ["--files", "--hidden", "--null", "--no-config", "--glob=!.git"]
                flags += ["--no-ignore-global", "--no-messages"]
                flags += ["--no-ignore"] if scope.is_hidden else []
                flags += ["--no-ignore-parent"] if scope.starts_at_root else []
                flags += [] if scope.in_repository else ["--no-require-git"]
                return await asyncio.to_thread(_run, [program, *flags], self._cwd)
            return await self._walked()
        except (SloydError, OSError):
            return ()

    async def _walked(self) -> Sequence[str]:
        """The same without ripgrep."""
        from sloyd.tools.search.scope import open_scope
        from sloyd.tools.search.walk import Walk

        scope = await open_scope(self._environment.workspace, self._cwd)
        names: list[str] = []
        async for runs in Walk(self._environment.workspace, scope).batches():
            for run in runs:
                names += [run.start + item.name for item in run.entries if item.kind == "file"]
            if len(names) >= _MOST_FILES:
                break
        return names[:_MOST_FILES]


def _run(argv: list[str], cwd: str) -> Sequence[str]:
    """The names that the program prints, as far as they may be kept."""
    with subprocess.Popen(
        argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        stdout = process.stdout
        assert stdout is not None
        end = time.monotonic() + _LISTING_SECONDS
        data = bytearray()
        while chunk := stdout.read(1 << 20):
            data += chunk
            if data.count(b"\0") > _MOST_FILES or time.monotonic() > end:
                process.kill()
                break
    names = data.split(b"\0")[:-1][:_MOST_FILES]
    return [name.decode("utf-8", "surrogateescape") for name in names]


def _with_directories(paths: Iterable[str]) -> Lines:
    """The paths in order, and in front of its files each directory with a slash behind it."""
    # A name that cannot be typed or shown on one line cannot be mentioned either.
    named = sorted(path for path in paths if path.isprintable())
    directories: dict[str, None] = {}
    for path in named:
        place = path.rfind("/")
        while place > 0 and path[: place + 1] not in directories:
            directories[path[: place + 1]] = None
            place = path.rfind("/", 0, place)
    return Lines(sorted([*directories, *named], key=lambda path: (path.count("/"), path)))


def path_steps(
    cwd: str, home: str, query: str, *, is_mention: bool, most: int = _MOST_SHOWN
) -> list[Choice]:
    """The entries of the directory that a half-written path is in, which begin like its end.

    When none begins like it, those that fit loosely. Blocks: for a thread.
    """
    front, _, last = query.rpartition("/")
    shown_front = f"{front}/" if "/" in query else ""
    if query == "~":
        shown_front, last = "~/", ""
    directory = Path(cwd, _expanded(shown_front, home) or ".")
    try:
        with os.scandir(directory) as entries:
            named = [(entry.name, entry.is_dir()) for entry in entries if entry.name.isprintable()]
    except OSError:
        return []
    visible = [
        (name, is_directory)
        for name, is_directory in named
        if last.startswith(".") or not name.startswith(".")
    ]
    begun = [item for item in visible if item[0].startswith(last)]
    begun = begun or [item for item in visible if item[0].lower().startswith(last.lower())]
    if not begun:
        begun = [item for item in visible if match(last, item[0], path=True) is not None]
    begun.sort(key=lambda item: (not item[1], item[0].lower()))
    return [
        path_choice(shown_front + name + "/" * is_directory, is_mention=is_mention)
        for name, is_directory in begun[:most]
    ]


def _expanded(path: str, home: str) -> str:
    if path == "~" or path.startswith("~/"):
        return home + path[1:]
    return path
