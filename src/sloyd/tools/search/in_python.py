"""Search without ripgrep: slower, and the same in what it finds.

Files are taken in the order of paths, read in chunks, and their lines matched one by one. Where
``re`` and ripgrep's dialect differ (``\\p{...}``, possessive classes, the cost of nested
quantifiers), it is ``re`` that counts here.
"""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from itertools import islice, pairwise
from typing import Final, NamedTuple

from anyio.lowlevel import checkpoint

from sloyd.errors import WorkspaceError
from sloyd.text.encoding import UTF8, detect, incremental_decoder
from sloyd.tools.search.collector import Collector
from sloyd.tools.search.patterns import python_pattern, spans_lines
from sloyd.tools.search.request import Block, FileMatches, SearchOutcome, SearchRequest
from sloyd.tools.search.results import reason_of
from sloyd.tools.search.scope import IgnoreScope
from sloyd.tools.search.shown import shown_line
from sloyd.tools.search.walk import Walk
from sloyd.workspace.base import Workspace

__all__ = ["search_in_python"]

_BUFFER: Final = 64 << 10
_LONG_LINE: Final = 16_384
_PIECE: Final = 4096
_SHARED: Final = 1024  # a match shorter than this is never cut
_WIDE: Final = re.compile(r"\{\d{4,}")  # a pattern that counts to more than that
_MOST_LINE: Final = 8 << 20
_MOST_JOINED: Final = 64 << 20
"""Most characters of a line, which else is searched in pieces, and most bytes of a file that is
matched across its lines; the rest of it is not searched."""


async def search_in_python(
    workspace: Workspace, request: SearchRequest, scope: IgnoreScope | None
) -> SearchOutcome:
    """Search the request's file, or all files that ``scope`` leaves below its directory.

    Raises `ToolError` for an invalid pattern.
    """
    collector = Collector(request)
    pattern = python_pattern(request)
    unreadable: list[tuple[str, str]] = []
    walk = Walk(workspace, scope) if scope is not None else None
    async for path in _files(request, walk):
        searched = _File(workspace, request, pattern, path)
        try:
            found = await searched.search()
        except WorkspaceError as error:
            if request.file is not None:
                raise
            unreadable.append((path, reason_of(error)))
            continue
        collector.add_file(found)
        if collector.is_done:
            break
    if walk is not None:
        unreadable += [(path or ".", reason_of(error)) for path, error in walk.problems]
    return collector.outcome(unreadable)


async def _files(request: SearchRequest, walk: Walk | None) -> AsyncIterator[str]:
    if request.file is not None or walk is None:
        yield request.file or ""
        return
    async for batch in walk.batches():
        for start, entries in batch:
            for entry in entries:
                path = start + entry.name
                if entry.kind == "file" and (request.files is None or request.files.admits(path)):
                    yield path


class _File:
    """One file that is being searched."""

    def __init__(
        self, workspace: Workspace, request: SearchRequest, pattern: re.Pattern[str], path: str
    ) -> None:
        self.workspace = workspace
        self.request = request
        self.pattern = pattern
        self.path = path
        self.found = FileMatches(path)
        self.is_named = request.file is not None
        self.has_nul = False
        self._matches = 0
        self._before: deque[tuple[int, str]] = deque(maxlen=request.context)
        self._after = 0
        self._last_shown = 0

    async def search(self) -> FileMatches:
        await checkpoint()
        number = 1
        if spans_lines(self.request):
            await self._search_joined()
        else:
            async with aclosing(self._lines()) as pieces:
                async for lines in pieces:
                    for line in lines:
                        self._search_line(number, line)
                        number += 1
                    if self._is_enough():
                        break
        if self.has_nul:
            self.found.is_binary = self._matches > 0
            self.found.blocks.clear()
        return self.found

    def _is_enough(self) -> bool:
        return self._matches > self.request.limit and self._after == 0

    def _search_line(self, number: int, line: str) -> None:
        match = _first_match(self.pattern, line.removesuffix("\r"))
        if match is not None:
            self._add_before(number)
            start, end = (len(_encode(line[:place])) for place in match.span())
            block = Block(number, (shown_line(_encode(line), start, end),), is_match=True)
            self._add(block, number)
        elif self._after:
            self._after -= 1
            self._add_context(number, line)
        elif self.request.context:
            self._before.append((number, line))

    def _add(self, block: Block, last: int) -> None:
        self._matches += 1
        self._after = self.request.context
        self._last_shown = last
        self.found.blocks.append(block)

    def _add_before(self, number: int) -> None:
        for earlier, line in self._before:
            if self._last_shown < earlier < number:
                self._add_context(earlier, line)
        self._before.clear()

    def _add_context(self, number: int, line: str) -> None:
        self._last_shown = number
        self.found.blocks.append(Block(number, (shown_line(_encode(line)),), is_match=False))

    async def _search_joined(self) -> None:
        """Match across lines; the file is held whole, as far as that is bearable."""
        text = "".join([piece async for piece in self._pieces(_MOST_JOINED)])
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        context = self.request.context
        ranges = list(islice(_line_ranges(self.pattern, text), self.request.limit + 1))
        shown_to = 0
        for (first, last, start, end), following in pairwise([*ranges, _Range(len(lines) + 1)]):
            for number in range(max(first - context, shown_to + 1), first):
                self._add_context(number, lines[number - 1])
            head = lines[first - 1]
            places = (len(_encode(head[:place])) for place in (start, end))
            shown = [shown_line(_encode(head), *places)]
            shown += [shown_line(_encode(line)) for line in lines[first:last]]
            self._add(Block(first, tuple(shown), is_match=True), last)
            shown_to = min(last + context, following.first - 1)
            for number in range(last + 1, shown_to + 1):
                self._add_context(number, lines[number - 1])

    async def _lines(self) -> AsyncGenerator[list[str], None]:
        rest = ""
        async with aclosing(self._pieces(None)) as pieces:
            async for piece in pieces:
                lines = (rest + piece).split("\n")
                rest = lines.pop()
                if lines:
                    yield lines
                if len(rest) > _MOST_LINE:
                    yield [rest]
                    rest = ""
        if rest:
            yield [rest]

    async def _pieces(self, most: int | None) -> AsyncGenerator[str, None]:
        """The text of the file.

        A file that is not named is given up where a NUL turns up, like ripgrep does it: with the
        whole buffer that holds the NUL.
        """
        path = posixpath.join(self.request.directory, self.path)
        decoder = incremental_decoder(UTF8)
        total = 0
        chunks = self.workspace.read(path)
        async with aclosing(chunks):
            async for chunk in chunks:
                if not total:
                    encoding = detect(chunk[:4], complete=False)
                    decoder = incremental_decoder(encoding)
                total += len(chunk)
                if not encoding.is_wide and b"\0" in chunk:
                    self.has_nul = True
                    if not self.is_named:
                        kept = chunk.index(b"\0") // _BUFFER * _BUFFER
                        yield decoder.decode(chunk[:kept], final=True)
                        return
                yield decoder.decode(chunk)
                if most is not None and total > most:
                    return
        yield decoder.decode(b"", final=True)


class _Range(NamedTuple):
    """First and last line of a match, and where in the first one it starts and ends."""

    first: int
    last: int = 0
    start: int = 0
    end: int = 0


def _line_ranges(pattern: re.Pattern[str], text: str) -> Iterator[_Range]:
    """The lines of each match; matches that share a line, or touch, are one."""
    number, counted = 1, 0
    current: _Range | None = None
    for match in pattern.finditer(text):
        start, end = match.span()
        if start == len(text) and text[-1:] in ("", "\n"):
            break  # behind the last line
        number += text.count("\n", counted, start)
        counted = start
        last = number + text.count("\n", start, max(end - 1, start))
        if current is not None and number <= current.last + 1:
            current = current._replace(last=max(current.last, last))
            continue
        if current is not None:
            yield current
        begin = text.rfind("\n", 0, start) + 1
        current = _Range(number, last, start - begin, end - begin)
    if current is not None:
        yield current


def _first_match(pattern: re.Pattern[str], line: str) -> re.Match[str] | None:
    """The first match in a line; in a very long one the first that begins in some piece of it.

    The work of ``\\w+=`` grows with the square of a run of letters, which a minified file has by
    the hundred thousand. In pieces it does not; a match that a piece would cut is looked for whole.
    """
    if len(line) <= _LONG_LINE or _WIDE.search(pattern.pattern):
        return pattern.search(line)
    for start in range(0, len(line), _PIECE - _SHARED):
        end = min(start + _PIECE, len(line))
        match = pattern.search(line, start, end)
        while match is not None and match.end() == end < len(line):
            position = match.start()
            if (whole := pattern.match(line, position)) is not None:
                return whole
            match = pattern.search(line, position + 1, end)
        if match is not None:
            return match
    return None


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
