"""Diffs: people's rows as pi writes them, patches that the real programs apply."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.text.changes import line_changes
from sloyd.text.diff import MAX_DIFF, numbered_diff
from sloyd.text.patch import MAX_PATCH, binary_patch, unified_patch
from sloyd.text.splice import Replacement, splice

HAS_PATCH = shutil.which("patch") is not None


def lines(count: int) -> bytes:
    return "".join(f"l{number}\n" for number in range(1, count + 1)).encode()


def replacements(data: bytes, *pairs: tuple[bytes, bytes]) -> list[Replacement]:
    found = [Replacement(data.index(old), data.index(old) + len(old), new) for old, new in pairs]
    return sorted(found, key=lambda each: each.start)


def rows(data: bytes, *pairs: tuple[bytes, bytes]) -> str:
    return numbered_diff(data, line_changes(data, replacements(data, *pairs)))


@pytest.mark.parametrize(
    ("data", "pairs", "diff"),
    [
        (b"a\nb\nc\n", [(b"b", b"B")], " 1 a\n-2 b\n+2 B\n 3 c"),
        (b"a\n", [(b"a\n", b"")], "-1 a"),
        (b"a\nb", [(b"b", b"b\n")], " 1 a\n-2 b\n+2 b"),
        (b"a\nb\n", [(b"a\n", b"z\na\n")], "+1 z\n 1 a\n 2 b"),
        (b"a\n\nb\n", [(b"a\n\nb", b"a\n\n\nb")], " 1 a\n 2 \n+3 \n 3 b"),
        (
            b"a\nb\nc\nd\n",
            [(b"a\nb\nc\nd", b"A\nb\nc\nD")],
            "-1 a\n+1 A\n 2 b\n 3 c\n-4 d\n+4 D",
        ),
        # Nine lines and a final LF make numbers two wide, as pi counts the empty piece behind it.
        (lines(9), [(b"l9", b"X")], "    ...\n  5 l5\n  6 l6\n  7 l7\n  8 l8\n- 9 l9\n+ 9 X"),
        (b"x\r\ny\r\n", [(b"y", b"z")], " 1 x\n-2 y\n+2 z"),
        (b"caf\xe9\n", [(b"caf", b"CAF")], "-1 caf⟨E9⟩\n+1 CAF⟨E9⟩"),
    ],
)
def test_rows(data: bytes, pairs: list[tuple[bytes, bytes]], diff: str) -> None:
    assert rows(data, *pairs) == diff


def test_rows_of_three_changes_with_gaps() -> None:
    """Case E47: context rows bear old numbers, added rows new ones."""
    diff = rows(lines(120), (b"l10\n", b"L10\nnew\n"), (b"l58", b"L58"), (b"l100\n", b""))
    assert diff.split("\n") == [
        "     ...",
        *(f"   {number} l{number}" for number in range(6, 10)),
        "- 10 l10",
        "+ 10 L10",
        "+ 11 new",
        *(f"  {number} l{number}" for number in range(11, 15)),
        "     ...",
        *(f"  {number} l{number}" for number in range(54, 58)),
        "- 58 l58",
        "+ 59 L58",
        *(f"  {number} l{number}" for number in range(59, 63)),
        "     ...",
        *(f"  {number} l{number}" for number in range(96, 100)),
        "-100 l100",
        *(f" {number} l{number}" for number in range(101, 105)),
        "     ...",
    ]


def test_changes_eight_lines_apart_share_their_context() -> None:
    near = rows(lines(30), (b"l5\n", b"X\n"), (b"l14\n", b"Y\n"))
    far = rows(lines(30), (b"l5\n", b"X\n"), (b"l15\n", b"Y\n"))
    assert near.count("...") == 1
    assert far.count("...") == 2


def test_a_line_of_megabytes_shows_where_it_changed() -> None:
    data = b"x" * 3_000_000 + b"needle" + b"y" * 2_000_000
    diff = rows(data, (b"needle", b"NEEDLE"))
    assert len(diff) < 6000
    assert "needle" in diff
    assert "NEEDLE" in diff


def test_a_huge_diff_says_that_it_goes_on() -> None:
    data = lines(60_000)
    diff = rows(data, (data, data.replace(b"l", b"m")))
    assert len(diff) <= MAX_DIFF + 100
    assert diff.endswith("(the diff goes on)")


def test_a_patch_beyond_its_limit_is_not_made() -> None:
    data = b"x" * MAX_PATCH
    assert unified_patch(data, line_changes(data, [Replacement(0, 1, b"y")]), "f") is None


def applied(directory: Path, data: bytes, patch: str, *command: str, name: str = "f") -> bytes:
    target = directory / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    done = subprocess.run(
        command, cwd=directory, input=patch.encode(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode() + patch
    return target.read_bytes() if target.exists() else b""


PIECES = st.lists(
    st.sampled_from(
        [b"\n", b"\n", b"\r\n", b"\r", b"a", b"b\n", b"a\n", b"\xc3\xa9", b"\xe9", b" "]
    ),
    max_size=30,
).map(b"".join)


@given(PIECES, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6), PIECES), max_size=4))
def test_programs_apply_the_patch(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, wanted: list[tuple[int, int, bytes]]
) -> None:
    edits: list[Replacement] = []
    for start, width, new in sorted(wanted):
        start = max(min(start, len(data)), edits[-1].end if edits else 0)
        edits.append(Replacement(start, min(start + width, len(data)), new))
    expected = b"".join(splice(data, edits))
    if expected == data:
        return
    directory = tmp_path_factory.mktemp("patch")
    patch = unified_patch(data, line_changes(data, edits), "f")
    if patch is None:
        with pytest.raises(UnicodeDecodeError):
            (data + expected).decode()
        patch = binary_patch(data, edits, "f")
        assert patch is not None
    elif HAS_PATCH:
        assert applied(directory, data, patch, "patch", "--binary", "-s", "-p1") == expected
    assert applied(directory, data, patch, "git", "apply", "--whitespace=nowarn") == expected
    if patch.startswith("diff --git"):
        assert applied(directory, expected, patch, "git", "apply", "-R") == data


@pytest.mark.parametrize(
    "name", ["a b.txt", "sub/dir/x", "é.txt", 'q"uote', "back\\slash", "tab\tx"]
)
def test_names_that_need_care(tmp_path: Path, name: str) -> None:
    data, edits = b"old\n", [Replacement(0, 3, b"new")]
    patch = unified_patch(data, line_changes(data, edits), name)
    assert patch is not None
    assert applied(tmp_path, data, patch, "git", "apply", name=name) == b"new\n"
    binary = binary_patch(data, edits, name)
    assert binary is not None
    assert applied(tmp_path, data, binary, "git", "apply", name=name) == b"new\n"


def test_a_created_file_comes_from_nowhere(tmp_path: Path) -> None:
    changes = line_changes(b"", [Replacement(0, 0, b"a\nb")])
    patch = unified_patch(b"", changes, "new/file", created=True)
    assert patch is not None
    done = subprocess.run(
        ["git", "apply"], cwd=tmp_path, input=patch.encode(), capture_output=True, check=False
    )
    assert done.stderr == b""
    assert (tmp_path / "new/file").read_bytes() == b"a\nb"


def test_changed_lines_are_computed_from_the_spans_alone() -> None:
    """Fifty megabytes around one change are never compared line by line."""
    data = b"line of text\n" * 4_000_000
    middle = len(data) // 2 // 13 * 13
    changes = line_changes(data, [Replacement(middle, middle + 4, b"LINE")])
    assert [(change.old, change.new) for change in changes] == [
        ((b"line of text\n",), (b"LINE of text\n",))
    ]
    assert changes[0].old_line == middle // 13 + 1


def test_replacements_must_be_in_order() -> None:
    with pytest.raises(ValueError, match="in order"):
        splice(b"abc", [Replacement(2, 3, b""), Replacement(0, 1, b"")])


def test_changes_without_a_line_between_them_are_one() -> None:
    data = b"a\nb\nc\n"
    changes = line_changes(data, [Replacement(0, 1, b"A"), Replacement(2, 3, b"B\nB2")])
    assert numbered_diff(data, changes) == "-1 a\n-2 b\n+1 A\n+2 B\n+3 B2\n 3 c"
