"""What `edit` and `write` share: the journal in trouble, directories made in vain, patch paths."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path

import pytest

from sloyd.errors import SessionError
from sloyd.sessions.journal import Journal
from sloyd.tools.changing import MAX_FILE
from sloyd.tools.environment import PlannedChange
from tests.tools.file_calls import FileTools, Outcome


def applied(patch: str, directory: Path, *command: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command,
        cwd=directory,
        input=patch.encode(),
        capture_output=True,
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(directory.parent)},
        check=False,
    )


async def test_a_journal_that_cannot_be_written_keeps_nobody_from_the_files(
    tmp_path: Path,
) -> None:
    (tmp_path / "blocked").write_bytes(b"")
    tools = FileTools.at(tmp_path, Journal(tmp_path / "blocked" / "journal", max_bytes=1 << 20))
    written = await tools.write("f", "old\n")
    edited = await tools.edit("f", ("old", "new"))
    for outcome in (written, edited):
        assert outcome.ok
        assert "Note: `sloyd undo` cannot take this change back" in outcome.text
        assert "Not a directory" in outcome.text
    assert (tmp_path / "f").read_bytes() == b"new\n"


class LosesItsEnd:
    """A recorder whose disk is full when a change has been made, or given up."""

    async def begin(self, change: PlannedChange) -> str:
        return change.tool

    async def commit(self, change_id: str) -> None:
        raise SessionError(f"no space for the end of {change_id}")

    async def discard(self, change_id: str) -> None:
        raise SessionError(f"no space for the end of {change_id}")


async def test_what_was_written_is_reported_as_written(tmp_path: Path) -> None:
    tools = FileTools.at(tmp_path, LosesItsEnd())
    outcome = await tools.write("f", "x")
    assert (outcome.ok, outcome.text) == (True, "Successfully wrote to f (created, 1 bytes).")
    refused = await tools.write("y" * 300, "x")
    assert "ENAMETOOLONG" in refused.text


async def test_a_failed_write_leaves_no_directories(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    outcome = await FileTools.at(tmp_path).write("there/new/deep/" + "x" * 300, "x")
    assert not outcome.ok
    assert os.listdir(tmp_path) == ["there"]
    assert os.listdir(tmp_path / "there") == []


@pytest.mark.parametrize("spelling", ["link", "through/../real/f", "through/f"])
async def test_a_patch_names_the_real_file(tmp_path: Path, spelling: str) -> None:
    """Neither ``git apply`` nor ``patch`` follows links."""
    tools = FileTools.at(tmp_path)
    path = tools.put(b"old\n", "real/f")
    (tmp_path / "link").symlink_to("real/f")
    (tmp_path / "through").symlink_to("real")
    edited, written = await tools.edit(spelling, ("old", "new")), await tools.write(spelling, "3\n")
    for outcome, before, after in ((edited, b"old\n", b"new\n"), (written, b"new\n", b"3\n")):
        for command in (("git", "apply"), ("patch", "-p1", "-s")):
            path.write_bytes(before)
            assert outcome.details is not None
            assert applied(outcome.details["patch"], tmp_path, *command).returncode == 0
            assert path.read_bytes() == after


@pytest.mark.parametrize(
    "name", ["end ", " start", "a b", "tab\tx", 'quo"te', "back\\slash", "ü", "new\nline", "-dash"]
)
async def test_a_patch_names_odd_files_so_that_both_programs_find_them(
    tmp_path: Path, name: str
) -> None:
    tools = FileTools.at(tmp_path)
    path = tmp_path / name
    calls: list[Outcome] = [await tools.write(name, "1\n"), await tools.write(name, "2\n")]
    calls.append(await tools.edit(name, ("2", "3")))
    for number, outcome in enumerate(calls):
        for command in (("git", "apply"), ("patch", "-p1", "-s")):
            path.unlink(missing_ok=True)
            if number:
                path.write_bytes(b"%d\n" % number)
            assert outcome.details is not None
            done = applied(outcome.details["patch"], tmp_path, *command)
            assert (done.returncode, done.stderr) == (0, b"")
            assert path.read_bytes() == b"%d\n" % (number + 1)


async def test_links_that_lead_to_no_path_are_no_files(tmp_path: Path) -> None:
    """`/proc` has links to pipes and deleted files; their targets are words, not paths."""
    reader, writer = os.pipe()
    deleted = (tmp_path / "gone").open("wb")
    (tmp_path / "gone").unlink()
    tools = FileTools.at(tmp_path)
    try:
        for descriptor in (reader, deleted.fileno()):
            path = f"/proc/{os.getpid()}/fd/{descriptor}"
            for outcome in (await tools.edit(path, ("a", "b")), await tools.write(path, "x")):
                assert "ENXIO" in outcome.text
    finally:
        deleted.close()
        os.close(reader)
        os.close(writer)
    assert os.listdir(tmp_path) == []


async def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MAX_FILE + 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tools = FileTools.at(tmp_path)
    for outcome in (await tools.edit("large", ("a", "b")), await tools.write("large", "x")):
        assert "large: it is larger than 1 GiB." in outcome.text
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024
