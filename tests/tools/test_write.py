"""`write`: the handed cases, and the table of pi's behaviour with the better rows in place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.tools.edit_arguments import prepare_write
from tests.tools.file_calls import FileTools, load_cases

ARGUMENTS = [case for case in load_cases("arg_cases.json") if case["tool"] == "write"]


@pytest.mark.parametrize("case", ARGUMENTS, ids=lambda case: case["id"])
async def test_handed_arguments(tmp_path: Path, case: dict[str, Any]) -> None:
    tools = FileTools.at(tmp_path)
    outcome = await tools.call("write", case["raw"])
    path = tmp_path / case["raw"]["path"]
    if case["id"] == "write-object-content":
        assert path.read_text() == '{\n  "a": 1,\n  "b": [\n    true,\n    null\n  ]\n}\n'
    else:
        assert outcome.text.startswith('Validation failed for tool "write":')
        assert not path.exists()


@pytest.mark.parametrize(
    ("raw", "meant"),
    [
        ({"file_path": "f", "content": "x"}, {"path": "f", "content": "x"}),
        ({"filePath": "f", "file_text": "x"}, {"path": "f", "content": "x"}),
        ({"path": "d/A.JSON", "content": []}, {"path": "d/A.JSON", "content": "[]\n"}),
        (
            {"path": "a.ipynb", "content": {"é": 1}},
            {"path": "a.ipynb", "content": '{\n  "é": 1\n}\n'},
        ),
        ({"path": "a.txt", "content": {"a": 1}}, {"path": "a.txt", "content": {"a": 1}}),
        ([1], [1]),
    ],
)
def test_foreign_shapes_are_understood(raw: object, meant: object) -> None:
    assert prepare_write(raw) == meant


@pytest.mark.parametrize("content", [None, 42, True, {"a": 1}, ["a"]])
async def test_nothing_but_text_is_written(tmp_path: Path, content: object) -> None:
    """Cases W11 and W12."""
    outcome = await FileTools.at(tmp_path).write("f.txt", content)
    assert outcome.text.startswith('Validation failed for tool "write":\n  - content: expected')
    assert os.listdir(tmp_path) == []


async def test_a_new_file_in_a_new_directory(tmp_path: Path) -> None:
    """Cases W1 and C02-01: the number of bytes is the true one."""
    tools = FileTools.at(tmp_path)
    outcome = await tools.write("w/new/deep.txt", "hé😀\n")
    assert outcome.text == "Successfully wrote to w/new/deep.txt (created, 8 bytes)."
    assert outcome.details == {
        "action": "created",
        "bytes": 8,
        "previousBytes": None,
        "diff": "+1 hé😀",
        "patch": "--- /dev/null\n+++ b/w/new/deep.txt\n@@ -0,0 +1,1 @@\n+hé😀\n",
        "patchFormat": "unified",
        "firstChangedLine": 1,
        "encoding": "utf-8",
        "lineEnding": "lf",
    }
    assert (tmp_path / "w/new/deep.txt").read_bytes() == "hé😀\n".encode()


async def test_an_empty_file(tmp_path: Path) -> None:
    """Case W2."""
    outcome = await FileTools.at(tmp_path).write("f", "")
    assert outcome.text == "Successfully wrote to f (created, 0 bytes)."
    assert (tmp_path / "f").read_bytes() == b""


async def test_a_replaced_file_shows_the_difference(tmp_path: Path) -> None:
    tools = FileTools.at(tmp_path)
    tools.put(b"a\nb\nc\n")
    outcome = await tools.write("f", "a\nB\nc\n")
    assert outcome.text == "Successfully wrote to f (replaced, 6 bytes, 6 before)."
    assert outcome.details is not None
    assert outcome.details["diff"] == " 1 a\n-2 b\n+2 B\n 3 c"
    assert outcome.details["firstChangedLine"] == 2


async def test_the_same_content_changes_nothing(tmp_path: Path) -> None:
    tools = FileTools.at(tmp_path)
    before = tools.put(b"a\n").stat()
    outcome = await tools.write("f", "a\n")
    assert outcome.text == (
        "Successfully wrote to f (unchanged, the file had exactly these 2 bytes)."
    )
    after = (tmp_path / "f").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize(
    ("before", "content", "words"),
    [
        (b"a\r\nb\r\n", "a\nb\nc\n", ["ended in CRLF", "end in LF"]),
        (b"a\nb\r\n", "a\nb\n", ["ended in mixed endings", "end in LF"]),
        (b"\xef\xbb\xbfa\n", "b\n", ["began with a BOM"]),
        (b"a\n", "\ufeffb\n", ["begins with a BOM"]),
        ("a\n".encode("utf-16"), "b\n", ["the old file was utf-16-le with BOM"]),
        (b"caf\xe9\n", "café\n", ["not UTF-8"]),
    ],
)
async def test_a_change_of_style_is_said(
    tmp_path: Path, before: bytes, content: str, words: list[str]
) -> None:
    """Case W4."""
    tools = FileTools.at(tmp_path)
    path = tools.put(before)
    outcome = await tools.write("f", content)
    notes = outcome.text.split("\n", 1)[1]
    assert notes.startswith("Note: ")
    assert [word for word in words if word not in notes] == []
    assert path.read_bytes() == content.encode()


async def test_the_same_style_needs_no_note(tmp_path: Path) -> None:
    tools = FileTools.at(tmp_path)
    tools.put(b"a\r\n")
    assert "\n" not in (await tools.write("f", "b\r\n")).text


async def test_half_a_pair_is_refused(tmp_path: Path) -> None:
    """Case W3."""
    tools = FileTools.at(tmp_path)
    path = tools.put(b"old")
    outcome = await tools.write("f", "ok \ud83d end")
    assert "U+D83D is half of a surrogate pair" in outcome.text
    assert path.read_bytes() == b"old"


async def test_mode_and_links_stay(tmp_path: Path) -> None:
    """Cases W5, W6 and W7."""
    tools = FileTools.at(tmp_path)
    path = tools.put(b"a\n", "secret.conf")
    path.chmod(0o640)
    (tmp_path / "link").symlink_to("secret.conf")
    (tmp_path / "dangling").symlink_to("made/later.md")
    assert (await tools.write("link", "b\n")).ok
    assert (await tools.write("dangling", "z\n")).ok
    assert (path.stat().st_mode & 0o7777, path.read_bytes()) == (0o640, b"b\n")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "dangling").is_symlink()
    assert (tmp_path / "made/later.md").read_bytes() == b"z\n"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("dir", "EISDIR"),
        ("", "EISDIR"),
        (".", "EISDIR"),
        ("newdir/", "EISDIR"),
        ("dir/", "EISDIR"),
        ("f/x", "ENOTDIR"),
        ("n" * 300, "ENAMETOOLONG"),
        ("a\0b", "EINVAL"),
        ("loop", "ELOOP"),
    ],
)
async def test_places_that_cannot_be_written(tmp_path: Path, path: str, code: str) -> None:
    """Cases W8, W9, W10 and W13."""
    tools = FileTools.at(tmp_path)
    tools.put(b"a\n")
    (tmp_path / "dir").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    outcome = await tools.write(path, "x")
    assert outcome.text.startswith("Could not write file: ")
    assert f"Error code: {code}." in outcome.text
    assert sorted(os.listdir(tmp_path)) == ["dir", "f", "loop"]


async def test_home_and_mentions(tmp_path: Path) -> None:
    """Case W17."""
    tools = FileTools.at(tmp_path)
    assert (await tools.write("@w/at.txt", "1")).ok
    assert (await tools.write("~/home.txt", "2")).ok
    assert (tmp_path / "w/at.txt").read_bytes() == b"1"
    assert (tmp_path / "home.txt").read_bytes() == b"2"


async def test_a_large_file_is_written_without_a_diff(tmp_path: Path) -> None:
    tools = FileTools.at(tmp_path)
    outcome = await tools.write("f", "line\n" * 1_000_000)
    assert outcome.details is not None
    assert (outcome.details["diff"], outcome.details["patch"]) == (None, None)
    assert (tmp_path / "f").stat().st_size == 5_000_000


CONTENTS = st.one_of(
    st.text(st.sampled_from("ab\n\r é😀\ufeff"), max_size=20).map(str.encode),
    st.lists(st.sampled_from([b"a\n", b"\xe9", b"\r\n", b"\0"]), max_size=8).map(b"".join),
    st.text("ab\n", max_size=8).map(lambda text: text.encode("utf-16")),
)


@given(CONTENTS, st.text(st.sampled_from("ab\n\r é😀\ufeff\ud83d"), max_size=20))
async def test_written_as_given_or_not_at_all(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, content: str
) -> None:
    directory = tmp_path_factory.mktemp("write")
    tools = FileTools.at(directory)
    path = tools.put(before)
    outcome = await tools.write("f", content)
    if not outcome.ok:
        assert path.read_bytes() == before
        return
    after = path.read_bytes()
    assert after == content.encode()
    assert outcome.details is not None
    if after != before:
        path.write_bytes(before)
        patch = outcome.details["patch"].encode()
        command = ["git", "apply", "--whitespace=nowarn"]
        await anyio.run_process(command, input=patch, cwd=directory)
        assert (path.read_bytes() if path.exists() else b"") == after
