"""Replacing files in one step: under kills, by many processes, on full disks, with few rights."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sloyd.workspace.interrupted import Interrupted, note_of, put_back
from sloyd.workspace.local import LocalWorkspace

NOBODY = 65_534
KILLS = 300 if os.environ.get("SLOYD_TEST_PROFILE") == "fuzz" else 25
ROOT = Path(__file__).parents[2]


def run(*arguments: object, given: object = None) -> str:
    """Run one of the programs beside this file."""
    name, *rest = map(str, arguments)
    done = subprocess.run(
        [sys.executable, "-m", f"tests.workspace.{name}", *rest],
        cwd=ROOT,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def restricted(*calls: tuple[str, object, str] | tuple[str, object], **limits: int) -> list[str]:
    """The outcome of calls in a process with fewer rights."""
    request = {"calls": [[method, *map(str, rest)] for method, *rest in calls], **limits}
    answers: list[str] = json.loads(run("restricted", given=request))
    return answers


@pytest.fixture
def public() -> Iterator[Path]:
    """A directory that every user may enter, with all the directories above it."""
    with tempfile.TemporaryDirectory(prefix="sloyd-public-", dir="/tmp") as name:
        directory = Path(name).resolve()
        directory.chmod(0o755)
        yield directory


def own(path: Path, mode: int) -> None:
    """Give a file to the user that the restricted process becomes."""
    path.chmod(mode)
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)


@pytest.mark.kills
@pytest.mark.parametrize("kind", ["plain", "new", "links"])
def test_a_kill_leaves_the_old_or_the_new_content(tmp_path: Path, kind: str) -> None:
    assert run("killing", kind, tmp_path, KILLS, 1) == ""


def test_ten_processes_lose_no_edit(tmp_path: Path) -> None:
    assert run("counting", tmp_path / "f", 10, 20) == "200"
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.parametrize("links", [1, 2])
async def test_a_size_limit_leaves_the_old_content_and_no_litter(
    tmp_path: Path, links: int
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"the old content\n")
    if links == 2:
        (tmp_path / "twin").hardlink_to(path)
    names = sorted(os.listdir(tmp_path))
    answers = restricted(
        ("replace", path, "x" * 5000), ("replace", tmp_path / "new", "x" * 5000), file_size=4096
    )
    assert answers == ["too-large", "too-large"]
    assert path.read_bytes() == b"the old content\n"
    assert sorted(os.listdir(tmp_path)) == names


def test_a_write_protected_file_of_ones_own_is_refused(public: Path) -> None:
    path = public / "readonly.txt"
    path.write_bytes(b"k=old\n")
    own(path, 0o444)
    own(public, 0o755)
    assert restricted(("replace", path, "k=new"), user=NOBODY) == ["read-only"]
    assert path.read_bytes() == b"k=old\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o444
    assert os.listdir(public) == ["readonly.txt"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs files of another user")
class TestFilesOfOthers:
    def test_what_may_not_be_written_is_refused(self, public: Path) -> None:
        path = public / "f"
        path.write_bytes(b"old")
        path.chmod(0o644)
        public.chmod(0o777)
        assert restricted(("replace", path, "new"), user=NOBODY) == ["permission"]
        assert path.read_bytes() == b"old"

    @pytest.mark.parametrize("directory_mode", [0o755, 0o777, 0o1777])
    def test_what_may_be_written_keeps_its_owner(self, public: Path, directory_mode: int) -> None:
        path = public / "f"
        path.write_bytes(b"the old content")
        path.chmod(0o666)
        public.chmod(directory_mode)
        answers = restricted(("replace", path, "new"), ("read_file", path), user=NOBODY)
        assert answers == ["ok", "ok"]
        found = path.stat()
        assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (0, 0, 0o666)
        assert path.read_bytes() == b"new"
        assert os.listdir(public) == ["f"]

    def test_a_closed_directory_gets_no_new_file(self, public: Path) -> None:
        closed = public / "closed"
        closed.mkdir(mode=0o700)
        secret = public / "secret"
        secret.write_bytes(b"x")
        secret.chmod(0o600)
        answers = restricted(
            ("replace", public / "new", "x"),
            ("replace", closed / "new", "x"),
            ("read_file", secret),
            ("list", closed),
            ("make_dirs", public / "a" / "b"),
            ("remove", secret),
            user=NOBODY,
        )
        assert answers == ["permission"] * 6
        assert sorted(os.listdir(public)) == ["closed", "secret"]
        assert os.listdir(closed) == []

    async def test_owner_and_group_are_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "f"
        path.write_bytes(b"old")
        os.chown(path, 1234, 2345)
        path.chmod(0o4750)
        await LocalWorkspace().replace(str(path), b"new")
        found = path.stat()
        assert (found.st_uid, found.st_gid) == (1234, 2345)
        assert stat.S_IMODE(found.st_mode) == 0o4750


async def test_extended_attributes_and_access_lists_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    wanted = _with_attributes(path)
    await LocalWorkspace().replace(str(path), b"new")
    assert {name: os.getxattr(path, name) for name in os.listxattr(path)} == wanted
    assert path.read_bytes() == b"new"


def _with_attributes(path: Path) -> dict[str, bytes]:
    """Set what this file system takes, and tell what is there then."""
    # Version 2; user:rw, user 1234:r, group:r, mask:r, other:none, as setfacl would write it.
    entries = [(1, 6, 2**32 - 1), (2, 4, 1234), (4, 4, 2**32 - 1), (16, 4, 2**32 - 1)]
    entries.append((32, 0, 2**32 - 1))
    access = (2).to_bytes(4, "little") + b"".join(
        tag.to_bytes(2, "little") + bits.to_bytes(2, "little") + who.to_bytes(4, "little")
        for tag, bits, who in entries
    )
    for name, value in (("user.sloyd", b"kept"), ("system.posix_acl_access", access)):
        try:
            os.setxattr(path, name, value)
        except OSError:
            continue
    return {name: os.getxattr(path, name) for name in os.listxattr(path)}


async def test_a_new_file_gets_its_mode_from_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        await LocalWorkspace().replace(str(tmp_path / "f"), b"x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o640


@contextmanager
def watched(path: Path) -> Iterator[list[bytes]]:
    """Another process reads the file again and again; the list gets what it found to be torn."""
    found: list[bytes] = []
    with subprocess.Popen(
        [sys.executable, "-c", _READER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == b"ready\n"
        yield found
        found.append(reader.communicate(b"")[0])


async def test_a_reader_sees_whole_contents_only(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"a" * 1000)
    workspace = LocalWorkspace()
    with watched(path) as found:
        for number in range(60):
            await workspace.replace(str(path), [b"ab"[number % 2 :][:1] * 500] * 400)
    assert found == [b"[]\n"]


_READER = """
import sys, threading
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set())).start()
print("ready", flush=True)
torn = []
while not over.is_set():
    data = open(sys.argv[1], "rb").read()
    if len(data) not in (1000, 200_000) or len(set(data)) != 1:
        torn.append(len(data))
print(torn)
"""


async def test_a_name_as_long_as_names_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    workspace = LocalWorkspace()
    assert (await workspace.replace(str(path), b"one")).created
    assert not (await workspace.replace(str(path), b"two")).created
    assert path.read_bytes() == b"two"
    assert len(os.listdir(tmp_path)) == 1


async def test_nothing_of_ours_stays_beside_the_files(tmp_path: Path) -> None:
    workspace = LocalWorkspace()
    for name in ("a", "b", "a"):
        await workspace.replace(str(tmp_path / name), b"x")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (b"NEW CONTENT", b"NEW CONTENT"),
        (b"NEW content", b"old content"),
        (b"old content", b"old content"),
        (b"somebody else's", b"somebody else's"),
    ],
)
def test_a_torn_write_in_place_is_put_back(tmp_path: Path, now: bytes, then: bytes) -> None:
    """Only what is torn is put back; what is whole, or not ours, is left alone."""
    path, backup = tmp_path / "f", tmp_path / "backup"
    path.write_bytes(now)
    backup.write_bytes(b"old content" + b"NEW CONTENT")
    found = path.stat()
    put_back(
        note_of(
            Interrupted(
                path=str(path),
                backup=str(backup),
                device=found.st_dev,
                inode=found.st_ino,
                old_size=11,
                new_size=11,
            )
        )
    )
    assert path.read_bytes() == then
    assert not backup.exists()


@pytest.fixture(scope="module", autouse=True)
def private_directories_of_other_users() -> Iterator[None]:
    """The locks of the user that the restricted processes become are not left behind."""
    yield
    if os.geteuid() == 0:
        shutil.rmtree(f"/tmp/sloyd-{NOBODY}", ignore_errors=True)
