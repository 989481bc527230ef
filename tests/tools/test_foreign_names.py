"""Calls in the words of other agents' tools, and arguments that were encoded once too often."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tools.file_calls import FileTools
from tests.tools.read_only_calls import ReadOnlyTools


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.txt").write_text("needle\n")
    (tmp_path / "d" / "b.md").write_text("NEEDLE\nmore\n")
    return tmp_path


@pytest.mark.parametrize(
    ("tool", "raw", "expected"),
    [
        ("read", {"file_path": "d/a.txt"}, "needle\n"),
        ("read", {"absolute_path": "d/a.txt"}, "needle\n"),
        ("read", {"target_file": "d/a.txt"}, "needle\n"),
        ("read", json.dumps({"path": "d/a.txt"}), "needle\n"),
        ("read", json.dumps(json.dumps({"filePath": "d/a.txt"})), "needle\n"),
        ("ls", {"directory": "d"}, "a.txt\nb.md"),
        ("ls", "", "d/"),
        ("ls", " {} ", "d/"),
        ("find", {"glob_pattern": "*.md", "target_directory": "d"}, "b.md"),
        ("grep", {"query": "needle", "dir_path": "d", "include": "*.txt"}, "a.txt:1: needle"),
        (
            "grep",
            {"regex": "needle", "path": "d", "-i": True, "head_limit": 5},
            "a.txt:1: needle\nb.md:1: NEEDLE",
        ),
    ],
)
async def test_a_call_that_means_one_of_ours(
    tree: Path, tool: str, raw: Any, expected: str
) -> None:
    outcome = await ReadOnlyTools.at(tree).call_raw(tool, raw)
    assert (outcome.ok, outcome.text) == (True, expected)


async def test_our_own_names_come_first(tree: Path) -> None:
    raw = {"path": "d/a.txt", "file_path": "d/b.md"}
    assert (await ReadOnlyTools.at(tree).call_raw("read", raw)).text == "needle\n"


@pytest.mark.parametrize("edits", [None, "", [], "[]"])
async def test_empty_edits_beside_a_single_one(tmp_path: Path, edits: Any) -> None:
    tools = FileTools.at(tmp_path)
    path = tools.put(b"a\n")
    raw = {"target_file": "f", "edits": edits, "oldText": "a", "newText": "b"}
    assert (await tools.call("edit", json.dumps(raw))).ok
    assert path.read_bytes() == b"b\n"


@pytest.mark.parametrize("raw", ["src", "[1]", "5", '{"path": "x"', "null", 5, []])
async def test_what_is_no_object_stays_an_error(tree: Path, raw: Any) -> None:
    outcome = await ReadOnlyTools.at(tree).call_raw("ls", raw)
    assert "root: expected object" in outcome.text


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
async def test_numbers_that_are_none_are_named(tree: Path, number: float) -> None:
    outcome = await ReadOnlyTools.at(tree).call_raw("read", {"path": "d/a.txt", "offset": number})
    assert f"offset: expected integer, got {number}" in outcome.text
