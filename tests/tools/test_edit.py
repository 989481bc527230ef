"""`edit`: the handed cases, and the table of pi's behaviour with the better rows in their place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sloyd.tools.edit_arguments import prepare_edit
from tests.tools.file_calls import FileTools, Outcome, load_cases


@pytest.mark.parametrize("case", load_cases("edit_cases.json"), ids=lambda case: case["id"])
async def test_handed_cases(tmp_path: Path, case: dict[str, Any]) -> None:
    tools = FileTools.at(tmp_path)
    path = tools.put(bytes.fromhex(case["before_hex"]))
    outcome = await tools.call("edit", {"path": "f", "edits": case["edits"]})
    got = {"result": "ok" if outcome.ok else "error", "after_hex": path.read_bytes().hex()}
    assert got in case["accept"], outcome.text


ARGUMENTS = [case for case in load_cases("arg_cases.json") if case["tool"] == "edit"]


@pytest.mark.parametrize("case", ARGUMENTS, ids=lambda case: case["id"])
async def test_handed_arguments(tmp_path: Path, case: dict[str, Any]) -> None:
    tools = FileTools.at(tmp_path)
    path = tools.put(b"a\n", "f.txt")
    outcome = await tools.call("edit", case["raw"])
    if "means" in case:
        assert prepare_edit(case["raw"]) == case["means"]
        assert path.read_bytes() == b"b\n"
    else:
        assert not outcome.ok
        assert case["must_mention"] in outcome.text
        assert "could not be parsed" in outcome.text
        assert path.read_bytes() == b"a\n"


EDIT = {"oldText": "a", "newText": "b"}
MEANT = {"path": "f", "edits": [EDIT]}


@pytest.mark.parametrize(
    "raw",
    [
        {"file_path": "f", "old_string": "a", "new_string": "b"},
        {"filePath": "f", "oldString": "a", "newString": "b"},
        {"filename": "f", "old_str": "a", "new_str": "b"},
        {"path": "f", "oldText": "a", "newText": "b"},
        {"path": "f", "edits": [{"old_text": "a", "new_text": "b"}]},
        {"path": "f", "edits": '"[{\\"oldText\\":\\"a\\",\\"newText\\":\\"b\\"}]"'},
        {"edits": '{"path":"f","edits":[{"search":"a","replace":"b"}]}'},
        {"path": "f", "edits": [EDIT], "oldText": "c", "newText": "d"},
    ],
)
def test_foreign_shapes_are_understood(raw: dict[str, Any]) -> None:
    legacy_too = "oldText" in raw and "edits" in raw
    extra = [{"oldText": "c", "newText": "d"}] if legacy_too else []
    assert prepare_edit(raw) == {"path": "f", "edits": [EDIT, *extra]}


@pytest.mark.parametrize("raw", [None, 5, "text", [], {"edits": 5}, {"edits": [5, None]}])
def test_strange_arguments_come_through(raw: object) -> None:
    assert prepare_edit(raw) == raw


async def test_line_breaks_inside_json_text_need_no_escape(tmp_path: Path) -> None:
    tools = FileTools.at(tmp_path)
    path = tools.put(b"a\nb\n")
    raw = {"path": "f", "edits": '[{"oldText":"a\nb","newText":"c\nd"}]'}
    assert (await tools.call("edit", raw)).ok
    assert path.read_bytes() == b"c\nd\n"


ONE = "The text must be unique. Please provide more context to make it unique."
GONE = "The old text must match exactly including all whitespace and newlines."


@pytest.mark.parametrize(
    ("data", "pairs", "after"),
    [
        pytest.param(b"a\nb\nc\n", [("b", "B")], b"a\nB\nc\n", id="E1"),
        pytest.param(b"1\n2\n3\n", [("3", "c"), ("1", "a")], b"a\n2\nc\n", id="E6"),
        pytest.param(b"ab\n", [("a", "x"), ("b", "y")], b"xy\n", id="E6-adjacent"),
        pytest.param(b"a b\n", [("a", "b"), ("b", "a")], b"b a\n", id="E7"),
        pytest.param(b"a\nb\n", [("a", "a"), ("b", "c")], b"a\nc\n", id="E8"),
        pytest.param(b"a\r\nb\r\n", [("a\nb", "1\n2\n3")], b"1\r\n2\r\n3\r\n", id="E9"),
        pytest.param(b"a\r\nb\nc\r\nd\n", [("b\nc", "B\nC")], b"a\r\nB\nC\r\nd\n", id="E10"),
        pytest.param(b"a\nb\r\nc\nd\r\n", [("b\nc", "B\nC")], b"a\nB\r\nC\nd\r\n", id="E11"),
        pytest.param(b"a\nb\n", [("a", "x\r\ny")], b"x\ny\nb\n", id="E12"),
        pytest.param(b"a\rb\rc\r", [("a\nb", "A\nx\nB")], b"A\rx\rB\rc\r", id="E13"),
        # A lone CR is data: pi makes it a CRLF here.
        pytest.param(b"a\r\nb\rc\nd\n", [("c", "\nq")], b"a\r\nb\r\nq\nd\n", id="E14"),
        pytest.param(
            b"\xef\xbb\xbfa\r\nb\r\n", [("a\nb", "c\nd")], b"\xef\xbb\xbfc\r\nd\r\n", id="E15"
        ),
        pytest.param(b"caf\xe9\nx = 1\n", [("x = 1", "x = 2")], b"caf\xe9\nx = 2\n", id="E16"),
        pytest.param(
            b"\0\xff\xfe\x80\nk=1\n", [("k=1", "k=2")], b"\0\xff\xfe\x80\nk=2\n", id="E17"
        ),
        pytest.param(
            "a\nkäse\nc\n".encode("utf-16"),
            [("käse", "brød 😀")],
            "a\nbrød 😀\nc\n".encode("utf-16"),
            id="E18",
        ),
        # Tolerant: only what was named changes; blanks at line ends stay (pi drops them).
        pytest.param(
            b"foo   \nbar\t\nrest  \n", [("foo\nbar", "X\nY")], b"X   \nY\t\nrest  \n", id="E19"
        ),
        pytest.param(
            b"md line  \nmd line2  \n",
            [("md line\nmd line2", "MD line\nMD line2")],
            b"MD line  \nMD line2  \n",
            id="E20",
        ),
        pytest.param(
            "A “keep” and foo’s ½  \n".encode(),
            [("foo's", "bar")],
            "A “keep” and bar ½  \n".encode(),
            id="E21",
        ),
        pytest.param(
            "x = “keep” z   \ny = “q”\n".encode(),
            [('y = "q"', 'y = "r"'), ("z", "Z")],
            "x = “keep” Z   \ny = “r”\n".encode(),
            id="E22",
        ),
        pytest.param("\uff21\uff22 …\n".encode(), [("AB ...", "x")], b"x\n", id="E23"),
        pytest.param("it's\nit’s\n".encode(), [("it's", "x")], "x\nit’s\n".encode(), id="E24"),
        pytest.param(b"a b\n", [(" ", "_")], b"a_b\n", id="E26"),
        pytest.param(b"a\n", [("a", "$& $1 $$")], b"$& $1 $$\n", id="E32"),
        pytest.param(b"a\nb\n", [("a\n", "")], b"b\n", id="E33"),
        pytest.param(b"a\n", [("a\n", "")], b"", id="E33-all"),
        # Nothing to follow: the line end is written as it is given.
        pytest.param(b"a", [("a", "x\r\ny\r\n")], b"x\r\ny\r\n", id="no-line-end"),
        pytest.param(b"a\rb\nc\n", [("b", "x\r")], b"a\rx\r\nc\n", id="lone-cr-written"),
        pytest.param(
            b"a\r\nb\nc\r\nd\n",
            [("a\nb\nc\nd", "a\nb\nnew\nc\nd")],
            b"a\r\nb\nnew\nc\r\nd\n",
            id="mixed-insert",
        ),
    ],
)
async def test_table_of_edits(
    tmp_path: Path, data: bytes, pairs: list[tuple[str, str]], after: bytes
) -> None:
    tools = FileTools.at(tmp_path)
    path = tools.put(data)
    outcome = await tools.edit("f", *pairs)
    assert outcome.text.startswith(f"Successfully replaced {len(pairs)} block(s) in f.")
    assert path.read_bytes() == after


@pytest.mark.parametrize(
    ("data", "pairs", "texts"),
    [
        pytest.param(
            b"b\nb\n",
            [("b", "B")],
            [f"Found 2 occurrences of the text in f. {ONE}", "lines 1, 2"],
            id="E2",
        ),
        pytest.param(b"a\n", [("", "x")], ["oldText must not be empty in f."], id="E3-empty"),
        pytest.param(
            b"a\n", [("zz", "x")], [f"Could not find the exact text in f. {GONE}"], id="E3-absent"
        ),
        pytest.param(
            b"a\n",
            [("a", "a")],
            [
                (
                    "No changes made to f. The replacement produced identical content. This "
                    "might indicate an issue with special characters or the text not existing as "
                    "expected."
                )
            ],
            id="E3-same",
        ),
        pytest.param(
            b"abcd\n",
            [("abc", "x"), ("bcd", "y")],
            [
                (
                    "edits[0] and edits[1] overlap in f. Merge them into one edit or target "
                    "disjoint regions."
                )
            ],
            id="E4",
        ),
        pytest.param(
            b"abcd\n",
            [("b", "x"), ("b", "y")],
            ["edits[0] and edits[1] overlap in f."],
            id="E4-twice",
        ),
        pytest.param(
            b"a\n",
            [("a", "b"), ("zz", "y")],
            [
                (
                    "Could not find edits[1] in f. The oldText must match exactly including all "
                    "whitespace and newlines."
                )
            ],
            id="E5",
        ),
        pytest.param(b"foo  \nfoo\n", [("foo", "x")], ["Found 2 occurrences"], id="E25"),
        pytest.param(b"ababa", [("aba", "x")], ["Found 2 occurrences"], id="E27"),
        pytest.param(
            b"aaa", [("aa", "x")], ["Found 2 occurrences", "line 1 (2 times)"], id="E27-aa"
        ),
        pytest.param(b"foo\n\n\nbar\n", [("\n\n", "\n")], ["Found 2 occurrences"], id="E28"),
        pytest.param(
            b"\tif a:\n", [("    if a:", "x")], [GONE, "line 1", "indentation", "1 tab"], id="E29"
        ),
        pytest.param(b"a\nb", [("b\n", "c\n")], [GONE, "ends without a line break"], id="E30"),
        pytest.param("a\u200bb\n".encode(), [("ab", "x")], [GONE], id="E31"),
        pytest.param(b"", [("a", "b")], [GONE, "empty"], id="C02-13"),
        pytest.param(
            "x’\nx‘\n".encode(),
            [("x'", "y")],
            ["Found 2 occurrences", "None is exact"],
            id="tolerant",
        ),
        pytest.param(
            b"one\n",
            [("two", "2"), ("three", "3"), ("", "x")],
            ["find edits[0]", "find edits[1]", "edits[2].oldText must not be empty"],
            id="all-problems",
        ),
        pytest.param(
            b"a b\n",
            [("a", "a"), ("b", "b")],
            ["No changes made to f. The replacements produced identical content."],
            id="no-change",
        ),
        pytest.param(b"a\n", [("x\ud83d", "b")], [GONE], id="half-a-pair"),
        pytest.param(
            b"a\n", [("a", "b\ud83d")], ["half of a surrogate pair"], id="half-a-pair-new"
        ),
    ],
)
async def test_table_of_refusals(
    tmp_path: Path, data: bytes, pairs: list[tuple[str, str]], texts: list[str]
) -> None:
    tools = FileTools.at(tmp_path)
    path = tools.put(data)
    outcome = await tools.edit("f", *pairs)
    assert not outcome.ok
    assert [text for text in texts if text not in outcome.text] == []
    assert path.read_bytes() == data


async def test_no_edits_at_all(tmp_path: Path) -> None:
    tools = FileTools.at(tmp_path)
    tools.put(b"a")
    outcome = await tools.edit("f")
    assert outcome.text == (
        "Edit tool input is invalid. edits must contain at least one replacement."
    )


@pytest.mark.parametrize(
    "raw",
    [
        {"path": "f", "edits": [{"oldText": "a", "newText": None}]},
        {"path": "f", "edits": [{"oldText": "a"}]},
        {"path": "f", "edits": "not json"},
        {"path": "f"},
        {"edits": [{"oldText": "a", "newText": "b"}]},
    ],
)
async def test_arguments_that_mean_nothing(tmp_path: Path, raw: object) -> None:
    """Cases E38 and E39: nothing is turned into text."""
    tools = FileTools.at(tmp_path)
    path = tools.put(b"a\n")
    outcome = await tools.call("edit", raw)
    assert outcome.text.startswith('Validation failed for tool "edit":')
    assert path.read_bytes() == b"a\n"


async def test_unknown_keys_are_ignored(tmp_path: Path) -> None:
    """Case E40."""
    tools = FileTools.at(tmp_path)
    path = tools.put(b"a\n")
    raw = {"path": "f", "edits": [{"oldText": "a", "newText": "b", "why": 1}], "replaceAll": True}
    assert (await tools.call("edit", raw)).ok
    assert path.read_bytes() == b"b\n"


async def details(tools: FileTools, *pairs: tuple[str, str]) -> dict[str, Any]:
    outcome: Outcome = await tools.edit("f", *pairs)
    assert outcome.details is not None, outcome.text
    return outcome.details


async def test_details_of_an_edit(tmp_path: Path) -> None:
    tools = FileTools.at(tmp_path)
    tools.put(b"\xef\xbb\xbfa\r\nb\r\nc\r\n")
    assert await details(tools, ("c", "C"), ("b\n", "")) == {
        "diff": " 1 a\n-2 b\n-3 c\n+2 C",
        "patch": "--- a/f\n+++ b/f\n@@ -1,3 +1,2 @@\n \ufeffa\r\n-b\r\n-c\r\n+C\r\n",
        "patchFormat": "unified",
        "firstChangedLine": 2,
        "spans": [
            {"edit": 1, "line": 2, "start": 6, "end": 9, "newStart": 6, "newEnd": 6},
            {"edit": 0, "line": 3, "start": 9, "end": 10, "newStart": 6, "newEnd": 7},
        ],
        "encoding": "utf-8 with BOM",
        "lineEnding": "crlf",
        "tolerant": [],
    }


async def test_details_and_text_of_a_tolerant_match(tmp_path: Path) -> None:
    tools = FileTools.at(tmp_path)
    tools.put("a\nsay “hi” – now\n".encode())
    outcome = await tools.edit("f", ('"hi" - now', '"hi" - later'))
    assert outcome.details is not None
    assert outcome.details["tolerant"] == [
        {"edit": 0, "line": 2, "overlooked": ["quotes", "dashes"]}
    ]
    assert "matched at line 2 but for quotes, dashes" in outcome.text
    assert (tmp_path / "f").read_text() == "a\nsay “hi” – later\n"


async def test_spans_of_utf16_are_offsets_in_the_file(tmp_path: Path) -> None:
    tools = FileTools.at(tmp_path)
    before = "aé😀b\n".encode("utf-16-be")
    tools.put(b"\xfe\xff" + before)
    found = await details(tools, ("b", "ccc"))
    assert found["spans"][0] == {
        "edit": 0,
        "line": 1,
        "start": 10,
        "end": 12,
        "newStart": 10,
        "newEnd": 16,
    }
    assert found["patchFormat"] == "git-binary"
    assert found["encoding"] == "utf-16-be with BOM"


async def test_one_line_of_megabytes(tmp_path: Path) -> None:
    """Case C02-15: the details stay small, and what is too large for a patch has none."""
    tools = FileTools.at(tmp_path)
    path = tools.put(b"x" * 5_000_000 + b"needle")
    found = await details(tools, ("needle", "pin"))
    assert len(found["diff"]) < 6000
    assert (found["patch"], found["patchFormat"]) == (None, "none")
    assert path.read_bytes() == b"x" * 5_000_000 + b"pin"
