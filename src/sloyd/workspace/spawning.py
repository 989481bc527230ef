"""Starting a process without a terminal: its session, its pipes, its standard input.

No terminal and an empty standard input mean that nothing can wait for a key. One pipe takes both
outputs, so that their order is the true one.
"""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from sloyd.errors import WorkspaceError
from sloyd.workspace.base import ProcessRequest
from sloyd.workspace.problems import workspace_error
from sloyd.workspace.process_tree import MARKER, ProcessTree

__all__ = ["Started", "start"]

_MARKER_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class Started:
    """A running process: its handle, its tree, and the read ends of its output pipes.

    ``errors`` is the pipe of stderr, or None where stderr goes into ``output``.
    """

    process: subprocess.Popen[bytes]
    tree: ProcessTree
    output: int
    errors: int | None


def start(request: ProcessRequest, environment: Mapping[str, str]) -> Started:
    """Start the process of a request, in about 1 ms.

    Raises `WorkspaceError`: ``missing``, ``permission`` or ``not-directory`` with the path of the
    program or of the working directory, whichever it is; ``too-large`` when the arguments are
    longer than the system takes; ``invalid-path`` for a NUL in any of them.
    """
    variables = dict(environment if request.environment is None else request.environment)
    marker = os.urandom(_MARKER_BYTES).hex()
    outer = variables.get(MARKER)
    variables[MARKER] = f"{outer}:{marker}" if outer else marker
    opened: list[int] = []
    try:
        output, output_end = os.pipe()
        opened += (output, output_end)
        errors, errors_end = None, output_end
        if not request.merge_stderr:
            errors, errors_end = os.pipe()
            opened += (errors, errors_end)
        stdin = _standard_input(request.stdin)
        if stdin != subprocess.DEVNULL:
            opened.append(stdin)
        process = subprocess.Popen(
            list(request.argv),
            stdin=stdin,
            stdout=output_end,
            stderr=errors_end,
            cwd=request.cwd,
            env=variables,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        for descriptor in opened:
            os.close(descriptor)
        raise _start_failure(error, request) from error
    for descriptor in set(opened) - {output, errors}:
        os.close(descriptor)
    return Started(process, ProcessTree(process.pid, marker), output, errors)


def _standard_input(data: bytes | None) -> int:
    """A descriptor to read ``data`` from. A file, not a pipe: a reader that never comes, or stops
    half-way, needs no looking after."""
    if not data:
        return subprocess.DEVNULL
    import tempfile

    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        return os.dup(file.fileno())


def _start_failure(error: OSError | ValueError, request: ProcessRequest) -> WorkspaceError:
    program = str(request.argv[0]) if request.argv else ""
    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        size = sum(len(os.fsencode(argument)) for argument in request.argv)
        return WorkspaceError(
            f"the arguments are longer than the system takes: {size} bytes",
            path=program,
            reason="too-large",
        )
    if isinstance(error, ValueError):
        culprit = request.cwd if "\0" in request.cwd else program
        with suppress(StopIteration):
            culprit = next(argument for argument in request.argv if "\0" in argument)
        return workspace_error(error, culprit)
    # Popen names the directory when the change into it is what failed.
    path = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else program
    return workspace_error(error, path)
