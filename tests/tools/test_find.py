"""`find`: the table of pi's behaviour with the better rows in their place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sloyd.workspace.memory import MemoryWorkspace
from tests.tools.read_only_calls import ReadOnlyTools


@pytest.fixture
def tools(tmp_path: Path) -> ReadOnlyTools:
    names = ("a.ts", "src/b.ts", "src/deep/c.ts", "src/deep/d.py", ".env", ".hidden/h.txt", "x.log")
    for name in (*names, "node_modules/p/i.js", "lib/src/e.ts"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / ".gitignore").write_text("node_modules\n*.log\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "up").symlink_to(".")
    return ReadOnlyTools.at(tmp_path)


TABLE: dict[str, list[str]] = {
    "*.ts": ["a.ts", "lib/src/e.ts", "src/b.ts", "src/deep/c.ts"],
    "**/*.ts": ["a.ts", "lib/src/e.ts", "src/b.ts", "src/deep/c.ts"],
    "src/*.ts": ["src/b.ts"],
    "./src/*.ts": ["src/b.ts"],
    "src/**": ["src/b.ts", "src/deep/", "src/deep/c.ts", "src/deep/d.py"],
    "src/**/c.ts": ["src/deep/c.ts"],
    "**/src": ["lib/src/", "src/"],
    "*.log": [],
    "i.js": [],
    ".env": [".env"],
    "*.TS": [],
    "A.ts": [],
    "src": ["lib/src/", "src/"],
    "src/": ["lib/src/", "src/"],
    "**/src/": ["lib/src/", "src/"],
    "a.ts/": [],
    "*.{py,txt}": [".hidden/h.txt", "src/deep/d.py"],
    "?.ts": ["a.ts", "lib/src/e.ts", "src/b.ts", "src/deep/c.ts"],
    "[a-b].ts": ["a.ts", "src/b.ts"],
    "[!a-b].ts": ["lib/src/e.ts", "src/deep/c.ts"],
    "dangling": ["dangling"],
    "up": ["up"],
    "empty": ["empty/"],
    "--help": [],
    "": [
        ".env",
        ".gitignore",
        ".hidden/",
        ".hidden/h.txt",
        "a.ts",
        "dangling",
        "empty/",
        "lib/",
        "lib/src/",
        "lib/src/e.ts",
        "src/",
        "src/b.ts",
        "src/deep/",
        "src/deep/c.ts",
        "src/deep/d.py",
        "up",
    ],
}


@pytest.mark.parametrize("in_repository", [False, True], ids=["plain", "repository"])
@pytest.mark.parametrize("pattern", TABLE)
async def test_table(tools: ReadOnlyTools, pattern: str, in_repository: bool) -> None:
    if in_repository:  # F2
        git = Path(tools.environment.workspace.cwd) / ".git"
        git.mkdir()
        (git / "a.ts").write_text("")
    outcome = await tools.call("find", pattern=pattern)
    assert outcome.lines == (TABLE[pattern] or ["No files found matching pattern"])


async def test_an_absolute_pattern(tools: ReadOnlyTools) -> None:  # F1
    pattern = f"{tools.environment.workspace.cwd}/src/*.ts"
    assert (await tools.call("find", pattern=pattern)).lines == ["src/b.ts"]


async def test_results_are_relative_to_the_path(tools: ReadOnlyTools) -> None:
    assert (await tools.call("find", pattern="**/*.ts", path="src")).lines == ["b.ts", "deep/c.ts"]
    assert (await tools.call("find", pattern="*.js", path="node_modules")).lines == ["p/i.js"]


@pytest.mark.parametrize(("path", "words"), [("nope", "Path not found: "), ("a.ts", "Not a dir")])
async def test_a_path_that_is_no_directory(tools: ReadOnlyTools, path: str, words: str) -> None:
    outcome = await tools.call("find", pattern="*", path=path)  # F6
    assert not outcome.ok
    assert outcome.text.startswith(words)


@pytest.mark.parametrize("pattern", ["[", "{a", "a\\", "[z-a]"])
async def test_a_bad_pattern_is_explained(tools: ReadOnlyTools, pattern: str) -> None:  # F7
    outcome = await tools.call("find", pattern=pattern)
    assert not outcome.ok
    assert outcome.text.startswith(f"Invalid glob pattern `{pattern}`: ")


async def test_the_limit(tools: ReadOnlyTools) -> None:  # F8, F9
    limited = await tools.call("find", pattern="*.ts", limit=2)
    assert limited.text == (
        "a.ts\nlib/src/e.ts\n\n[2 results limit reached. Use limit=4 for more, or refine pattern]"
    )
    assert limited.details == {"resultLimitReached": 2}
    assert "[" not in (await tools.call("find", pattern="*.ts", limit=4)).text
    for limit in (0, -1):
        refused = await tools.call("find", pattern="*", limit=limit)
        assert not refused.ok
        assert refused.text.startswith("limit must be at least 1")


async def test_the_size_of_a_result_is_limited() -> None:
    workspace = MemoryWorkspace()
    for number in range(1500):
        workspace.add_file(f"/code/{'x' * 60}{number:04d}")
    outcome = await ReadOnlyTools.on(workspace).call("find", pattern="x*", limit=2000)
    assert outcome.text.endswith("\n\n[50.0KB limit reached]")
    assert len(outcome.lines) == 51200 // 65
    assert outcome.details["truncation"]["totalLines"] == 1500


async def test_odd_names_are_quoted(tmp_path: Path) -> None:
    for name in (" lead", "trail ", "new\nline", "tab\t", 'q"uote', "-dash", "ä", "a:1:b"):
        (tmp_path / name).write_text("content\n")
    (tmp_path / "new\ndir").mkdir()
    descriptor = os.open(os.fsencode(tmp_path) + b"/caf\xe9", os.O_CREAT | os.O_WRONLY)
    os.close(descriptor)
    tools = ReadOnlyTools.at(tmp_path)
    lines = (await tools.call("find", pattern="*")).lines
    assert lines == [
        '" lead"',
        "-dash",
        "a:1:b",
        '"caf\\udce9"',
        '"new\\ndir/"',
        '"new\\nline"',
        'q"uote',
        '"tab\\t"',
        '"trail "',
        "ä",
    ]
    for line in lines:
        tool = "ls" if line.endswith(('/"', "/")) else "read"
        assert (await tools.call(tool, path=line)).ok


async def test_deep_and_wide_trees_come_in_order() -> None:
    workspace = MemoryWorkspace()
    expected = [
        f"d{outer:02d}/e{inner:02d}/f/{number}.txt"
        for outer in range(60)
        for inner in range(12)
        for number in range(6)
    ]
    for name in expected:
        workspace.add_file(f"/code/{name}")
    tools = ReadOnlyTools.on(workspace)
    everything = await tools.call("find", pattern="*.txt", limit=9999)
    assert everything.lines == expected[: len(everything.lines)]
    assert everything.details["truncation"]["totalLines"] == len(expected)
    assert (await tools.call("find", pattern="5.txt", limit=9999)).lines == expected[5::6]


async def test_nested_rules_hold_for_their_directory_only() -> None:
    workspace = MemoryWorkspace()
    for name, text in {
        "venv/.gitignore": "*\n",
        "venv/lib/site.txt": "",
        "top.txt": "",
        "sub/.gitignore": "*.tmp\n!keep.tmp\n/only-here\n",
        "sub/x.tmp": "",
        "sub/keep.tmp": "",
        "sub/only-here": "",
        "sub/deeper/only-here": "",
        "other/x.tmp": "",
        ".ignore": "!kept.log\n",
        ".gitignore": "*.log\n",
        "kept.log": "",
        "gone.log": "",
    }.items():
        workspace.add_file(f"/code/{name}", text.encode())
    outcome = await ReadOnlyTools.on(workspace).call("find", pattern="[!.]*")
    files = [line for line in outcome.lines if not line.endswith("/")]
    assert files == [
        "kept.log",
        "other/x.tmp",
        "sub/deeper/only-here",
        "sub/keep.tmp",
        "top.txt",
    ]
