"""`ls`: the table of pi's behaviour with the better rows in their place."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.tools.read_only_calls import ReadOnlyTools


async def ls(directory: Path, **arguments: object) -> str:
    return (await ReadOnlyTools.at(directory).call("ls", None, **arguments)).text


async def test_the_order_is_that_of_people(tmp_path: Path) -> None:  # L1
    for name in ("Zeta", "sub"):
        (tmp_path / name).mkdir()
    for name in ("C.txt", "é.txt", "a.txt", "B.txt", "10", "9", ".dot", "_u"):
        (tmp_path / name).write_text("")
    (tmp_path / "linkdir").symlink_to("sub")
    (tmp_path / "linkfile").symlink_to("a.txt")
    assert (await ls(tmp_path)).split("\n") == [
        "_u",
        ".dot",
        "10",
        "9",
        "a.txt",
        "B.txt",
        "C.txt",
        "é.txt",
        "linkdir/",
        "linkfile",
        "sub/",
        "Zeta/",
    ]


async def test_links_that_lead_nowhere_and_special_files_are_listed(tmp_path: Path) -> None:  # L2
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "real@").write_text("")
    (tmp_path / "what?").write_text("")
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "sock"))
    assert (await ls(tmp_path)).split("\n") == [
        "dangling@",
        "fifo",
        '"real@"',
        "self@",
        "sock",
        '"what?"',
    ]


@pytest.mark.parametrize("limit", [0, -3])
async def test_limits_below_one(tmp_path: Path, limit: int) -> None:  # L3
    outcome = await ReadOnlyTools.at(tmp_path).call("ls", limit=limit)
    assert not outcome.ok
    assert outcome.text.startswith(f"limit must be at least 1, not {limit}.")


async def test_what_is_no_directory(tmp_path: Path) -> None:  # L4
    (tmp_path / "file").write_text("")
    assert await ls(tmp_path, path="file") != ""
    assert (await ls(tmp_path, path="file")).startswith(f"Not a directory: {tmp_path}/file")
    assert (await ls(tmp_path, path="nope")).startswith(f"Path not found: {tmp_path}/nope")
    (tmp_path / "empty").mkdir()
    assert await ls(tmp_path, path="empty") == "(empty directory)"


async def test_many_entries(tmp_path: Path) -> None:  # L5
    for number in range(600):
        (tmp_path / f"{number:03d}").write_text("")
    outcome = await ReadOnlyTools.at(tmp_path).call("ls")
    assert outcome.lines == [f"{number:03d}" for number in range(500)]
    assert outcome.text.endswith("\n\n[500 entries limit reached. Use limit=1000 for more]")
    assert outcome.details == {"entryLimitReached": 500}
    assert "[" not in await ls(tmp_path, limit=600)


async def test_long_names(tmp_path: Path) -> None:  # L6
    for number in range(600):
        (tmp_path / f"{'x' * 100}{number:03d}").write_text("")
    outcome = await ReadOnlyTools.at(tmp_path).call("ls", limit=5000)
    assert len(outcome.lines) == 51200 // 104
    assert outcome.text.endswith("\n\n[50.0KB limit reached]")
    assert outcome.details["truncation"]["totalLines"] == 600
