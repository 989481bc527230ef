"""The window of lines: for any chunking, what slicing the whole would give; pages join."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sloyd.tools.line_window import LineWindow
from tests.tools.read_only_calls import ReadOnlyTools

TEXTS = st.lists(
    st.sampled_from([b"\n", b"a", b"\r\n", b"long line " * 50, "é".encode(), b"\n" * 70]),
    max_size=40,
).map(b"".join)


KINDS = {
    "empty": b"",
    "short": b"a",
    "some": b"b" * 3000,
    "much": "ä".encode() * 9000,
    "byte": b"\xe9",
    "too long": b"c" * 60_000,
}


def lines_of(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


@given(
    data=TEXTS,
    cuts=st.lists(st.integers(0, 3000), max_size=5),
    first=st.integers(1, 80),
    most_lines=st.integers(1, 90),
    most_bytes=st.integers(1, 5000),
)
def test_a_window_is_a_slice(
    data: bytes, cuts: list[int], first: int, most_lines: int, most_bytes: int
) -> None:
    window = LineWindow(first, most_lines, most_bytes)
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    for start, end in pairwise(edges):
        window.feed(data[start:end])
    lines = lines_of(data)
    wanted = data.split(b"\n")[first - 1 : first - 1 + most_lines]
    expected = b"\n".join(wanted)
    if first - 1 + most_lines < len(data.split(b"\n")):
        expected += b"\n"
    assert window.total_lines == len(lines)
    assert window.size == len(data)
    assert bytes(window.content) == expected[:most_bytes]
    assert window.first_length == (len(wanted[0]) if wanted else 0)


@given(
    data=TEXTS,
    cut=st.integers(1, 3000),
    line=st.integers(1, 30),
    column=st.integers(1, 600),
    most_bytes=st.integers(1, 400),
)
def test_a_part_of_a_line_is_a_slice(
    data: bytes, cut: int, line: int, column: int, most_bytes: int
) -> None:
    window = LineWindow(line, 1, most_bytes, column)
    for start in range(0, len(data), cut):
        window.feed(data[start : start + cut])
    lines = data.split(b"\n")
    wanted = lines[line - 1] if line <= len(lines) else b""
    assert bytes(window.content) == wanted[column - 1 : column - 1 + most_bytes]
    assert window.first_length == len(wanted)


@given(
    kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=30),
    limit=st.none() | st.integers(1, 7),
    ends=st.booleans(),
)
async def test_pages_join_without_a_gap(
    tmp_path: Path, kinds: list[str], limit: int | None, ends: bool
) -> None:
    lines = [KINDS[kind] for kind in kinds]
    data = b"\n".join(lines) + (b"\n" if ends else b"")
    (tmp_path / "f").write_bytes(data)
    tools = ReadOnlyTools.at(tmp_path)
    expected = [line.decode("utf-8", "surrogateescape") for line in lines_of(data)]
    if not data:
        assert (await tools.call("read", path="f")).text == "(empty file)"
        return
    shown: list[str] = []
    arguments: dict[str, int] = {} if limit is None else {"limit": limit}
    position = {"offset": 1}
    while True:
        text = (await tools.call("read", None, path="f", **arguments, **position)).text
        body, _, notice = text.rpartition("\n\n[")
        following = re.search(r"Use offset=(\d+)(?:, column=(\d+))?", notice)
        if text.startswith("[Line "):  # too long: read it in parts
            following = re.search(r"Use offset=(\d+)(?:, column=(\d+))?", text)
            body = ""
            shown.append("")
        elif "column" in position:
            shown[-1] += body
        else:
            shown += (body if following else text.removesuffix("\n")).split("\n")
        if following is None:
            break
        position = {"offset": int(following[1])}
        if following[2]:
            position["column"] = int(following[2])
    assert [line.replace("⟨E9⟩", "\udce9") for line in shown] == expected
