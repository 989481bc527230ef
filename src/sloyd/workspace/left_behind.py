"""Jobs that a command leaves behind: who they are, and who listens to them from now on.

A job that still holds the command's output would die of SIGPIPE, or block for ever, once nobody
reads it. So the read end of the pipe goes to a tiny process of its own, which appends what comes to
the command's log up to a limit and swallows the rest, and ends when the last writer does. It
outlives Sloyd, as the jobs do.
"""

from __future__ import annotations

import os
import subprocess
from typing import Final

from sloyd.workspace.base import OutputFile

__all__ = ["start_drain"]

_BLOCK: Final = 512
"""Bytes in one unit of ``ulimit -f``, as POSIX has it."""

# A shell gives its background jobs an empty standard input, hence the detour over descriptor 3.
# The size limit ends the first `cat` and not the job; `cat` passes on each piece as it comes.
_SCRIPT: Final = """exec 3<&0
{ (ulimit -c 0; ulimit -f "$1"; exec cat); exec cat >/dev/null; } <&3 3<&- &
"""


def start_drain(pipe: int, output: OutputFile | None) -> None:
    """Start the process that reads ``pipe`` from now on; blocks for about 2 ms.

    The caller closes its own ``pipe`` afterwards. Raises `OSError` when the process cannot be
    started or the file not be opened.
    """
    if output is None:
        target, limit = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), 0
    else:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
        target, limit = os.open(output.path, flags), max(output.limit, 0)
    try:
        blocks = (os.fstat(target).st_size + limit) // _BLOCK
        os.set_blocking(pipe, True)
        # The shell ends at once; its child belongs to init, so no zombie is left with us.
        subprocess.run(
            ["/bin/sh", "-c", _SCRIPT, "sloyd-drain", str(blocks)],
            stdin=pipe,
            stdout=target,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PATH": os.defpath},
            start_new_session=True,
            check=False,
        )
    finally:
        os.close(target)
