"""Who is measured: Sloyd, pi where its package is given, and the raw tool."""

from __future__ import annotations

import json
import os
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Pi", "find_pi", "quiet_environment", "rg_program", "sloyd_program"]

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Pi:
    """An installed pi: the interpreter, its package directory, and its program."""

    node: str
    package: Path
    program: Path
    version: str


def find_pi(package: str | None, node: str | None) -> Pi | None:
    """The pi of a package directory, or None where none was given.

    Raises:
        SystemExit: a directory was given and there is no pi in it, or no node.
    """
    if not package:
        return None
    directory = Path(package).resolve()
    try:
        description = json.loads((directory / "package.json").read_text(encoding="utf-8"))
        program = directory / description["bin"]["pi"]
    except (OSError, ValueError, KeyError) as error:
        raise SystemExit(f"bench: no pi package in {directory}: {error}") from error
    # npm's package `node` lies two directories above a scoped package.
    beside = directory.parents[1] / "node" / "bin" / "node"
    found = node or (str(beside) if beside.exists() else shutil.which("node"))
    if not found:
        raise SystemExit("bench: pi needs node; set NODE=/path/to/node")
    return Pi(found, directory, program, description["version"])


def sloyd_program() -> str:
    """The `sloyd` of the environment that runs the benchmark."""
    return str(Path(sysconfig.get_path("scripts")) / "sloyd")


def rg_program() -> str:
    """The `rg` that Sloyd would use."""
    beside = Path(sysconfig.get_path("scripts")) / "rg"
    return str(beside) if beside.exists() else shutil.which("rg") or "rg"


def quiet_environment(home: Path, **more: str) -> Mapping[str, str]:
    """An environment with nothing of the user's in it, and a home of its own."""
    return {
        "HOME": str(home),
        "SLOYD_HOME": str(home / ".sloyd"),
        "PI_CODING_AGENT_DIR": str(home / "pi"),
        "PI_OFFLINE": "1",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "LANG": "C.UTF-8",
        **more,
    }
