"""Byte identity: outside the spans nothing changes, in any encoding; or nothing changes at all."""

from __future__ import annotations

import re
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.errors import ToolError
from sloyd.text.encoding import is_utf8, looks_like_bare_utf16
from sloyd.text.splice import splice
from sloyd.tools.edit_plan import EditPlan, TextEdit, plan_edits
from tests.tools.file_calls import FileTools

UNITS = [
    b"\n",
    b"\r\n",
    b"\r",
    b"a",
    b"b",
    b"ab",
    b" ",
    b"\t",
    b"'",
    b"\xc3\xa9",
    b"\xe9",
    b"\x95\x5c",
]
UNITS += ["“".encode(), "—".encode(), "😀".encode(), b"\0", b"\xef\xbb\xbf"]
FILES = st.lists(st.sampled_from(UNITS), max_size=24).map(b"".join)
TEXTS = st.text(st.sampled_from("ab '\"-\n\n\t\ré😀\udce9"), max_size=6)


def folded(data: bytes) -> tuple[bytes, list[int]]:
    """The LF form and where each of its bytes begins in the data: the oracle's own walk."""
    cr_only = b"\r" in data and b"\n" not in data
    text, starts, position = bytearray(), [], 0
    while position < len(data):
        starts.append(position)
        width = 2 if data[position : position + 2] == b"\r\n" else 1
        piece = data[position : position + width]
        text += b"\n" if width == 2 or (cr_only and piece == b"\r") else piece
        position += width
    return bytes(text), [*starts, len(data)]


def plan_or_refusal(data: bytes, edits: list[TextEdit]) -> EditPlan | ToolError:
    try:
        return plan_edits(data, edits, "f")
    except ToolError as refusal:
        return refusal


@given(FILES, st.integers(0, 24), st.integers(1, 6), TEXTS)
def test_exact_edits_against_an_oracle(data: bytes, start: int, width: int, new: str) -> None:
    if data.startswith(b"\xef\xbb\xbf") or looks_like_bare_utf16(data):
        return
    text, starts = folded(data)
    needle = text[start : start + width]
    if not needle:
        return
    places = [found.start() for found in re.finditer(b"(?=" + re.escape(needle) + b")", text)]
    span = data[starts[places[0]] : starts[places[0] + len(needle)]]
    edits = [TextEdit(needle.decode("utf-8", "surrogateescape"), new)]
    plan = plan_or_refusal(data, edits)
    if isinstance(plan, ToolError):
        if is_utf8(data) and is_utf8(needle) and "\udce9" not in new:
            identical = folded(span)[0] == folded(new.encode())[0]
            assert len(places) > 1 or identical, plan.for_model
        return
    result = b"".join(splice(data, plan.in_file))
    if len(places) == 1:
        begin, end = starts[places[0]], starts[places[0] + len(needle)]
        assert result.startswith(data[:begin])
        assert result.endswith(data[end:])
        middle = result[begin : len(result) - (len(data) - end)]
        wanted = new.encode("utf-8", "surrogateescape")
        assert folded(middle)[0] == folded(wanted)[0] or b"\r" in data + wanted
    else:
        # The bytes of an undecodable character may stand inside a valid one, which is no place.
        assert not is_utf8(needle)


@given(FILES, st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3))
def test_any_edit_keeps_what_it_does_not_name(data: bytes, pairs: list[tuple[str, str]]) -> None:
    try:
        plan = plan_edits(data, [TextEdit(old, new) for old, new in pairs], "f")
    except ToolError:
        return
    result = b"".join(splice(data, plan.in_file))
    assert result != data
    kept: list[bytes] = []
    position = 0
    for each in plan.in_file:
        kept.append(data[position : each.start])
        position = each.end
    kept.append(data[position:])
    rest = result
    for part, new in zip(kept, [*(each.new for each in plan.in_file), b""], strict=True):
        assert rest.startswith(part)
        rest = rest[len(part) + len(new) :]
    assert rest == b""
    if plan.encoding.name == "utf-8":
        result.decode()


@given(
    st.text(st.sampled_from("ab\n\r'“é😀"), max_size=20),
    TEXTS,
    TEXTS,
    st.sampled_from(["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]),
)
def test_wide_encodings_give_what_utf8_gives(text: str, old: str, new: str, codec: str) -> None:
    mark = "\ufeff".encode(codec)
    edits = [TextEdit(old, new)]
    try:
        plain = b"".join(splice(text.encode(), plan_edits(text.encode(), edits, "f").in_file))
    except ToolError as refusal:
        with pytest.raises(ToolError, match=re.escape(refusal.for_model[:40])):
            plan_edits(mark + text.encode(codec), edits, "f")
        return
    data = mark + text.encode(codec)
    wide = b"".join(splice(data, plan_edits(data, edits, "f").in_file))
    assert wide == mark + plain.decode().encode(codec)


CUTS = st.tuples(st.integers(0, 24), st.integers(1, 8), TEXTS)


@given(FILES, st.lists(CUTS, min_size=1, max_size=2))
async def test_the_patch_in_the_details_makes_the_new_file(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cuts: list[tuple[int, int, str]]
) -> None:
    text = data.decode("utf-8", "surrogateescape")
    pairs = [(text[start : start + width], new) for start, width, new in cuts]
    directory: Path = tmp_path_factory.mktemp("edit")
    tools = FileTools.at(directory)
    path = tools.put(data, "sub/f.txt")
    outcome = await tools.edit("sub/f.txt", *pairs)
    after = path.read_bytes()
    if not outcome.ok:
        assert after == data
        return
    assert outcome.details is not None
    path.write_bytes(data)
    patch = outcome.details["patch"].encode()
    command = ["git", "apply", "--whitespace=nowarn"]
    await anyio.run_process(command, input=patch, cwd=directory)
    assert path.read_bytes() == after


LATIN1 = "# réglages\nnom = café\n".encode("latin-1")
SHIFT_JIS = "title=表示\r\npath=C:\\x\r\nport=80\r\n".encode("shift_jis")


@pytest.mark.parametrize(
    ("data", "pair", "after"),
    [
        (LATIN1, ("nom = caf⟨E9⟩", "nom = th⟨E9⟩"), LATIN1.replace(b"caf", b"th")),
        (LATIN1, ("nom", "name"), LATIN1.replace(b"nom", b"name")),
        (LATIN1, ("nom = ", "nom = ⟨E0⟩ "), LATIN1.replace(b"nom = ", b"nom = \xe0 ")),
        (SHIFT_JIS, ("port=80", "port=81"), SHIFT_JIS.replace(b"80", b"81")),
        (SHIFT_JIS, ("C:\\x", "C:\\y"), SHIFT_JIS.replace(b"\\x", b"\\y")),
        ("作=1\n".encode("gbk"), ("=1", "=2"), "作=2\n".encode("gbk")),
        # Valid UTF-8 in a file with a stray byte stays what it is.
        ("é = 1\n".encode() + b"\xff\n", ("é = 1", "é = 2"), "é = 2\n".encode() + b"\xff\n"),
        # Literal text that looks like a marker comes first.
        ("⟨E9⟩ = 1\n".encode(), ("⟨E9⟩ = 1", "⟨E9⟩ = 2"), "⟨E9⟩ = 2\n".encode()),
        ("⟨E9⟩ = 1\n".encode(), ("⟨⟨E9⟩ = 1", "⟨⟨E9⟩ = 2"), "⟨E9⟩ = 2\n".encode()),
    ],
)
def test_bytes_of_unknown_encodings(data: bytes, pair: tuple[str, str], after: bytes) -> None:
    plan = plan_edits(data, [TextEdit(*pair)], "f")
    assert b"".join(splice(data, plan.in_file)) == after


@pytest.mark.parametrize(
    ("data", "pair", "words"),
    [
        (LATIN1, ("nom", "prénom"), "'é' (U+00E9) cannot be added"),
        (SHIFT_JIS, ("port=80", "port=80 表"), "cannot be added"),
        # The backslash is the second byte of 表.
        ("a=表\n".encode("shift_jis"), ("\\", "/"), "second half of a character"),
        ("作a\n".encode("gbk").replace(b"\xd7\xf7a", b"\x81\x61"), ("a", "b"), "second half"),
        (LATIN1, ("nom = café", "nom = thé"), "not UTF-8"),
        ("key = 1\n".encode("utf-16-le"), ("k", "kk"), "UTF-16 without a byte order mark"),
        ("\ufeffkey = 1\n".encode("utf-16-le")[:-1], ("key", "kk"), "is damaged"),
        ("\ufeffkey\ud800 = 1\n".encode("utf-16-be", "surrogatepass"), ("key", "k"), "is damaged"),
    ],
)
def test_what_might_damage_an_unknown_encoding_is_refused(
    data: bytes, pair: tuple[str, str], words: str
) -> None:
    with pytest.raises(ToolError) as refusal:
        plan_edits(data, [TextEdit(*pair)], "f")
    assert words in refusal.value.for_model
