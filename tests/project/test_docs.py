"""What the documentation shows is true: examples run, commands and files that it names exist."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import make_schemas, reference
from sloyd.cli.flags import COMMANDS, flag_names
from sloyd.demo import prepare
from tests.project.documents import Block, blocks, documents, links, matches
from tests.project.sources import ROOT

PAGES = documents()
EXAMPLES = [
    path for path in sorted((ROOT / "examples").glob("*.py")) if "__main__" in path.read_text()
]
RUN = {"python": [sys.executable, "-"], "sh": ["bash", "-euo", "pipefail", "-s"]}
KNOWN = {*RUN, "output", "console", "json", "jsonl", "toml", "text", ""}
FLAG = re.compile(r"(?<![\w-])(--[a-z][a-z-]+|-[a-z]{1,2})(?=[\s=`.,)]|$)")
NAME_IN_FILE = re.compile(r"`(?:\w+\.)*(\w+)(?:\([^`]*\))?`(?: in\s+|,? \()`(src/[^`]+\.py)`")
LINKED_NAME = re.compile(r"\[`(\w+)`\]\(\.\./(src/[^)]+\.py)\)")
SUBCOMMAND_FLAGS = {"--json", "--jsonl", "--keep", "--list", "--diff", "--force", "--all"}
SUBCOMMAND_FLAGS |= {"--format", "--here", "--yes"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a model that answers everything with one word."""
    directory = tmp_path_factory.mktemp("model")
    (directory / "turns.json").write_text('[{"text": "Done."}]')
    server = subprocess.Popen(
        [sys.executable, "-m", "bench.model_server", "turns.json", "arrivals.txt"],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]])},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    with server.stdout:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        server.terminate()
        server.wait()


def run(block: Block, directory: Path, model: str) -> str:
    """Run a block as people would: pasted into a shell, or saved into a file of the project."""
    done = subprocess.run(
        RUN[block.language],
        input=block.text,
        cwd=directory,
        env={**os.environ, "OPENAI_BASE_URL": model, "OPENAI_API_KEY": "example"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, f"{block} gave {done.returncode}:\n{done.stdout}"
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page: Path, tmp_path: Path, model: str) -> None:
    directory = prepare(tmp_path / "project").directory
    output = ""
    for block in blocks(page):
        if block.language in RUN:
            output = run(block, directory, model)
        elif block.language == "output":
            assert matches(block.text, output), f"{block} is not what came:\n{output}"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example_programs_run(example: Path, tmp_path: Path, model: str) -> None:
    directory = prepare(tmp_path / "project").directory
    program = Block(example, 1, "python", example.read_text(encoding="utf-8"))
    assert "Done." in run(program, directory, model)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_data_parses(page: Path) -> None:
    for block in blocks(page):
        assert block.language in KNOWN, f"{block} has an unknown language"
        if block.language == "json":
            json.loads(block.text)
        elif block.language == "jsonl":
            assert all(isinstance(json.loads(line), dict) for line in block.text.splitlines())
        elif block.language == "toml":
            tomllib.loads(block.text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    local = [link for link in links(page) if not link.startswith(("http://", "https://", "#"))]
    missing = [link for link in local if not (page.parent / link.partition("#")[0]).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_flags_exist(page: Path) -> None:
    known = {*flag_names(), *SUBCOMMAND_FLAGS}
    commands = {command.name for command in COMMANDS}
    unknown = []
    for line in re.findall(r"^(?:\$ )?sloyd .*$|`sloyd [^`]*`", page.read_text(), re.MULTILINE):
        # What stands behind two blanks explains the command.
        command = line.strip("$` ").partition("  ")[0]
        unknown += [flag for flag in FLAG.findall(command) if flag not in known]
        word = command.partition(" ")[2].partition(" ")[0]
        if re.fullmatch(r"[a-z]+", word) and word not in commands:
            unknown.append(word)
    assert unknown == []


def test_generated_tables_are_those_of_the_code() -> None:
    assert reference.outdated() == [], "run: python scripts/reference.py"


def test_schemas_are_those_of_the_types() -> None:
    assert make_schemas.outdated() == [], "run: python scripts/make_schemas.py"


def test_named_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        named = re.findall(r"(?:`|^\$ )make ([a-z]+)", page.read_text(), re.MULTILINE)
        assert set(named) <= targets, page.name


def test_named_files_exist() -> None:
    """A path of this repository in backticks is there, also after the next renaming."""
    roots = ("src/", "tests/", "bench/", "docs/", "scripts/", "sloyd/")
    missing = []
    for page in PAGES:
        for name in re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", page.read_text()):
            if not name.startswith(roots):
                continue
            place = ROOT / "src" / name if name.startswith("sloyd/") else ROOT / name
            if not place.exists():
                missing.append(f"{page.name}: {name}")
    assert missing == []


def test_named_functions_are_where_the_pages_say() -> None:
    """A name in backticks that is said to be in a file is defined there."""
    wrong = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name, file in [*NAME_IN_FILE.findall(text), *LINKED_NAME.findall(text)]:
            defined = re.compile(
                rf"^ *(?:(?:async )?def|class) {name}\b|^{name}\b.*=", re.MULTILINE
            )
            if not defined.search((ROOT / file).read_text(encoding="utf-8")):
                wrong.append(f"{page.name}: {name} is not in {file}")
    assert wrong == []


def test_the_readme_leads_to_every_page() -> None:
    linked = {(ROOT / link.partition("#")[0]).resolve() for link in links(ROOT / "README.md")}
    assert [page.name for page in PAGES if page not in linked | {ROOT / "README.md"}] == []
