"""What is built for others to install: complete, typed, and nothing of the workshop in it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import sloyd
from tests.project.sources import PACKAGE, ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    directory = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    [path] = directory.glob("*.whl")
    return zipfile.ZipFile(path)


def test_every_file_of_the_package_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    expected = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = set(wheel.namelist())
    assert expected - packed == set()
    assert {
        "sloyd/py.typed",
        "sloyd/demo/script.json",
        "sloyd/demo/project/till/money.py",
    } <= packed


def test_nothing_else_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    roots = {Path(name).parts[0] for name in wheel.namelist()}
    assert roots == {"sloyd", f"sloyd-{sloyd.__version__}.dist-info"}


def test_the_wheel_says_what_it_is(wheel: zipfile.ZipFile) -> None:
    information = f"sloyd-{sloyd.__version__}.dist-info"
    metadata = Parser().parsestr(wheel.read(f"{information}/METADATA").decode())
    assert metadata["Version"] == sloyd.__version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    entry_points = wheel.read(f"{information}/entry_points.txt").decode()
    assert "sloyd = sloyd.cli.main:main" in entry_points


def test_the_version_is_a_literal() -> None:
    """`importlib.metadata` would cost tens of milliseconds at each start."""
    assert f'__version__ = "{sloyd.__version__}"' in (PACKAGE / "__init__.py").read_text()
