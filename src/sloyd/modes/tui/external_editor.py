"""Writing in the person's own editor, in the place of the screen."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sloyd.errors import UsageError

if TYPE_CHECKING:
    from textual.app import App

__all__ = ["edit_text", "editor_command"]


def editor_command(setting: str | None, variables: Mapping[str, str]) -> list[str]:
    """The editor as arguments: the setting, VISUAL, EDITOR, or one that is there.

    Raises `UsageError` when there is none, or its command line cannot be read.
    """
    chosen = setting or variables.get("VISUAL") or variables.get("EDITOR")
    if chosen:
        try:
            argv = shlex.split(chosen)
        except ValueError as error:
            raise UsageError(f"cannot read the editor's command line {chosen}: {error}") from error
        if argv:
            return argv
    for name in ("nano", "vim", "vi"):
        found = shutil.which(name, path=variables.get("PATH"))
        if found:
            return [found]
    raise UsageError("there is no editor; set EDITOR, or display.editor in the settings")


async def edit_text(app: App[object], argv: list[str], text: str) -> str | None:
    """Let a text be edited; None when the editor failed, and so the text is to stay as it is.

    The agent goes on working meanwhile; nothing is drawn. Raises `UsageError` when the editor
    cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="sloyd-") as directory:
        path = Path(directory, "prompt.md")
        await asyncio.to_thread(path.write_text, text, "utf-8")
        with app.batch_update(), _screen_given_up(app):
            try:
                process = await asyncio.create_subprocess_exec(*argv, os.fspath(path))
            except OSError as error:
                raise UsageError(f"cannot start {argv[0]}: {error.strerror}") from error
            with _interrupts_ignored():
                code = await process.wait()
        if code != 0:
            return None
        try:
            edited = await asyncio.to_thread(path.read_text, "utf-8-sig", "replace")
        except OSError:
            return None
    return edited.removesuffix("\n") if not text.endswith("\n") else edited


@contextmanager
def _screen_given_up(app: App[object]) -> Iterator[None]:
    """The terminal is the editor's; where it cannot be given up, an editor with a window works."""
    from textual.app import SuspendNotSupported

    with ExitStack() as stack:
        with suppress(SuspendNotSupported):
            stack.enter_context(app.suspend())
        yield


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """The editor has the terminal, so Ctrl+C there is not meant for us, who get it too.

    To be entered when the editor runs: it would inherit that the signal is ignored.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
