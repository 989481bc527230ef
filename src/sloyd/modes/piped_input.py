"""Text piped into the process: read to its end, but never waited for without end.

A supervisor or a cron job may leave an idle pipe on standard input for ever. When there is a prompt
already, a pipe that stays silent is given up after a few seconds, with a word on standard error.
"""

from __future__ import annotations

import os
import stat
import sys

from sloyd.modes.output import Output

__all__ = ["PATIENCE", "read_piped_input"]

PATIENCE = 3.0
"""Seconds to wait for the first byte of a pipe when there is a prompt already."""


def read_piped_input(*, have_prompt: bool) -> str:
    """All of standard input as text, or nothing when it is a terminal, closed or idle.

    Bytes that are not UTF-8 become U+FFFD.
    """
    descriptor = _descriptor()
    if descriptor is None:
        return ""
    if have_prompt and _may_be_idle(descriptor) and not _speaks(descriptor, PATIENCE):
        Output("stderr").line(
            f"sloyd: standard input is a pipe that sent nothing for {PATIENCE:g} s;"
            " going on without it (use </dev/null to say so at once)"
        )
        return ""
    chunks: list[bytes] = []
    try:
        while chunk := os.read(descriptor, 1 << 16):
            chunks.append(chunk)
    except OSError:
        # A directory or a descriptor that cannot be read holds no text for us.
        return ""
    return b"".join(chunks).decode("utf-8", "replace")


def _descriptor() -> int | None:
    """Standard input's descriptor, unless it is closed or a terminal."""
    if sys.stdin is None or sys.stdin.closed:
        return None
    try:
        descriptor = sys.stdin.fileno()
        return None if os.isatty(descriptor) else descriptor
    except (OSError, ValueError):
        return None


def _may_be_idle(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return os.name == "posix" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


def _speaks(descriptor: int, patience: float) -> bool:
    """Whether a byte, or the end, arrives within so many seconds."""
    import select

    return bool(select.select([descriptor], [], [], patience)[0])
