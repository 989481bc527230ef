"""Ripgrep and the engine without it agree on random trees, ignore files and patterns."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.tools.read_only_calls import ReadOnlyTools

NAMES = ["a", "b", "ab", "a.b", "x.log", "y.tmp", ".h", "ä", "A", "a b", "src", "new\nline"]
LINES = ["a", "ab", "b a", "", "foo(", "a\r", "ä", "aXb", "  a", "x" * 600 + "a", "\udce9a"]
FILES = st.dictionaries(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join),
    st.tuples(st.lists(st.sampled_from(LINES), max_size=6), st.booleans()),
    min_size=1,
    max_size=10,
)
RULE_WORDS = """
        a b *.log *.tmp /a a/ src/ !x.log !a/b a/b a/** **/b **/a/** b/*.log * !*/ /* a* [ab] ?.b
        *.{log,tmp} !.h # \\!x \\#y src/**/b /src/a !src /**/b a//b **b .* !/a/ {a,b}
        [a-b].b *b/ **/ src/* !src/a
        """
RULES = st.lists(st.sampled_from(RULE_WORDS.split()), max_size=4).map("\n".join)
IGNORE_FILES = st.dictionaries(
    st.tuples(
        st.sampled_from(["", "a/", "src/", "a/b/"]),
        st.sampled_from([".gitignore", ".ignore", ".rgignore", ".git/info/exclude"]),
    ).map("".join),
    RULES,
    max_size=3,
)
PATTERN_WORDS = (
    r"a ^a$ a$ b|ä [ab]+ a.b \bb ^$ x{3} (?i)A foo\( a\nb ^\s+a a\n . \w+\s\w "
    r"[[:alpha:]]b [^[:space:]a] [$^] \$ \^a [[:punct:]]$"
)
PATTERNS = st.sampled_from(["", "a b", *PATTERN_WORDS.split()])
GLOBS = st.none() | st.sampled_from(
    [
        "*.log",
        "a/**",
        "!*.b",
        "*",
        "**",
        "src/*",
        "!a",
        "?.b",
        "*.{b,log}",
        "[!a]*",
        "a",
        "**/b",
        "/a",
    ]
)


def build(
    root: Path,
    files: dict[str, tuple[list[str], bool]],
    rules: dict[str, str],
    repositories: list[str],
) -> None:
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    for name, (lines, ends) in files.items():
        path = root / name
        if any(parent.is_file() for parent in path.parents) or path.is_dir():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join(lines)
        # To ripgrep the end of the file behind a lone CR is one more line.
        text += "\n" if ends or text.endswith("\r") else ""
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    for name, text in rules.items():
        path = root / name
        if any(parent.is_file() for parent in path.parents) or path.is_dir():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    for repository in repositories:
        if not (root / repository.rstrip("/")).is_file():
            (root / repository / ".git").mkdir(parents=True, exist_ok=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return tmp_path / "tree"


@given(
    files=FILES,
    rules=IGNORE_FILES,
    repositories=st.lists(st.sampled_from(["", "a/", "src/"]), max_size=2),
    pattern=PATTERNS,
    glob=GLOBS,
    path=st.sampled_from([None, "a", "src"]),
    context=st.integers(0, 2),
    limit=st.integers(1, 8) | st.just(1000),
    ignore_case=st.booleans(),
    literal=st.booleans(),
)
@example(
    files={"a/b": (["a"], True)},
    rules={".gitignore": "a/**"},
    repositories=[""],
    pattern="a",
    glob=None,
    path="a",
    context=0,
    limit=1000,
    ignore_case=False,
    literal=False,
)
@example(
    files={"a": (["\udce9a"], False)},
    rules={},
    repositories=[],
    pattern="[^[:space:]a]",
    glob=None,
    path=None,
    context=0,
    limit=1000,
    ignore_case=False,
    literal=False,
)
async def test_both_engines_find_the_same(
    tree: Path,
    files: dict[str, tuple[list[str], bool]],
    rules: dict[str, str],
    repositories: list[str],
    pattern: str,
    glob: str | None,
    path: str | None,
    context: int,
    limit: int,
    ignore_case: bool,
    literal: bool,
) -> None:
    build(tree, files, rules, repositories)
    arguments = {
        "pattern": pattern,
        "glob": glob,
        "path": path,
        "context": context,
        "limit": limit,
        "ignoreCase": ignore_case,
        "literal": literal,
    }
    arguments = {name: value for name, value in arguments.items() if value is not None}
    with_ripgrep = await ReadOnlyTools.at(tree).call("grep", None, **arguments)
    without = await ReadOnlyTools.at(tree, search_program="python").call("grep", None, **arguments)
    assert with_ripgrep.text == without.text


@given(files=FILES, rules=IGNORE_FILES, is_repository=st.booleans())
async def test_find_lists_the_files_that_ripgrep_lists(
    tree: Path, files: dict[str, tuple[list[str], bool]], rules: dict[str, str], is_repository: bool
) -> None:
    build(tree, files, rules, [""] if is_repository else [])
    flags = [] if is_repository or ".git/info/exclude" in rules else ["--no-require-git"]
    listed = subprocess.run(  # noqa: ASYNC221 - a few milliseconds
        ["rg", "--files", "--hidden", "--null", "--no-ignore-global", "--glob=!.git", *flags],
        cwd=tree,
        capture_output=True,
        check=False,
    )
    expected = sorted(listed.stdout.decode().split("\0")[:-1], key=lambda name: name.split("/"))
    outcome = await ReadOnlyTools.at(tree).call("find", pattern="")
    found = [line for line in outcome.lines if not line.endswith(("/", '/"'))]
    if not expected and found == ["No files found matching pattern"]:
        return
    assert [json.loads(line) if line.startswith('"') else line for line in found] == expected
