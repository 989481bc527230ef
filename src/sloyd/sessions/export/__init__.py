"""A session as one file for people or programs: HTML, Markdown or JSONL.

The modules:

    html_page      One self-contained HTML file with all branches of a session.
    html_entries   Each entry as an article of the page.
    html_tools     A tool call and its result as one card.
    html_text      Text as HTML, from sources that may be hostile.
    markdown_file  The active branch as a Markdown document.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

from sloyd.errors import SessionError
from sloyd.sessions.session import Session

__all__ = ["ExportFormat", "export_format", "export_session", "write_export"]

ExportFormat: TypeAlias = Literal["html", "markdown", "jsonl"]
_SUFFIXES: dict[str, ExportFormat] = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".jsonl": "jsonl",
}


def export_format(path: Path) -> ExportFormat:
    """The format that a file's name asks for. Raises `SessionError` for another ending."""
    chosen = _SUFFIXES.get(path.suffix.lower())
    if chosen is None:
        raise SessionError(
            f"cannot tell the format of {path.name} from its ending; use .html, .md or .jsonl"
        )
    return chosen


def export_session(session: Session, output: ExportFormat) -> bytes:
    """The session in one of the formats.

    HTML has all branches and shows the active one; Markdown has the active branch; JSONL has every
    line of the file as it is, the bad ones too.
    """
    if output == "html":
        from sloyd.sessions.export.html_page import html_page

        return html_page(session).encode("utf-8", "replace")
    if output == "markdown":
        from sloyd.sessions.export.markdown_file import markdown_file

        return markdown_file(session).encode("utf-8", "replace")
    return session.raw_lines()


def write_export(session: Session, path: Path, output: ExportFormat | None = None) -> None:
    """Write the session to a file that only its owner can read; its ending tells the format.

    A file that is there is replaced in one step, through a symlink at its target; a device or a
    pipe is written to and stays what it is. Raises `SessionError` when it cannot be written.
    """
    data = export_session(session, output or export_format(path))
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                file.write(data)
        else:
            _replace(target, data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SessionError(f"cannot write {path}: {reason}") from error


def _replace(target: Path, data: bytes) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        temporary.replace(target)
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            temporary.unlink(missing_ok=True)
        raise
