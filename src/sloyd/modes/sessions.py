"""``sloyd sessions``: list, search, show, rename, move, delete and export sessions."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sloyd.errors import SessionError, UsageError
from sloyd.harness.coding_agent import sessions_directory
from sloyd.harness.home import sloyd_home
from sloyd.harness.settings_files import load_settings
from sloyd.modes.export import export_file
from sloyd.modes.output import Output, json_line
from sloyd.modes.session_rows import local_time, session_row, short_ids
from sloyd.sessions import catalogue
from sloyd.sessions.index import SearchHit, SessionIndex
from sloyd.sessions.session import Session
from sloyd.sessions.summary_of import SessionSummary, summary_of
from sloyd.text.terminal import plain_text

__all__ = ["sessions_door"]

_USAGE = """\
usage: sloyd sessions [list]              the sessions of this directory, the newest first
       sloyd sessions search WORDS...     where all these words were said, in any project
       sloyd sessions show SESSION        facts, and the conversation as Markdown
       sloyd sessions rename SESSION NAME...
       sloyd sessions delete SESSION...   asks first
       sloyd sessions export SESSION [FILE] [--format html|markdown|jsonl]
       sloyd sessions move SESSION        make this directory the session's own
       sloyd sessions path SESSION        where its file is
SESSION is a path, an id, the beginning of one, or a name.
--all lists every project; --here searches only this one; --json writes one object a line;
--yes deletes without asking; --session-dir DIR looks there"""

_SWITCHES = {"--all", "--here", "--json", "--yes"}
_VALUES = {"--format", "--session-dir"}


class _Request(msgspec.Struct, frozen=True):
    """The words behind ``sloyd sessions``, sorted."""

    action: str
    words: tuple[str, ...]
    switches: frozenset[str]
    values: dict[str, str]
    sessions: Path

    def find(self, reference: str) -> Path:
        return catalogue.find_session(self.sessions, reference, str(Path.cwd()))

    def one(self) -> Path:
        if len(self.words) != 1:
            raise UsageError(f"`sloyd sessions {self.action}` takes one session\n{_USAGE}")
        return self.find(self.words[0])


def sessions_door(arguments: Sequence[str]) -> int:
    """Run the door with the words behind ``sloyd sessions``; returns the exit code."""
    out = Output("stdout")
    if {"--help", "-h"} & set(arguments):
        out.line(_USAGE)
        return 0
    request = _request(arguments)
    match request.action:
        case "list":
            _list(request, out)
        case "search":
            return _search(request, out)
        case "show":
            _show(request.one(), out)
        case "rename":
            if not request.words:
                raise UsageError(_USAGE)
            catalogue.rename_session(request.find(request.words[0]), " ".join(request.words[1:]))
        case "delete":
            return _delete(request, out)
        case "export":
            _export(request, out)
        case "move":
            path = catalogue.relocate_session(request.one(), request.sessions, str(Path.cwd()))
            out.line(str(path))
        case "path":
            out.line(str(request.one()))
        case _:
            raise UsageError(f"sloyd sessions does not know {request.action!r}\n{_USAGE}")
    return 0


def _request(arguments: Sequence[str]) -> _Request:
    words: list[str] = []
    switches: set[str] = set()
    values: dict[str, str] = {}
    rest = iter(arguments)
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--":
            words += rest
        elif word in _SWITCHES:
            switches.add(word)
        elif name in _VALUES:
            found = value if equals else next(rest, None)
            if found is None:
                raise UsageError(f"{name} needs a value")
            values[name] = found
        elif word.startswith("-") and word != "-":
            raise UsageError(f"sloyd sessions does not know {word}\n{_USAGE}")
        else:
            words.append(word)
    named = values.get("--session-dir")
    if named is not None:
        sessions = Path(named).expanduser().absolute()
    else:
        settings = load_settings(sloyd_home(os.environ) / "config.toml").settings
        sessions = sessions_directory(os.environ, settings)
    action = words.pop(0) if words else "list"
    return _Request(action, tuple(words), frozenset(switches), values, sessions)


def _list(request: _Request, out: Output) -> None:
    if request.words:
        raise UsageError(f"`sloyd sessions list` takes no words; did you mean search?\n{_USAGE}")
    cwd = None if "--all" in request.switches else str(Path.cwd())
    found = list(_summaries(request.sessions, cwd))
    if "--json" in request.switches:
        for summary in found:
            out.write(json_line(summary))
        return
    ids = [path.stem.partition("_")[2] for path in catalogue.session_files(request.sessions)]
    short = short_ids([*ids, *(summary.id for summary in found)])
    for summary in found:
        row = session_row(summary, short.get(summary.id, ""), cwd=cwd is None)
        out.line(_fitted("  ".join(row), out))
    if not found:
        where = "" if cwd is None else " of this directory; --all lists every project"
        Output("stderr").line(f"there are no sessions{where}")
    if cwd is not None:
        for path in catalogue.moved_sessions(request.sessions, cwd):
            summary = summary_of(path)
            Output("stderr").line(
                f"{summary.title} began here when this directory was {summary.cwd};"
                f" sloyd sessions move {summary.id} takes it along"
            )


def _summaries(sessions: Path, cwd: str | None) -> Iterator[SessionSummary]:
    """From the index, which reads only what changed; from the files when it cannot be used."""
    try:
        with SessionIndex(sessions) as index:
            yield from index.sessions(cwd)
    except SessionError:
        yield from catalogue.list_sessions(sessions, cwd)


def _search(request: _Request, out: Output) -> int:
    if not request.words:
        raise UsageError(f"`sloyd sessions search` needs words\n{_USAGE}")
    cwd = str(Path.cwd()) if "--here" in request.switches else None
    with SessionIndex(request.sessions) as index:
        hits = index.search(" ".join(request.words), cwd=cwd)
    if "--json" in request.switches:
        for hit in hits:
            out.write(json_line(_hit_object(hit)))
        return 0 if hits else 1
    short = short_ids([path.stem.partition("_")[2] for path in _files(request)])
    for hit in hits:
        session = hit.session
        row = session_row(session, short.get(session.id, session.id), cwd=True)
        out.line(_fitted("  ".join(row), out))
        out.line(f"    {hit.role}: {_marked(hit, out)}")
    if not hits:
        Output("stderr").line("nothing was found")
    return 0 if hits else 1


def _files(request: _Request) -> list[Path]:
    return catalogue.session_files(request.sessions)


def _hit_object(hit: SearchHit) -> dict[str, Any]:
    return {
        "session": hit.session,
        "entryId": hit.entry_id,
        "role": hit.role,
        "timestamp": hit.timestamp,
        "excerpt": hit.excerpt,
        "marks": hit.marks,
    }


def _marked(hit: SearchHit, out: Output) -> str:
    """The excerpt on one line; on a terminal the words that were looked for stand out."""
    parts = []
    end = 0
    for first, last in hit.marks:
        parts.append(plain_text(hit.excerpt[end:first]))
        word = plain_text(hit.excerpt[first:last])
        parts.append(f"\x1b[1;33m{word}\x1b[0m" if _coloured(out) else word)
        end = last
    parts.append(plain_text(hit.excerpt[end:]))
    return " ".join("".join(parts).split())


def _coloured(out: Output) -> bool:
    return out.is_terminal and not os.environ.get("NO_COLOR")


def _fitted(line: str, out: Output) -> str:
    """The line cut to the terminal's width; whole where nobody looks."""
    if not out.is_terminal:
        return line
    from shutil import get_terminal_size

    from rich.cells import set_cell_size

    width = get_terminal_size().columns
    return set_cell_size(line, width).rstrip() if len(line) > width // 2 else line


def _show(path: Path, out: Output) -> None:
    from sloyd.sessions.export.markdown_file import markdown_file
    from sloyd.sessions.stats import session_stats

    with Session.open(path, on_conflict="read") as session:
        stats = session_stats(session)
        summary = summary_of(path)
        facts = {
            "id": session.id,
            "file": str(path),
            "directory": session.cwd,
            "began": local_time(summary.created),
            "changed": local_time(summary.modified),
            "messages": f"{stats.user_messages} + {stats.assistant_messages} answers",
            "calls": str(stats.tool_calls),
            "tokens": f"{stats.usage.total_tokens:,}, context {stats.context_tokens:,}",
            "cost": f"${stats.usage.cost.total:.4f}",
        }
        for name, value in facts.items():
            out.line(f"{name:<10} {plain_text(value)}")
        for problem in session.problems:
            out.line(f"{'damaged':<10} {problem}")
        out.line()
        out.write(plain_text(markdown_file(session)))


def _delete(request: _Request, out: Output) -> int:
    if not request.words:
        raise UsageError(f"`sloyd sessions delete` needs a session\n{_USAGE}")
    paths = [request.find(word) for word in request.words]
    for path in paths:
        summary = summary_of(path)
        if "--yes" not in request.switches and not _agrees(summary, out):
            return 1
        catalogue.delete_session(path)
    return 0


def _agrees(summary: SessionSummary, out: Output) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("nobody can be asked here; --yes deletes without asking")
    title = " ".join(plain_text(summary.title).split())
    out.write(f"delete {title} ({summary.messages} messages)? [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _export(request: _Request, out: Output) -> None:
    if not 1 <= len(request.words) <= 2:
        raise UsageError(f"`sloyd sessions export` takes a session and a file\n{_USAGE}")
    target = request.words[1] if len(request.words) == 2 else None
    export_file(
        request.find(request.words[0]), target, output=request.values.get("--format"), out=out
    )
