"""Markdown: how it is laid out, that it fits, and that growing text comes to the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from rich.cells import cell_len

from sloyd.modes.tui.markdown_inline import looks_of
from sloyd.modes.tui.markdown_layout import markdown_lines
from sloyd.modes.tui.markdown_stream import MarkdownStream
from sloyd.modes.tui.theme import DARK

LOOKS = looks_of(DARK)

PIECES = st.sampled_from(
    [
        *(
            "word ",
            "日本語",
            "e\u0301",
            "👩\u200d👩\u200d👧",
            "\n",
            "\n\n",
            "# ",
            "- ",
            "1. ",
            "> ",
        ),
        *("`", "```", "```py\n", "**", "*", "[a](http://b.c)", "![i](x)", "|", "---\n", "    "),
        *("| a | b |\n|---|---|\n| c | ", "\t", "<b>", "\\", "~~~\n", "a" * 50, "===\n", "&amp;"),
        "  \n",
    ]
)
TEXTS = st.lists(PIECES, max_size=40).map("".join)


def shown(text: str, width: int = 40) -> str:
    return "\n".join(line.plain.rstrip() for line in markdown_lines(text, width, LOOKS))


def test_blocks_are_laid_out_one_below_the_other() -> None:
    text = """\
# A title

Some *words* that are **long enough** to be broken into `two` lines.

- one
- two
  1. inner
  2. other

> quoted
> more

```python
def f():
    return 1
```
***
Last.\\
Hard break.
"""
    assert shown(text) == snapshot("""\
A title

Some words that are long enough to be
broken into two lines.

• one
• two
  1. inner
  2. other

▎ quoted more

  def f():
      return 1

────────────────────────────────────────

Last.
Hard break.\
""")


def test_links_say_where_they_lead() -> None:
    assert shown("[docs](https://a.b/c) <https://d.e>", 60) == "docs (https://a.b/c) https://d.e"


def test_only_links_that_a_terminal_may_open_are_links() -> None:
    lines = markdown_lines("[x](https://a.b) [y](javascript:alert)", 80, LOOKS)
    linked = {span.style.link for span in lines[0].spans if not isinstance(span.style, str)}
    assert linked == {None, "https://a.b"}


def test_wide_tables_are_broken_inside_their_columns() -> None:
    text = "| name | what it is |\n|---|---|\n| a | words that go on for a while here |\n"
    assert shown(text, 30) == snapshot("""\
name │ what it is
─────┼────────────────────────
a    │ words that go on for a
     │ while here\
""")


def test_tables_in_no_room_become_lists() -> None:
    text = "| one | two | three |\n|---|---|---|\n| aaaaaaa | bbbbbbb | ccccccc |\n"
    assert shown(text, 18) == snapshot("""\
one: aaaaaaa
two: bbbbbbb
three: ccccccc\
""")


def test_code_is_coloured_and_long_lines_are_folded() -> None:
    lines = markdown_lines("```python\nreturn 'x'  # " + "y" * 40 + "\n```", 30, LOOKS)
    assert len(lines) == 2
    assert len({str(span.style) for span in lines[0].spans}) > 1


def test_an_unknown_language_is_plain() -> None:
    assert shown("```nosuchlanguage\na  b\n```") == "  a  b"


def test_deep_nesting_does_not_run_out_of_columns() -> None:
    lines = markdown_lines("> " * 40 + "deep words", 40, LOOKS)
    assert "deep words" in lines[0].plain
    assert lines[0].plain.count("▎") == 40


@given(TEXTS, st.integers(2, 60))
def test_no_line_is_wider_than_the_screen(text: str, width: int) -> None:
    for line in markdown_lines(text, width, LOOKS):
        assert "\n" not in line.plain
        # A margin alone may be wider than two columns; the canvas cuts it.
        assert cell_len(line.plain) <= max(width, 28)


@given(st.lists(TEXTS, max_size=12))
def test_growing_text_ends_as_the_whole_text(pieces: list[str]) -> None:
    stream = MarkdownStream(30, LOOKS)
    text = ""
    for piece in pieces:
        text += piece
        stream.lines(text)
    # An open code block keeps the blank lines at its end: there may be more behind them.
    grown = "\n".join(line.plain.rstrip() for line in stream.lines(text)).rstrip("\n")
    assert grown == shown(text, 30).rstrip("\n")


def test_finished_blocks_are_not_laid_out_again() -> None:
    stream = MarkdownStream(40, LOOKS)
    first = stream.lines("One.\n\nTwo.\n\nThr")
    second = stream.lines("One.\n\nTwo.\n\nThree and more")
    assert second[0] is first[0]
    assert second[2] is first[2]
    assert second[-1].plain == "Three and more"


def test_finished_lines_of_an_open_code_block_are_not_coloured_again() -> None:
    stream = MarkdownStream(40, LOOKS)
    code = "```python\n" + "".join(f"x = {number}\n" for number in range(30))
    first = stream.lines(code)
    second = stream.lines(code + "y = 1\n")
    assert second[5] is not None
    assert [line.plain for line in second[:-1]] == [line.plain for line in first]
