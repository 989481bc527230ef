"""`scripts/setup.sh` says plainly what is missing, and chooses the interpreter that works."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.sources import ROOT

BASICS = ["sh", "dirname", "cat", "cksum", "rm", "head"]
OLD = """#!/bin/sh
case "$2" in *print*) echo 3.9.2 ;; *) exit 1 ;; esac
"""
WITHOUT_VENV = """#!/bin/sh
case "$2" in *print*) echo 3.12.4 ;; *ensurepip*) exit 1 ;; esac
"""
BROKEN_SHIM = """#!/bin/sh
echo "pyenv: $0: command not found" >&2
exit 127
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A directory that looks like a fresh clone, beside a ``bin`` that is the whole PATH."""
    (tmp_path / "clone" / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "setup.sh", tmp_path / "clone" / "scripts")
    shutil.copy(ROOT / "pyproject.toml", tmp_path / "clone")
    (tmp_path / "bin").mkdir()
    for name in BASICS:
        program = shutil.which(name)
        assert program is not None
        (tmp_path / "bin" / name).symlink_to(program)
    return tmp_path / "clone"


def offer(clone: Path, name: str, script: str) -> None:
    program = clone.parent / "bin" / name
    program.write_text(script)
    program.chmod(0o755)


def set_up(clone: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(clone.parent / "bin"), "HOME": str(clone.parent), **variables}
    return subprocess.run(
        ["sh", "scripts/setup.sh", "run"],
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_no_python_at_all(clone: Path) -> None:
    done = set_up(clone)
    assert done.returncode == 1
    assert "no Python was found. Install Python 3.11 or newer" in done.stderr


def test_too_old_a_python_is_named_with_its_version(clone: Path) -> None:
    offer(clone, "python3", OLD)
    done = set_up(clone)
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed; found 3.9.2 (python3)" in done.stderr
    assert "PYTHON=" in done.stderr


def test_a_python_without_venv_is_told_apart(clone: Path) -> None:
    offer(clone, "python3", WITHOUT_VENV)
    offer(clone, "python3.13", BROKEN_SHIM)
    done = set_up(clone)
    assert done.returncode == 1
    assert "python3 (3.12.4) cannot make virtual environments" in done.stderr
    assert "apt install python3-venv" in done.stderr
    assert "python3.13" not in done.stderr


def test_a_chosen_python_that_does_not_run(clone: Path) -> None:
    done = set_up(clone, PYTHON="/nowhere/python")
    assert done.returncode == 1
    assert "PYTHON=/nowhere/python does not run" in done.stderr


def test_a_file_in_the_way_is_not_removed(clone: Path) -> None:
    (clone / ".venv").mkdir()
    (clone / ".venv" / "mine.txt").write_text("keep")
    done = set_up(clone, PYTHON=sys.executable)
    assert done.returncode == 1
    assert "is not a virtual environment" in done.stderr
    assert (clone / ".venv" / "mine.txt").read_text() == "keep"


def test_what_is_ready_is_left_alone(clone: Path) -> None:
    """With the stamp of this clone there is nothing to do, and nothing is asked of the network."""
    (clone / ".venv" / "bin").mkdir(parents=True)
    (clone / ".venv" / "bin" / "python").symlink_to(sys.executable)
    checksum = subprocess.run(
        "cat pyproject.toml scripts/setup.sh | cksum",
        cwd=clone,
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    version = ".".join(map(str, sys.version_info[:3]))
    stamp = f"{os.path.realpath(clone)}\n{checksum}\n{version}\n"
    (clone / ".venv" / ".ready-run").write_text(stamp)
    done = set_up(clone)
    assert (done.returncode, done.stderr) == (0, "")
