"""The handed search cases on the live tree, with ripgrep and without."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.tools.file_calls import FileTools, load_cases
from tests.tools.live_tree import build_live_tree
from tests.tools.read_only_calls import ReadOnlyTools

CASES: dict[str, dict[str, Any]] = {case["id"]: case for case in load_cases("search_cases.json")}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_live_tree(tmp_path_factory.mktemp("live"))


@pytest.fixture(params=["ripgrep", "python"])
def tools(live: Path, request: pytest.FixtureRequest) -> ReadOnlyTools:
    program = "python" if request.param == "python" else None
    return ReadOnlyTools.at(live, search_program=program)


# What the result's lines are, or that it is an error and what it must say.
FOUND: dict[str, list[str] | str] = {
    "dash-pattern": ["src/a.py:3: -77 code"],
    "pre-injection": ["No matches found"],
    "path-dash": ["--help:1: needle"],
    "bad-regex": "Invalid regular expression `(`: ",
    "bad-regex-literal": ["src/a.py:5: (unclosed needle"],
    "nested-ignore": ["other/x.tmp", "sub/keep.tmp"],
    "parent-ignore": ["GUIDE.md"],
    "explicit-ignored-file": ["app.log:1: needle"],
    "many": [f"f{number:04d}.txt:1: needle" for number in range(100)],
    "bracket-name": ["[br]acket.txt:1: needle"],
    "binary": [],
    "ignore-case": ["CASE.txt:1: NEEDLE"],
    "grep-fifo": ["No matches found"],
    "nbsp-exact-first": ["NBSP file", ""],
    "nnbsp-fallback": ["nnbsp", ""],
    "nfd-fallback": ["nfd", ""],
    "at-name": ["at", ""],
    "read-sock": "is a socket, not a regular file",
}


@pytest.mark.parametrize("name", FOUND)
async def test_found(tools: ReadOnlyTools, name: str) -> None:
    case = CASES[name]
    started = time.monotonic()
    outcome = await tools.call(case["tool"], **case["args"])
    assert time.monotonic() - started < 5
    expected = FOUND[name]
    if isinstance(expected, str):
        assert not outcome.ok
        assert expected in outcome.text
    else:
        assert outcome.ok
        assert outcome.lines == expected


async def test_the_rest_of_the_read_only_cases(tools: ReadOnlyTools) -> None:
    many = await tools.call("grep", **CASES["many"]["args"])
    assert many.text.endswith(
        "\n\n[100 matches limit reached. Use limit=200 for more, or refine pattern]"
    )
    binary = await tools.call("grep", **CASES["binary"]["args"])
    assert binary.text == "[Binary file matches, not shown: bin.dat]"
    names = await tools.call("find", **CASES["venv-star"]["args"])
    assert "top.txt" in names.lines
    assert not any(line.startswith("venv/") for line in names.lines)
    listed = await tools.call("ls", **CASES["ls-dangling"]["args"])
    assert {"dangling@", "self@", "link.txt", "loop/", "src/"} <= set(listed.lines)


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree of its own; each of the cases changes another file of it."""
    return build_live_tree(tmp_path_factory.mktemp("changed"))


CHANGING = [name for name, case in CASES.items() if case["tool"] in ("write", "edit")]


@pytest.mark.parametrize("name", CHANGING)
async def test_changing_cases(changed: Path, name: str) -> None:
    case = CASES[name]
    started = time.monotonic()
    outcome = await FileTools.at(changed).call(case["tool"], case["args"])
    assert time.monotonic() - started < 1
    match name:
        case "symlink-edit":
            assert outcome.ok
            assert (changed / "edit/link.md").is_symlink()
            assert (changed / "edit/real.md").read_text() == "sky is blue\n"
        case "symlink-dangling-write":
            assert outcome.ok
            assert (changed / "edit/dangling.md").is_symlink()
            assert (changed / "edit/made_later.md").read_text() == "z\n"
        case "readonly":  # root may write it, and then it keeps its mode
            is_root = os.geteuid() == 0
            assert outcome.ok is is_root
            text = (changed / "edit/readonly.txt").read_text()
            assert text == ("k=new\n" if is_root else "k=old\n")
            assert (changed / "edit/readonly.txt").stat().st_mode & 0o777 == 0o444
        case _:
            assert not outcome.ok
            assert json.dumps(outcome.text)
            assert case["args"]["path"] in outcome.text
    assert (changed / "special/dir").is_dir()


async def test_every_found_name_can_be_used_in_the_next_call(tools: ReadOnlyTools) -> None:
    outcome = await tools.call("grep", pattern="needle", path="tree")
    assert len(outcome.lines) > 20
    for line in outcome.lines:
        path = line.rsplit(":1: ", 1)[0].rsplit(":2: ", 1)[0].rsplit(":5: ", 1)[0]
        if path.startswith('"'):
            path = f"tree/{json.loads(path)}"
            again = await tools.call("read", path=path, limit=5)
        else:
            again = await tools.call("read", path=f"tree/{path}", limit=5)
        assert again.ok
        assert "needle" in again.text or "exceeds" in again.text or "bbb" in again.text
    for name in (await tools.call("ls", path="tree")).lines:
        if name.startswith('"'):
            assert (await tools.call("read", path=name)).text != "needle\n"  # not in this directory
    inside = ReadOnlyTools.at(Path(tools.environment.workspace.cwd) / "tree")
    for tool in ("ls", "find"):
        arguments: dict[str, Any] = {} if tool == "ls" else {"pattern": "*.txt"}
        for name in (await inside.call(tool, **arguments)).lines:
            if name.startswith('"'):
                assert (await inside.call("read", path=name)).text == "needle\n"


@pytest.fixture
def bystander() -> Iterator[Path]:
    """The live tree, seen by a user who may not read all of it, also when root runs the tests."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        live = build_live_tree(Path(directory))
        yield live


@contextmanager
def few_rights() -> Iterator[None]:
    if os.geteuid() != 0:
        yield
        return
    os.setegid(65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.mark.parametrize("program", [None, "python"])
async def test_unreadable_files_are_named(bystander: Path, program: str | None) -> None:
    tools = ReadOnlyTools.at(bystander, search_program=program)
    for tool in ("grep", "find"):  # what they load must be loaded while everything is readable
        assert (await tools.call(tool, pattern="needle", path="tree")).ok
    with few_rights():
        outcome = await tools.call("grep", pattern="needle", path="unreadable")
        named = await tools.call("grep", pattern="needle", path="unreadable/no.txt")
        listed = await tools.call("ls", path="noexec")
        found = await tools.call("find", pattern="*", path="noexec")
    assert outcome.text == ("ok.txt:1: needle\n\n[Could not be read: no.txt (Permission denied)]")
    assert not named.ok
    assert "Permission denied" in named.text
    assert "unreadable/no.txt" in named.text
    assert listed.text in ("a.txt", "a.txt?")
    assert found.text == "a.txt"
