"""One child process: how long it took, and the most memory it held.

This process must stay small. On Linux the peak that a child reports starts from its parent's own
peak, so a large benchmark program would hide a small contender.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Sample", "run_child", "run_reporting_child"]

_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured run. ``memory`` is in MB of 10**6 bytes, None where it means nothing."""

    seconds: float
    memory: float | None = None
    started: float = 0.0
    """When the child was started, in seconds since the epoch."""


def run_child(
    arguments: Sequence[str], directory: Path, environment: Mapping[str, str]
) -> tuple[Sample, str]:
    """Run a program to its end, its standard input empty; the sample and its standard output.

    Raises:
        RuntimeError: it failed; the message holds the end of what it wrote to stderr.
    """
    errors = directory / "stderr.txt"
    with errors.open("wb") as stderr:
        started, clock = time.time(), time.perf_counter()
        child = subprocess.Popen(
            arguments,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
        assert child.stdout is not None
        output = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - clock
        child.stdout.close()
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        said = errors.read_text(errors="replace").strip().splitlines()[-1:]
        raise RuntimeError(f"exit code {child.returncode}: {''.join(said)}")
    memory = usage.ru_maxrss * _RSS_UNIT / 1e6
    return Sample(seconds, memory, started), output.decode(errors="replace")


def run_reporting_child(
    arguments: Sequence[str], directory: Path, environment: Mapping[str, str]
) -> Sample:
    """Run a program that times itself and prints ``{"seconds": ...}`` in its last line.

    Its memory is taken from outside. A result with ``error`` raises `RuntimeError`.
    """
    sample, output = run_child(arguments, directory, environment)
    report: dict[str, Any] = json.loads(output.strip().splitlines()[-1])
    if report.get("error"):
        raise RuntimeError(str(report["error"]))
    return Sample(float(report["seconds"]), sample.memory, sample.started)
