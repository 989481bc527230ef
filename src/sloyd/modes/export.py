"""A session written to a file for people or programs, from the command line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import get_args

from sloyd.errors import SessionError, UsageError
from sloyd.modes.output import Output
from sloyd.sessions.export import ExportFormat, export_format, export_session, write_export
from sloyd.sessions.session import Session

__all__ = ["export_file"]

_ENDINGS = {"html": ".html", "markdown": ".md", "jsonl": ".jsonl"}


def export_file(path: Path, target: str | None, *, output: str | None, out: Output) -> None:
    """Write the session in ``path`` to ``target``, and say where.

    ``target`` may be a directory, or ``-`` for standard output; without one the file stands in the
    working directory and is named after the session. Without ``output`` its ending tells the
    format, and HTML is the usual one.

    Raises `UsageError` for a format that there is not, `SessionError` when a file cannot be used.
    """
    chosen = _format(output)
    with Session.open(path, on_conflict="read") as session:
        for problem in session.problems:
            Output("stderr").line(f"sloyd: {path}, {problem}")
        if target == "-":
            out.write(export_session(session, chosen or "html"))
            return
        file = Path.cwd() if target is None else Path(target).expanduser()
        if file.is_dir():
            file = file / f"sloyd-{session.id}{_ENDINGS[chosen or 'html']}"
        if file.exists() and os.path.samefile(file, path):
            raise SessionError(f"{file} is the session itself; name another file")
        write_export(session, file, chosen or export_format(file))
    out.line(str(file))


def _format(named: str | None) -> ExportFormat | None:
    known: ExportFormat
    for known in get_args(ExportFormat):
        if named == known:
            return known
    if named is not None:
        raise UsageError(f"--format takes {', '.join(get_args(ExportFormat))}, not {named}")
    return None
