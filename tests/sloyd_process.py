"""The real ``sloyd`` command, as tests start it: whole runs, and processes that are sent signals.

A model is scripted (`script`) or stands behind a server on loopback (`tests.servers`). Sessions and
settings are where ``SLOYD_HOME`` says; use the fixture ``home`` for a fresh one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

__all__ = [
    "SLOYD",
    "alive",
    "lines_of",
    "only_session",
    "run",
    "script",
    "shell",
    "started",
    "wait_for",
]

SLOYD = shutil.which("sloyd") or "sloyd"


def script(directory: Path, *turns: Mapping[str, Any]) -> str:
    """A model that says these turns, as ``--model`` takes it."""
    path = directory / f"script-{len(list(directory.glob('script-*')))}.json"
    path.write_text(json.dumps(turns))
    return f"scripted:{path}"


def run(
    *words: str,
    cwd: Path,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    timeout: float = 30,
) -> subprocess.CompletedProcess[bytes]:
    """Run ``sloyd`` to its end."""
    return subprocess.run(
        [SLOYD, *words],
        cwd=cwd,
        input=stdin,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        timeout=timeout,
        check=False,
    )


def shell(
    line: str, cwd: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash; its exit code is that of the first command of a pipe that failed."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        timeout=30,
        check=False,
    )


def started(*words: str, cwd: Path) -> subprocess.Popen[bytes]:
    """Start ``sloyd`` with pipes to all its streams."""
    pipe = subprocess.PIPE
    return subprocess.Popen([SLOYD, *words], cwd=cwd, stdin=pipe, stdout=pipe, stderr=pipe)


def wait_for(condition: Callable[[], object], seconds: float = 10) -> None:
    """Wait until something is so; fails when it does not come to be."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def alive(process: psutil.Process) -> bool:
    """Whether a process still does something; one that only waits to be reaped does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def lines_of(output: bytes) -> list[dict[str, Any]]:
    """The JSON objects of an output, one a line; every line must be whole."""
    assert output == b"" or output.endswith(b"\n")
    found: Sequence[Any] = [json.loads(line) for line in output.split(b"\n")[:-1]]
    assert all(isinstance(each, dict) for each in found)
    return list(found)


def only_session(home: Path) -> Path:
    """The file of the only session that there is."""
    (path,) = (home / ".sloyd" / "sessions").glob("*/*.jsonl")
    return path
