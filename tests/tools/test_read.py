"""`read`: the handed cases, and the table of pi's behaviour with the better rows in their place."""

from __future__ import annotations

import json
import os
import random
import resource
import socket
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from sloyd.workspace.memory import MemoryWorkspace
from tests.tools.file_calls import CASES, load_cases
from tests.tools.read_only_calls import ReadOnlyTools

SENDABLE = {"image/png", "image/jpeg", "image/gif", "image/webp"}
FILE_CASES = [case for case in load_cases("read_cases.json") if not case["file"].startswith("(")]


async def read(directory: Path, data: bytes, **arguments: Any) -> str:
    (directory / "f").write_bytes(data)
    return (await ReadOnlyTools.at(directory).call("read", path="f", **arguments)).text


@pytest.mark.parametrize("case", FILE_CASES, ids=lambda case: Path(case["file"]).name)
async def test_handed_cases(case: dict[str, Any]) -> None:
    outcome = await ReadOnlyTools.at(CASES).call(
        "read", None, **{"path": case["file"], **case["args"]}
    )
    assert "\0" not in outcome.text
    assert "Traceback" not in outcome.text
    if outcome.image is not None:
        assert outcome.image.mime_type in SENDABLE
        assert max(outcome.decoded().size) <= 2000
        assert min(outcome.decoded().size) >= 1
    expected = WHAT_THE_DEMANDS_MEAN.get(Path(case["file"]).name)
    if expected is not None:
        has_image, words = expected
        assert (outcome.image is not None) is has_image
        assert words in outcome.text


# Whether there is an image, and what the text must say.
WHAT_THE_DEMANDS_MEAN: dict[str, tuple[bool, str]] = {
    "two_lines_offset3.txt": (False, "Offset 3 is beyond end of file (2 lines total)"),
    "no_final_newline.txt": (False, "\n"),
    "utf16be_bom.txt": (False, "\n"),
    "stray_byte.md": (False, "⟨"),
    "sjis.txt": (False, "⟨"),
    "nul_late.txt": (False, "⟨00⟩"),
    "elf_like": (False, "Binary file (ELF executable or library), 664B, not shown as text"),
    "html_named.jpg": (False, "<h1>please log in</h1>"),
    "zero_bytes.png": (False, "(empty file)"),
    "png_named.jpg": (True, "[image/png]"),
    "jpeg_named.png": (True, "[image/jpeg]"),
    "truncated.jpg": (False, "damaged or incomplete"),
    "truncated.png": (False, "damaged or incomplete"),
    "trailing_garbage.png": (True, "[image/png]"),
    "cmyk.jpg": (True, "Read image file"),
    "gray.jpg": (True, "[image/jpeg]"),
    "palette.png": (True, "[image/png]"),
    "transparent.png": (True, "[image/png]"),
    "one_pixel.png": (True, "[image/png]"),
    "exif6_3000x30.jpg": (True, "original 30x3000, displayed at 20x2000"),
    "anim.gif": (True, "several frames"),
    "img.tiff": (True, "[Image converted from image/tiff to image/"),
    "img.ico": (True, "[Image converted from image/x-icon to image/"),
    "img.avif": (True, "[Image converted from image/avif to image/"),
    "img.jp2": (True, "[Image converted from image/jp2 to image/"),
    "wide_9000x20.png": (True, "original 9000x20, displayed at 2000x4"),
    "thin_2001x1.png": (True, "original 2001x1, displayed at 2000x1"),
}


@pytest.mark.parametrize("name", ["utf16be_bom.txt", "utf32le_bom.txt"])
async def test_wide_encodings_are_decoded_without_their_mark(name: str) -> None:
    data = (CASES / "files" / "read" / name).read_bytes()
    outcome = await ReadOnlyTools.at(CASES).call("read", path=f"files/read/{name}")
    assert outcome.text == data.decode("utf-32" if "32" in name else "utf-16")


@pytest.mark.parametrize("name", [f"cjk_cut_{size}.txt" for size in (512, 1024, 4096, 8192)])
async def test_a_character_across_the_sniffed_part_is_text(name: str) -> None:
    data = (CASES / "files" / "read" / name).read_bytes()
    outcome = await ReadOnlyTools.at(CASES).call("read", path=f"files/read/{name}")
    assert outcome.text == data.decode()


ABC = b"a\nb\nc\n"
LINES_5000 = b"".join(b"line %d\n" % number for number in range(1, 5001))
TABLE: dict[str, tuple[bytes, dict[str, object], str]] = {
    "R1": (b"", {}, "(empty file)"),
    "R2": (b"", {"offset": 1}, "(empty file)"),
    "R2 beyond": (b"", {"offset": 2}, "Offset 2 is beyond end of file (0 lines total)"),
    "R3": (b"a\nb\nc", {}, "a\nb\nc"),
    "R4": (ABC, {}, "a\nb\nc\n"),
    "R5": (ABC, {"offset": 4}, "Offset 4 is beyond end of file (3 lines total)"),
    "R6": (ABC, {"limit": 1}, "a\n\n[2 more lines in file. Use offset=2 to continue.]"),
    "R7": (ABC, {"limit": 3}, "a\nb\nc\n"),
    "R8": (b"a\nb\nc", {"limit": 3}, "a\nb\nc"),
    "R9": (
        ABC,
        {"offset": 2, "limit": 1},
        "b\n\n[1 more lines in file. Use offset=3 to continue.]",
    ),
    "R10": (
        ABC,
        {"offset": 0},
        "a\nb\nc\n\n\n[Lines are numbered from 1: offset 0 was taken as 1.]",
    ),
    "R10 negative": (ABC, {"offset": -2}, "offset must be at least 1, not -2."),
    "R11": (ABC, {"limit": 0}, "limit must be at least 1, not 0."),
    "R12": (ABC, {"limit": -5}, "limit must be at least 1, not -5."),
    "R14": (ABC, {"offset": "2"}, "b\nc\n"),
    "R14 null": (ABC, {"offset": None}, "a\nb\nc\n"),
    "R14 word": (ABC, {"offset": "x"}, "Validation failed"),
    "R16": (b"x\n" * 2000, {}, "x\n" * 2000),
    "R20": (LINES_5000, {"offset": 9999}, "Offset 9999 is beyond end of file (5000 lines total)"),
    "R22": (b"x" * 51200, {}, "x" * 51200),
    "R23": (b"x" * 51200 + b"\n", {}, "x" * 51200),
    "R26": (b"a\r\nb\r\n", {}, "a\r\nb\r\n"),
    "R27": (b"\xef\xbb\xbfa\n", {}, "a\n"),
    "R28": (b"caf\xe9\n", {}, "caf⟨E9⟩\n"),
    "R29": ("﻿né\n".encode("utf-16-le"), {}, "né\n"),
    "huge offset": (ABC, {"offset": 10**30}, f"Offset {10**30} is beyond end of file (3 lines"),
    "only a mark": (b"\xef\xbb\xbf", {}, "(empty file)"),
    "escape": (b"a\x1b[31mred\x07\x7f\tend\n", {}, "a⟨1B⟩[31mred⟨07⟩⟨7F⟩\tend\n"),
}


@pytest.mark.parametrize("row", TABLE)
async def test_table(tmp_path: Path, row: str) -> None:
    data, arguments, expected = TABLE[row]
    text = await read(tmp_path, data, **arguments)
    is_error = "beyond" in expected or "must be" in expected or "Validation" in expected
    assert text.startswith(expected) if is_error else text == expected


@pytest.mark.parametrize(
    ("data", "arguments", "notice"),
    [
        (b"x\n" * 2000 + b"x", {}, "[Showing lines 1-2000 of 2001. Use offset=2001 to continue.]"),
        (b"x\n" * 2001, {}, "[Showing lines 1-2000 of 2001. Use offset=2001 to continue.]"),
        (
            LINES_5000,
            {"limit": 2500},
            "[Showing lines 1-2000 of 5000. Use offset=2001 to continue.]",
        ),
        (LINES_5000, {"limit": 2000}, "[3000 more lines in file. Use offset=2001 to continue.]"),
        (
            b"y" * 204 + b"\n" + (b"y" * 204 + b"\n") * 999,
            {},
            "[Showing lines 1-249 of 1000 (50.0KB limit). Use offset=250 to continue.]",
        ),
        (
            b"short\n" + b"x" * 204800 + b"\nend\n",
            {},
            "[Showing lines 1-1 of 3 (50.0KB limit). Use offset=2 to continue.]",
        ),
        (
            b"short\n" + b"x" * 204800 + b"\nend\n",
            {"offset": 2},
            (
                "[Line 2 is 200.0KB, exceeds 50.0KB limit. Use offset=2, column=1 to read it in "
                "parts, or offset=3 to go past it.]"
            ),
        ),
        (
            b"x" * 51201,
            {},
            (
                "[Line 1 is 51201 bytes, exceeds 50.0KB limit (51200 bytes). "
                "Use offset=1, column=1 to read it in parts.]"
            ),
        ),
    ],
    ids=["R17", "R18", "R19", "limit at the cap", "R21", "R25", "R25 long line", "R24"],
)
async def test_notices(
    tmp_path: Path, data: bytes, arguments: dict[str, object], notice: str
) -> None:
    text = await read(tmp_path, data, **arguments)
    assert text.endswith(notice)
    assert len(text.removesuffix(notice).encode()) <= 51200 + 2


async def test_a_long_line_is_read_in_parts_by_following_the_notices(tmp_path: Path) -> None:
    line = "".join(f"{number:05d}é" for number in range(20_000))
    (tmp_path / "f").write_text(f"{line}\nlast\n")
    tools = ReadOnlyTools.at(tmp_path)
    column, parts = 1, []
    while True:
        text = (await tools.call("read", path="f", offset=1, column=column)).text
        part, notice = text.rsplit("\n\n", 1)
        parts.append(part)
        if "column=" not in notice:
            break
        column = int(notice.split("column=")[1].split(" ")[0])
    assert "".join(parts) == line
    assert notice.endswith("to its end. Use offset=2 to continue.]")
    beyond = await tools.call("read", path="f", offset=1, column=10**6)
    assert beyond.text == "Column 1000000 is beyond end of line 1 (140000 bytes)"
    end = await tools.call("read", path="f", offset=2, column=2)
    assert end.text == "ast\n\n[Showing bytes 2-4 of 4 of line 2, to the end of the file.]"


async def test_undecodable_bytes_count_as_they_are_shown(tmp_path: Path) -> None:
    data = b"\xe9" * 30_000 + b"\nend\n"
    notice = await read(tmp_path, data)
    assert notice.startswith("[Line 1 is 29.3KB and over the 50.0KB limit with its unprintable")
    part = await read(tmp_path, data, column=1)
    assert len(part.split("\n\n[")[0].encode()) <= 51200
    assert part.startswith("⟨E9⟩⟨E9⟩")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is a thing of Linux")
async def test_files_under_proc_say_that_they_are_empty_and_are_not(tmp_path: Path) -> None:
    outcome = await ReadOnlyTools.at(tmp_path).call("read", path="/proc/self/status", limit=2)
    assert outcome.text.startswith("Name:")
    assert "more lines in file. Use offset=3 to continue.]" in outcome.text


async def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "sock"))
    started = time.monotonic()
    tools = ReadOnlyTools.at(tmp_path)
    for path in ("fifo", "sock", "/dev/zero", "/dev/null", "/dev/tty"):
        outcome = await tools.call("read", path=path)
        assert not outcome.ok
        assert path in outcome.text
    assert time.monotonic() - started < 1


@pytest.mark.parametrize("path", ["", ".", "sub", "sub/"])
async def test_a_directory_points_at_ls(tmp_path: Path, path: str) -> None:
    (tmp_path / "sub").mkdir()
    outcome = await ReadOnlyTools.at(tmp_path).call("read", path=path)
    assert not outcome.ok
    assert "directory" in outcome.text
    if not path.endswith("/"):
        assert "`ls`" in outcome.text


async def test_missing_files_name_near_ones(tmp_path: Path) -> None:
    (tmp_path / "readme.md").write_text("x")
    (tmp_path / "plain").write_text("x")
    tools = ReadOnlyTools.at(tmp_path)
    missing = await tools.call("read", path="README.txt")
    assert not missing.ok
    assert "README.txt" in missing.text
    assert "readme.md" in missing.text
    below = await tools.call("read", path="plain/x")
    assert not below.ok
    assert "not a directory" in below.text


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("damage", [1, 3])
async def test_a_damaged_wide_text_is_still_read_as_text(
    tmp_path: Path, codec: str, damage: int
) -> None:
    data = ("\ufeff" + "some words\n" * 40).encode(codec)[:-damage]
    (tmp_path / "u.txt").write_bytes(data)
    outcome = await ReadOnlyTools.at(tmp_path).call("read", path="u.txt", limit=3)
    assert outcome.text.startswith("some words\nsome words\nsome words\n\n[37 more lines")


async def test_a_mark_by_chance_makes_no_text(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe" + random.Random(1).randbytes(2001))
    outcome = await ReadOnlyTools.at(tmp_path).call("read", path="b.txt")
    assert "⟨FF⟩⟨FE⟩" in outcome.text


@pytest.mark.parametrize("name", ["file_path", "filePath"])
async def test_other_names_of_the_path_are_understood(tmp_path: Path, name: str) -> None:
    (tmp_path / "f").write_text("x\n")
    outcome = await ReadOnlyTools.at(tmp_path).call("read", None, **{name: "f"})
    assert outcome.text == "x\n"


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.bin", b"\x93\0\xf1\2\3\7\x80\x81" * 50, "[Binary file, 400B, not shown as text."),
        ("it's.zip", b"PK\3\4" + b"\0" * 60, "`unzip -l "),
        ("a.docx", b"PK\3\4" + b"\0" * 60, "Word document"),
        ("a.tar", b"n" + b"\0" * 256 + b"ustar" + b"\0" * 250, "tar archive"),
        ("a.gz", b"\x1f\x8b\x08\0\0\0\0\0", "gzip data"),
        ("a.db", b"SQLite format 3\0" + b"\0" * 90, "`sqlite3 "),
        ("a.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n\0\0", "PDF document"),
        ("ascii.pdf", b"%PDF-1.4\n1 0 obj\n", "`pdftotext -layout "),
        ("u.txt", "some words\n".encode("utf-16-le"), "`iconv -f UTF-16LE -t UTF-8 "),
        ("v.txt", "some words\n".encode("utf-16-be"), "`iconv -f UTF-16BE -t UTF-8 "),
        ("n.ipynb", b'{"cells": [], "nbformat": 4}', "Jupyter notebook"),
    ],
)
async def test_what_is_no_text_is_described_in_a_line(
    tmp_path: Path, name: str, data: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(data)
    outcome = await ReadOnlyTools.at(tmp_path).call("read", path=name)
    assert words in outcome.text
    assert "\n" not in outcome.text
    assert "bash" in outcome.text
    assert "\0" not in outcome.text


async def test_the_raw_form_of_a_notebook_is_there_for_who_asks(tmp_path: Path) -> None:
    (tmp_path / "n.ipynb").write_text('{"cells": []}\n')
    outcome = await ReadOnlyTools.at(tmp_path).call("read", path="n.ipynb", offset=1)
    assert outcome.text == '{"cells": []}\n'


async def test_the_command_for_a_notebook_works(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": ["x = 1\n", "y = 2"]}]
    (tmp_path / "it's.ipynb").write_text(json.dumps({"cells": cells}))
    outcome = await ReadOnlyTools.at(tmp_path).call("read", path="it's.ipynb")
    command = outcome.text.split("or `")[1].removesuffix("`]")
    done = await anyio.run_process(["bash", "-c", command])
    assert done.stdout == b"# 0 code \nx = 1\ny = 2\n"


async def test_large_files_in_flat_memory(tmp_path: Path) -> None:
    path = tmp_path / "big"
    line = b"x" * 99 + b"\n"
    with path.open("wb") as file:
        for _ in range(30):
            file.write(line * 100_000)  # 10 MB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = await ReadOnlyTools.at(tmp_path).call("read", path="big", offset=2_900_000, limit=2)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert outcome.text.startswith("x" * 99 + "\n")
    assert "[99999 more lines in file. Use offset=2900002 to continue.]" in outcome.text
    assert grown < 60


async def test_a_sparse_file_behind_a_text_head(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    path.write_bytes(b"head\n" * 2000)
    os.truncate(path, 200 << 20)
    outcome = await ReadOnlyTools.at(tmp_path).call("read", path="sparse", offset=2000)
    assert "\0" not in outcome.text
    assert "[Showing lines 2000-2000 of 2001 (50.0KB limit). Use offset=2001" in outcome.text
    nothing_but_zeros = tmp_path / "zeros"
    nothing_but_zeros.touch()
    os.truncate(nothing_but_zeros, 10 << 30)
    outcome = await ReadOnlyTools.at(tmp_path).call("read", path="zeros")
    assert outcome.text.startswith("[Binary file, 10240.0MB, not shown as text.")


async def test_in_memory_it_is_the_same() -> None:
    workspace = MemoryWorkspace()
    workspace.add_file("/code/f", b"x\n" * 300_000)
    outcome = await ReadOnlyTools.on(workspace).call("read", path="f", offset=299_999)
    assert outcome.text == "x\nx\n"


async def test_details_tell_of_a_truncation(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(LINES_5000)
    outcome = await ReadOnlyTools.at(tmp_path).call("read", path="f", limit=2500)
    assert outcome.details["truncation"]["totalLines"] == 2500
    assert outcome.details["truncation"]["outputLines"] == 2000
    assert outcome.details["truncation"]["truncatedBy"] == "lines"
