"""`grep`: the table of pi's behaviour with the better rows in their place, on both engines."""

from __future__ import annotations

import os
import time
from pathlib import Path

import anyio
import psutil
import pytest

from sloyd.workspace.memory import MemoryWorkspace
from tests.tools.read_only_calls import Outcome, ReadOnlyTools


@pytest.fixture(params=["ripgrep", "python"])
def tools(tmp_path: Path, request: pytest.FixtureRequest) -> ReadOnlyTools:
    """A tree like the one that the table speaks of."""
    files = {
        "a.ts": "foo\n",
        "src/b.ts": "foo\nbar\nfoo\nbar\nfoo\n",
        "src/deep/c.py": "foo(\n",
        ".hidden/h.txt": "foo\n",
        ".env": "foo\n",
        "node_modules/x/i.js": "foo\n",
        "ignored.log": "foo\n",
        ".gitignore": "node_modules/\n*.log\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    program = "python" if request.param == "python" else None
    return ReadOnlyTools.at(tmp_path, search_program=program)


def put(tools: ReadOnlyTools, name: str, data: bytes | str) -> None:
    path = Path(tools.environment.workspace.cwd) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


async def paths(tools: ReadOnlyTools, **arguments: object) -> list[str]:
    lines = (await tools.call("grep", None, **arguments)).lines
    return sorted({line.split(":")[0] for line in lines})


VISIBLE = [".env", ".hidden/h.txt", "a.ts", "src/b.ts", "src/deep/c.py"]


@pytest.mark.parametrize("in_repository", [False, True], ids=["G1", "G2"])
async def test_ignored_files_are_skipped_and_hidden_ones_are_not(
    tools: ReadOnlyTools, in_repository: bool
) -> None:
    if in_repository:
        put(tools, ".git/HEAD", "ref: foo\n")
    assert await paths(tools, pattern="foo") == VISIBLE
    assert await paths(tools, pattern="foo", path="src") == ["b.ts", "deep/c.py"]
    assert (await tools.call("grep", pattern="ref:")).text == "No matches found"  # G3


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.ts", ["a.ts", "src/b.ts"]),
        ("src/**/*.ts", ["src/b.ts"]),
        ("./src/*.ts", ["src/b.ts"]),
        ("/src/*.ts", ["src/b.ts"]),
        ("!*.ts", [".env", ".hidden/h.txt", "src/deep/c.py"]),
        ("!src", [".env", ".hidden/h.txt", "a.ts"]),
        ("!src/deep/", [".env", ".hidden/h.txt", "a.ts", "src/b.ts"]),
        ("*.{ts,py}", ["a.ts", "src/b.ts", "src/deep/c.py"]),
        ("{src,lib}/*.ts", ["src/b.ts"]),
        ("src/", ["src/b.ts", "src/deep/c.py"]),
        ("**", VISIBLE),
        ("**/*", VISIBLE),
        ("*", VISIBLE),
        ("*.log", []),
        ("**/*.js", []),
        ("node_modules/**", []),
    ],
)
async def test_globs_are_relative_to_the_path_and_bring_nothing_ignored_back(
    tools: ReadOnlyTools, glob: str, found: list[str]
) -> None:
    assert await paths(tools, pattern="foo", glob=glob) == (found or ["No matches found"])


async def test_an_absolute_glob_is_understood(tools: ReadOnlyTools) -> None:
    glob = f"{tools.environment.workspace.cwd}/src/*.ts"
    assert await paths(tools, pattern="foo", glob=glob) == ["src/b.ts"]


async def test_classes_of_posix_are_understood(tools: ReadOnlyTools) -> None:
    for pattern in ("[[:alpha:]]+ needle", "[[:upper:][:digit:]]", "[^[:space:]]x"):
        assert (await tools.call("grep", pattern=pattern)).ok
    (Path(tools.environment.workspace.cwd) / "posix.txt").write_text("ab\nAB\n12\n:\n")
    for pattern, numbers in (
        ("[[:lower:]]", [1]),
        ("^[[:alnum:]]+$", [1, 2, 3]),
        ("[[:punct:]]", [4]),
        ("[[:digit:]a]", [1, 3]),
        ("[]:]", [4]),
    ):
        outcome = await tools.call("grep", pattern=pattern, path="posix.txt")
        assert [int(line.split(":")[1]) for line in outcome.lines] == numbers, pattern


async def test_anchors_take_a_lone_carriage_return_for_a_line_end(tools: ReadOnlyTools) -> None:
    (Path(tools.environment.workspace.cwd) / "mac.txt").write_bytes(b"one\rtwo\rthree\nfour\r\n")
    for pattern, found in (("two$", 1), ("^three", 1), ("four$", 2), ("^wo", 0)):
        outcome = await tools.call("grep", pattern=pattern, path="mac.txt")
        assert [int(line.split(":")[1]) for line in outcome.lines if ":" in line] == [found] * (
            found > 0
        )


@pytest.mark.parametrize("pattern", ["\\", "a\\", "(a|\\"])
async def test_a_backslash_at_the_end_is_explained(tools: ReadOnlyTools, pattern: str) -> None:
    outcome = await tools.call("grep", pattern=pattern)
    assert f"Invalid regular expression `{pattern}`: the backslash at its end" in outcome.text
    assert (await tools.call("grep", pattern=pattern, literal=True)).ok


async def test_a_bad_pattern_is_explained(tools: ReadOnlyTools) -> None:
    for pattern in ("foo(", "[z-a]", "*x", "(?=x"):
        outcome = await tools.call("grep", pattern=pattern)
        assert not outcome.ok
        assert outcome.text.startswith(f"Invalid regular expression `{pattern}`: ")
        assert outcome.text.endswith("with literal=true.")
        assert "\n" not in outcome.text
    literal = await tools.call("grep", pattern="foo(", literal=True)
    assert literal.text == "src/deep/c.py:1: foo("
    glob = await tools.call("grep", pattern="foo", glob="[")
    assert not glob.ok
    assert "Invalid glob pattern `[`" in glob.text


async def test_patterns_are_never_options(tools: ReadOnlyTools) -> None:  # G6
    put(tools, "d.txt", "-foo\n--pre=x\n")
    assert (await tools.call("grep", pattern="-foo")).text == "d.txt:1: -foo"
    assert (await tools.call("grep", pattern="--pre=x", literal=True)).text == "d.txt:2: --pre=x"
    assert (await tools.call("grep", pattern="", path="d.txt")).lines == [
        "d.txt:1: -foo",
        "d.txt:2: --pre=x",
    ]


async def test_context(tools: ReadOnlyTools) -> None:  # G7
    outcome = await tools.call("grep", pattern="foo", path="src/b.ts", context=1)
    assert outcome.text.split("\n") == [
        "b.ts:1: foo",
        "b.ts-2- bar",
        "b.ts:3: foo",
        "b.ts-4- bar",
        "b.ts:5: foo",
    ]
    negative = await tools.call("grep", pattern="bar", path="src/b.ts", context=-1)  # G10
    assert negative.text == "b.ts:2: bar\nb.ts:4: bar"


async def test_the_limit_and_the_context_behind_it(tools: ReadOnlyTools) -> None:
    limited = await tools.call("grep", pattern="foo", path="src/b.ts", limit=1, context=2)  # G8
    assert limited.text == (
        "b.ts:1: foo\nb.ts-2- bar\nb.ts-3- foo\n\n"
        "[1 matches limit reached. Use limit=2 for more, or refine pattern]"
    )
    exact = await tools.call("grep", pattern="foo", path="src/b.ts", limit=3)  # G9
    assert "[" not in exact.text
    for limit in (0, -5):  # G10
        refused = await tools.call("grep", pattern="foo", limit=limit)
        assert not refused.ok
        assert refused.text.startswith(f"limit must be at least 1, not {limit}.")


async def test_a_missing_path(tools: ReadOnlyTools) -> None:  # G11
    outcome = await tools.call("grep", pattern="foo", path="nope")
    assert not outcome.ok
    assert outcome.text.startswith(f"Path not found: {tools.environment.workspace.cwd}/nope")


async def test_what_is_named_is_searched_even_if_it_is_ignored(tools: ReadOnlyTools) -> None:  # G12
    put(tools, "star/.gitignore", "*\n")
    put(tools, "star/x.txt", "foo\n")
    assert (
        await tools.call("grep", pattern="foo", path="ignored.log")
    ).text == "ignored.log:1: foo"
    assert await paths(tools, pattern="foo", path="node_modules") == ["x/i.js"]
    assert await paths(tools, pattern="foo", path="node_modules/x") == ["i.js"]
    assert await paths(tools, pattern="foo", path="star") == ["x.txt"]
    assert "star/x.txt" not in await paths(tools, pattern="foo")


async def test_binary_files_are_mentioned(tools: ReadOnlyTools) -> None:  # G13
    put(tools, "bin.dat", b"foo\0bar\n")
    put(tools, "late.dat", b"foo\n" * 30_000 + b"\0foo\n")
    named = await tools.call("grep", pattern="foo", path="bin.dat")
    assert named.text == "[Binary file matches, not shown: bin.dat]"
    outcome = await tools.call("grep", pattern="foo", glob="*.{dat,ts}", limit=10**6)
    assert outcome.lines == ["a.ts:1: foo", *(f"src/b.ts:{number}: foo" for number in (1, 3, 5))]
    assert outcome.text.endswith("[Binary file matches, not shown: late.dat]")


async def test_line_ends(tools: ReadOnlyTools) -> None:
    put(tools, "crlf.txt", b"one\r\ntwo\r\n")
    put(tools, "cr.txt", b"a\rb\nneedle\n")
    assert (await tools.call("grep", pattern="two$")).text == "crlf.txt:2: two"  # G14
    assert (await tools.call("grep", pattern="one\\ntwo")).lines == [  # G15
        "crlf.txt:1: one",
        "crlf.txt:2: two",
    ]
    text = await tools.call("grep", pattern="one\ntwo", literal=True)
    assert text.lines == ["crlf.txt:1: one", "crlf.txt:2: two"]
    assert (await tools.call("grep", pattern="needle", context=1)).lines == [
        "cr.txt-1- a\rb",
        "cr.txt:2: needle",
    ]
    assert (await tools.call("grep", pattern="two[^\\n]*$")).text == "crlf.txt:2: two"


async def test_look_around(tools: ReadOnlyTools) -> None:  # G15
    assert (await tools.call("grep", pattern="foo(?=\\()")).text == "src/deep/c.py:1: foo("


async def test_long_lines_show_the_match(tools: ReadOnlyTools) -> None:  # G16
    put(tools, "long.txt", "x" * 700 + "needle" + "y" * 700 + "\n")
    put(tools, "huge.js", "é" * 900_000 + "needle" + "y" * 300_000)
    put(tools, "early.txt", "needle" + "y" * 700 + "\n")
    put(tools, "emoji.txt", "needle" + "😀" * 300 + "\n")
    outcome = await tools.call("grep", pattern="needle")
    early, emoji, huge, long = outcome.lines
    assert early == "early.txt:1: needle" + "y" * 494 + "... [truncated]"
    assert emoji == "emoji.txt:1: needle" + "😀" * 247 + "... [truncated]"
    assert long.startswith("long.txt:1: [from column 601] " + "x" * 100 + "needle")
    assert "éneedley" in huge
    assert len(huge) < 600
    assert outcome.text.endswith(
        "[Some lines truncated to 500 chars. Use read tool to see full lines]"
    )
    column = int(huge.split("[from column ")[1].split("]")[0])
    read = await tools.call("read", path="huge.js", column=column)
    assert "needle" in read.text


async def test_the_size_of_a_result_is_limited(tools: ReadOnlyTools) -> None:  # G17, G18
    put(tools, "many.txt", "needle\n" * 150)
    default = await tools.call("grep", pattern="needle")
    assert len(default.lines) == 100
    assert "[100 matches limit reached. Use limit=200 for more, or refine pattern]" in default.text
    assert len((await tools.call("grep", pattern="needle", limit=150)).text.split("\n")) == 150
    put(tools, "wide.txt", ("wide" + "x" * 400 + "\n") * 2000)
    wide = await tools.call("grep", pattern="wide", limit=2000)
    assert wide.text.endswith("\n\n[50.0KB limit reached]")
    assert len(wide.text.encode()) < 51200 + 50
    assert wide.details["truncation"]["totalLines"] == 2000
    line = len("wide.txt:1: wide") + 400 + 1
    digits = 9 + 90 * 2 + 900 * 3 + 1001 * 4
    assert wide.details["truncation"]["totalBytes"] == 2000 * (line - 1) + digits - 1


async def test_ambient_configuration_is_ignored(
    tools: ReadOnlyTools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # G19
    configuration = tmp_path / "rc"
    configuration.write_text("--fixed-strings\n--max-count=0\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(configuration))
    again = ReadOnlyTools.at(tmp_path, search_program=tools.environment.settings.search_program)
    assert await paths(again, pattern="f.o", glob="*.ts") == ["a.ts", "src/b.ts"]


async def test_the_order_is_always_the_same(tools: ReadOnlyTools) -> None:  # G20
    for number in range(60):
        put(tools, f"d{number % 7}/f{number}.txt", "needle\n" * 3)
    whole = await tools.call("grep", pattern="needle", limit=1000)
    names = [line.split(":")[0] for line in whole.lines]
    assert names == sorted(names, key=lambda name: name.split("/"))
    for _ in range(4):
        limited = await tools.call("grep", pattern="needle", limit=20)
        assert limited.lines == whole.lines[:20]


async def test_a_name_with_a_line_break_stays_on_its_line(tools: ReadOnlyTools) -> None:  # G21
    put(tools, "new\nline.txt", "needle\n")
    outcome = await tools.call("grep", pattern="needle")
    assert outcome.text == '"new\\nline.txt":1: needle'
    again = await tools.call("grep", pattern="needle", path='"new\\nline.txt"')
    assert again.text == '"new\\nline.txt":1: needle'


async def test_other_encodings(tools: ReadOnlyTools) -> None:
    put(tools, "utf16.txt", "\ufeffcafé needle\n".encode("utf-16-le"))
    put(tools, "latin.txt", b"caf\xe9 needle\n")
    assert (await tools.call("grep", pattern="needle")).lines == [
        "latin.txt:1: caf⟨E9⟩ needle",
        "utf16.txt:1: café needle",
    ]
    assert (await tools.call("grep", pattern="caf⟨E9⟩")).lines == ["latin.txt:1: caf⟨E9⟩ needle"]


@pytest.mark.parametrize("pattern", ["x" * 200_000, "\ud83d", "a\0b"], ids=["long", "half", "NUL"])
async def test_patterns_that_no_engine_takes(tools: ReadOnlyTools, pattern: str) -> None:
    outcome = await tools.call("grep", pattern=pattern)
    assert not outcome.ok
    assert "pattern" in outcome.text


async def test_rules_of_the_home_directory_do_not_hide_a_project(tools: ReadOnlyTools) -> None:
    cwd = Path(tools.environment.workspace.cwd)
    put(tools, ".gitignore", "*\n")
    put(tools, "project/.gitignore", "/build\n")
    put(tools, "project/src/x.txt", "needle\n")
    put(tools, "project/build/x.txt", "needle\n")
    program = tools.environment.settings.search_program
    project = ReadOnlyTools.at(cwd / "project", search_program=program)
    assert await paths(project, pattern="needle") == ["src/x.txt"]
    assert await paths(project, pattern="needle", path="src") == ["x.txt"]


async def test_a_repository_within_a_repository_has_its_own_rules(tools: ReadOnlyTools) -> None:
    put(tools, ".git/HEAD", "ref: x\n")
    put(tools, ".git/info/exclude", "secret.txt\n")
    put(tools, "secret.txt", "needle\n")
    put(tools, "inner/.git/HEAD", "ref: x\n")
    put(tools, "inner/x.log", "needle\n")
    assert await paths(tools, pattern="needle") == ["inner/x.log"]


async def test_without_any_engine_in_memory() -> None:
    workspace = MemoryWorkspace()
    workspace.add_file("/code/src/a.py", b"x\nneedle\n")
    workspace.add_file("/code/.gitignore", b"*.log\n")
    workspace.add_file("/code/a.log", b"needle\n")
    outcome = await ReadOnlyTools.on(workspace).call("grep", pattern="needle")
    assert outcome.text == "src/a.py:2: needle"


async def test_a_program_that_is_set(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("needle\n")
    missing = await ReadOnlyTools.at(tmp_path, search_program="/no/such/rg").call(
        "grep", pattern="needle"
    )
    assert not missing.ok
    assert "search_program" in missing.text
    # One that is too old to know our flags, and one that is no program at all.
    old = tmp_path / "old-rg"
    old.write_text('#!/bin/sh\necho "rg: unrecognized flag --crlf" >&2\nexit 2\n')
    broken = tmp_path / "broken-rg"
    broken.write_bytes(b"\x7fELF nonsense")
    for program in (old, broken):
        program.chmod(0o755)
        tools = ReadOnlyTools.at(tmp_path, search_program=str(program))
        outcome = await tools.call("grep", pattern="needle", glob="*.txt")
        assert outcome.text == "a.txt:1: needle"


async def test_reaching_the_limit_and_aborting_leave_no_process(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number}.txt").write_text("needle\n" * 20_000)
    tools = ReadOnlyTools.at(tmp_path)
    assert len((await tools.call("grep", pattern="needle", limit=5)).lines) == 5
    with anyio.move_on_after(0.02):
        await tools.call("grep", pattern="(n.*e.*)+dle$", limit=10**6)
    children = psutil.Process(os.getpid()).children(recursive=True)
    assert [child.name() for child in children if child.name() == "rg"] == []


def test_outcomes_know_their_lines() -> None:
    assert Outcome(True, "a\nb\n\n[notice]").lines == ["a", "b"]


async def test_a_minified_file_takes_no_square_of_time(tools: ReadOnlyTools) -> None:
    path = Path(tools.environment.workspace.cwd) / "bundle.min.js"
    path.write_text("z" * 90_000 + " needle@here " + "y" * 90_000 + "$")
    begin = time.perf_counter()
    for pattern, found in (
        (r"\w+@here", True),
        (r"[a-z]+ =", False),
        ("y[$]$", True),
        ("z$", False),
        ("z{5000}", True),
    ):
        outcome = await tools.call("grep", pattern=pattern, path="bundle.min.js")
        assert outcome.text.startswith("bundle.min.js:1: ") is found, pattern
    assert time.perf_counter() - begin < 4
