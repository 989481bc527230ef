"""What is not needed is not loaded: the start costs what the work at hand needs, and no more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

NEVER_EARLY = {
    "PIL",
    "acp",
    "anthropic",
    "difflib",
    "keyring",
    "mcp",
    "openai",
    "psutil",
    "pydantic",
    "pygments",
    "rich",
    "sqlite3",
    "textual",
    "tomlkit",
}
NOT_FOR_A_GLANCE = NEVER_EARLY | {"anyio", "asyncio", "httpx2", "importlib.metadata", "msgspec"}

AT_EXIT = """
import atexit, json, os, sys
def tell():
    with open(os.environ["MODULES"], "w") as file:
        json.dump(sorted(sys.modules), file)
atexit.register(tell)
"""
AT_FIRST_CONNECTION = """
import json, os, sys
def tell(event, arguments):
    if event == "socket.connect":
        with open(os.environ["MODULES"], "w") as file:
            json.dump(sorted(sys.modules), file)
        os._exit(0)
sys.addaudithook(tell)
"""
MAIN = """
from sloyd.cli.main import main
sys.exit(main())
"""


def modules_of(directory: Path, code: str, *arguments: str) -> set[str]:
    """What a fresh interpreter has loaded when ``code`` tells."""
    told = directory / "modules.json"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=directory,
        env={**os.environ, "MODULES": str(told)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert told.exists(), done.stderr
    return set(json.loads(told.read_text()))


def test_importing_the_package_loads_nothing_heavy(tmp_path: Path) -> None:
    loaded = modules_of(tmp_path, AT_EXIT + "import sloyd")
    assert loaded & NOT_FOR_A_GLANCE == set()
    assert not [name for name in loaded if name.startswith("sloyd.")]


@pytest.mark.parametrize(
    ("flag", "unwanted"),
    [("--version", NOT_FOR_A_GLANCE), ("--help", NOT_FOR_A_GLANCE - {"msgspec"})],
)
def test_a_glance_loads_nothing_heavy(tmp_path: Path, flag: str, unwanted: set[str]) -> None:
    assert modules_of(tmp_path, AT_EXIT + MAIN, flag) & unwanted == set()


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_first_request_leaves_without_what_only_screens_and_tools_need(
    tmp_path: Path, provider: str
) -> None:
    loaded = modules_of(
        tmp_path,
        AT_FIRST_CONNECTION + MAIN,
        *["-p", "go", "--provider", provider, "--model", "m", "--api-key", "x"],
        *["--base-url", "http://127.0.0.1:9/v1"],
    )
    assert "httpx2" in loaded
    assert loaded & NEVER_EARLY == set()
