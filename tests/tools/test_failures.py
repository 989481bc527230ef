"""What the model reads when a file operation failed: the path, the reason, the next useful call."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sloyd.errors import FileProblem, WorkspaceError
from sloyd.tools.failures import file_failure
from sloyd.workspace.base import Workspace
from sloyd.workspace.local import LocalWorkspace
from sloyd.workspace.memory import MemoryWorkspace
from sloyd.workspace.paths import resolve


async def text_of(workspace: Workspace, action: str, argument: str) -> str:
    """What the model reads when the action on this path argument fails."""
    shown = argument
    try:
        resolved = await resolve(workspace, argument)
        shown = resolved.shown
        if action in ("list", "search"):
            await workspace.list(resolved.path)
        elif action == "read":
            await workspace.read_file(resolved.path)
        else:
            await workspace.replace(resolved.path, b"x")
    except WorkspaceError as error:
        return (await file_failure(workspace, action, shown, error)).for_model
    raise AssertionError("it did not fail")


@pytest.fixture
def workspace() -> MemoryWorkspace:
    workspace = MemoryWorkspace("/code")
    workspace.add_file("/code/src/main.py")
    workspace.add_file("/code/notes.txt")
    return workspace


async def test_a_missing_file_names_what_is_near(workspace: Workspace) -> None:
    assert await text_of(workspace, "read", "src/mian.py") == (
        "Could not read file: src/mian.py. Error code: ENOENT.\n"
        "There is no /code/src/mian.py. Near names: src/main.py. See what is there with `ls src`."
    )


async def test_a_missing_directory_is_named(workspace: Workspace) -> None:
    workspace = MemoryWorkspace("/code")
    assert await text_of(workspace, "edit", "nope/x.txt") == (
        "Could not edit file: nope/x.txt. Error code: ENOENT.\n"
        "There is no /code/nope/x.txt. The directory nope does not exist. "
        "See what is there with `ls .`, or create the file with write."
    )


async def test_searches_keep_the_first_sentences_of_pi(workspace: Workspace) -> None:
    missing = await text_of(workspace, "list", "nowhere")
    assert missing.splitlines()[0] == "Path not found: /code/nowhere"
    not_directory = await text_of(workspace, "list", "notes.txt")
    assert not_directory.splitlines()[0] == "Not a directory: /code/notes.txt"
    assert "regular file" in not_directory


async def test_a_directory_where_a_file_was_meant(workspace: Workspace) -> None:
    for action in ("read", "edit", "write to"):
        text = await text_of(workspace, action, "src")
        assert "src. Error code: EISDIR." in text
        assert "is a directory" in text
        assert "`ls`" in text
    assert "ends in a slash" in await text_of(workspace, "write to", "newdir/")


async def test_a_file_in_the_place_of_a_directory(workspace: Workspace) -> None:
    text = await text_of(workspace, "write to", "notes.txt/deep/file")
    assert "/code/notes.txt is a regular file, not a directory." in text


async def test_special_files_point_to_bash() -> None:
    workspace = MemoryWorkspace("/code")
    workspace.add_special("/code/fifo", "fifo")
    workspace.add_special("/code/sock", "socket")
    assert "FIFO" in await text_of(workspace, "read", "fifo")
    assert "bash with a timeout" in await text_of(workspace, "read", "sock")


async def test_links_in_a_circle() -> None:
    workspace = MemoryWorkspace("/code")
    workspace.add_symlink("/code/a", "b")
    workspace.add_symlink("/code/b", "a")
    assert "circle" in await text_of(workspace, "write to", "a")


async def test_a_write_protected_file_shows_its_mode() -> None:
    workspace = MemoryWorkspace("/code")
    workspace.add_file("/code/f", mode=0o444)
    text = await text_of(workspace, "edit", "f")
    assert "mode 0444" in text
    assert "Ask the user" in text


async def test_a_dangling_link_is_no_near_name_of_itself(workspace: MemoryWorkspace) -> None:
    workspace.add_symlink("/code/link", "gone/x")
    for action in ("read", "search"):
        text = await text_of(workspace, action, "link")
        assert "/code/link is a symbolic link to gone/x, which does not exist." in text
        assert "Near names" not in text


async def test_a_closed_directory_is_named_for_a_new_file(workspace: Workspace) -> None:
    refused = WorkspaceError("denied", path="/code/src/new.py", reason="permission")
    new = (await file_failure(workspace, "write to", "src/new.py", refused)).for_model
    assert "nothing can be created in /code/src." in new
    refused = WorkspaceError("denied", path="/code/notes.txt", reason="permission")
    old = (await file_failure(workspace, "write to", "notes.txt", refused)).for_model
    assert "Permission denied for /code/notes.txt." in old


async def test_names_as_long_as_a_page_are_shortened(workspace: Workspace) -> None:
    text = await text_of(workspace, "read", "n" * 5000)
    assert "5000" in text
    assert len(text) < 1000


async def test_the_working_directory_reads_like_a_name(workspace: Workspace) -> None:
    assert 'Could not read file: ".". Error code: EISDIR.' in await text_of(workspace, "read", ".")


async def test_names_that_cannot_be(workspace: Workspace) -> None:
    assert "NUL" in await text_of(workspace, "read", "a\0b")
    assert "300" in await text_of(workspace, "read", "n" * 300)
    assert "File URL host" in await text_of(workspace, "read", "file://elsewhere/x")
    assert "\0" not in await text_of(workspace, "write to", "a\0b")


async def test_odd_names_are_quoted(workspace: Workspace) -> None:
    text = await text_of(workspace, "read", "new\nline.txt")
    assert '"new\\nline.txt"' in text
    assert text.count("\n") == 1


async def test_a_real_machine(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    workspace = LocalWorkspace(str(tmp_path))
    assert "FIFO" in await text_of(workspace, "edit", "fifo")
    assert "ENOENT" in await text_of(workspace, "read", "nothing")
    assert "device" in await text_of(workspace, "read", "/dev/zero")


@pytest.mark.parametrize(
    "reason",
    [
        "missing",
        "exists",
        "is-directory",
        "not-directory",
        "not-regular",
        "permission",
        "read-only",
        "link-cycle",
        "name-too-long",
        "invalid-path",
        "no-space",
        "too-large",
        "changed",
        "busy",
        "unsupported",
        "io",
    ],
)
@pytest.mark.parametrize("action", ["read", "edit", "write to", "list", "search"])
async def test_every_reason_is_two_clear_lines(
    workspace: Workspace, action: str, reason: FileProblem
) -> None:
    error = WorkspaceError("the disk is on fire: '/code/f'", path="/code/f", reason=reason)
    text = (await file_failure(workspace, action, "./f", error)).for_model
    first, second = text.split("\n")
    assert "./f" in first or "/code/f" in first
    assert len(second) > 20
    assert second.endswith(".")
    assert "{" not in text
