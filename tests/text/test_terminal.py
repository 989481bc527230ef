"""What a terminal shows: known outputs, an independent screen as oracle, any chunking."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sloyd.text.terminal import ROW_WIDTH, TerminalText, plain_text

PIECES = st.sampled_from(
    [
        *"abé😀 \t\n\n\r\r\b\x07\x00\x0b\x7f\x85\x9b\x1b[]P\\;0123KGCm(",
        "\r\n",
        "\x1b[31m",
        "\x1b[0m",
        "\x1b[K",
        "\x1b[1K",
        "\x1b[2K",
        "\x1b[J",
        "\x1b[2J",
        "\x1b[3G",
        "\x1b[2C",
        "\x1b[D",
        "\x1b[?25l",
        "\x1b]0;title",
        "\x1b]8;;http://x\x1b\\",
        "\x1bPq#0",
        "\x1b\\",
        "\x18",
        "\x1b(B",
        "\x1bM",
        "word",
    ]
)
OUTPUTS = st.lists(PIECES, max_size=40).map("".join)


class Screen:
    """The rules of the module, one character at a time, on a list of cells."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.cells: list[str] = []
        self.column = 0
        self.erased: list[tuple[int, int]] = []

    def put(self, character: str) -> None:
        for mode, column in self.erased:
            if mode == 0:
                del self.cells[column:]
            elif mode == 2:
                self.cells.clear()
        for mode, column in self.erased:
            if mode == 1:
                self.cells[: column + 1] = " " * len(self.cells[: column + 1])
        self.erased.clear()
        while len(self.cells) < self.column:
            self.cells.append(" ")
        self.cells[self.column : self.column + 1] = [character]
        self.column += 1

    def line_feed(self) -> None:
        self.shown.append("".join(self.cells) + "\n")
        self.cells, self.column, self.erased = [], 0, []

    def command(self, parameters: str, final: str) -> None:
        number = int(parameters) if re.fullmatch(r"\d{1,5}", parameters) else 0
        limit = max(len(self.cells), 255, self.column)
        if final == "K" and number < 3:
            self.erased.append((number, self.column))
        elif final == "J" and number == 0:
            self.erased.append((0, self.column))
        elif final == "G":
            self.column = min(max(number, 1) - 1, limit)
        elif final == "C":
            self.column = min(self.column + max(number, 1), limit)
        elif final == "D":
            self.column = max(self.column - max(number, 1), 0)


def oracle(text: str) -> str:
    screen = Screen()
    i = 0
    while i < len(text):
        character = text[i]
        i += 1
        if character == "\n":
            screen.line_feed()
        elif character == "\r":
            screen.column = 0
        elif character == "\b":
            screen.column = max(0, screen.column - 1)
        elif character == "\x1b":
            i = escape(text, i, screen)
        elif character == "\t" or not re.match(r"[\x00-\x1f\x7f-\x9f]", character):
            screen.put(character)
    return "".join(screen.shown) + "".join(screen.cells)


def escape(text: str, i: int, screen: Screen) -> int:
    """Handle what follows ESC at ``i``; returns where to go on."""
    if text[i : i + 1] == "[":
        end = i + 1
        while end < len(text) and "0" <= text[end] <= "?" and end - i <= 64:
            end += 1
        parameters = text[i + 1 : end]
        inner = end
        while inner < len(text) and " " <= text[inner] <= "/" and inner - end < 8:
            inner += 1
        if inner < len(text) and "@" <= text[inner] <= "~":
            screen.command(parameters + text[end:inner], text[inner])
            return inner + 1
        return inner
    if i < len(text) and text[i] in "]PX^_":
        while i < len(text):
            if text[i] in "\x1b\n":
                return i
            i += 1
            if text[i - 1] in "\x07\x18\x1a":
                return i
        return i
    start = i
    while i < len(text) and " " <= text[i] <= "/" and i - start < 8:
        i += 1
    return i + (i < len(text) and "0" <= text[i] <= "~")


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07x\x1b[2K\n", "red x\n"),
        ("a\0b\n", "ab\n"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("one\r\r\ntwo", "one\ntwo"),
        (" 10%\r 20%\r100%\ndone\n", "100%\ndone\n"),
        ("downloading\r\x1b[Kdone\n", "done\n"),
        ("10%\x1b[2K\r20%\x1b[2K\rok\n", "ok\n"),
        ("100%\r\x1b[K\nnext\n", "100%\nnext\n"),
        ("longer\rab\n", "abnger\n"),
        ("N\bNA\bAM\bME\bE _\bx\n", "NAME x\n"),
        ("spin |\b/\b-\n", "spin -\n"),
        ("\x1b]8;;http://a/\x1b\\link\x1b]8;;\x1b\\\n", "link\n"),
        ("\x1b]0;never ends\nnext line\n", "\nnext line\n"),
        ("\x1bPsixel data\x1b\\after", "after"),
        ("\x1b(Bascii\x1b[?25h\x1b[1;31mx\x1b[m", "asciix"),
        ("tail\x1b[3", "tail"),
        ("tail\x1b", "tail"),
        ("ab\x1b[10Gz\x1b[1Gy", "yb       z"),
        ("\x9b31mC1 \x85stays text", "31mC1 stays text"),
        ("form\x0cfeed\x7f\x07", "formfeed"),
    ],
)
def test_known_outputs(output: str, shown: str) -> None:
    assert plain_text(output) == shown


@given(OUTPUTS)
def test_equals_a_screen_that_works_one_character_at_a_time(output: str) -> None:
    assert plain_text(output) == oracle(output)


STATES = ["\r", "\r\r", "\r\x1b[K", "\x1b[2K\r", "\x1b[K\r", "\r\x1b[J", "\r\x1b[1K", "\x1b[0K\r"]
STATES += ["a", "bc", "def", "x" * 9, "\0", "\x07z", "\x1b[31m", "\n", "\r\n", "\x1b[C", "\x1b[4G"]
STATES += ["\b", "\x1b[2D"]


@given(st.lists(st.sampled_from(STATES), min_size=20, max_size=80).map("".join))
def test_a_flood_of_progress_equals_the_screen_too(output: str) -> None:
    assert plain_text(output) == oracle(output)


@given(
    st.lists(
        st.sampled_from(["\r", "\r\x1b[K", *STATES, "y" * (ROW_WIDTH - 9)]),
        min_size=20,
        max_size=60,
    )
)
def test_what_is_skipped_in_a_flood_does_not_show(states: list[str]) -> None:
    """State by state there is no flood, and nothing is skipped."""
    terminal = TerminalText()
    slowly = "".join(map(terminal.feed, states)) + terminal.finish()
    assert plain_text("".join(states)) == slowly


@given(st.text(max_size=200) | OUTPUTS)
def test_leaves_no_control_character_and_changes_nothing_the_second_time(output: str) -> None:
    shown = plain_text(output)
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown) is None
    assert plain_text(shown) == shown
    assert shown.count("\n") == output.count("\n")


@given(OUTPUTS, OUTPUTS)
def test_lines_are_independent(before: str, after: str) -> None:
    assert plain_text(f"{before}\n{after}") == f"{plain_text(before)}\n{plain_text(after)}"


@given(st.lists(OUTPUTS, max_size=8))
@example(["\x1b]0;a", "b\x07c"])
@example(["\x1b[3", "1mred"])
@example(["\x1b]0;a\x1b", "\\b"])
@example(["\x1b[" + "1" * 64, "1m"])
def test_any_chunking_shows_the_same(chunks: list[str]) -> None:
    terminal = TerminalText()
    settled = "".join(terminal.feed(chunk) for chunk in chunks)
    shown = settled + terminal.pending()
    assert settled + terminal.finish() == shown == plain_text("".join(chunks))


@given(
    st.lists(
        st.sampled_from(["x" * (ROW_WIDTH - 1), "y" * ROW_WIDTH, "ab", "\r", "\b", "\n", "\x1b[K"]),
        max_size=10,
    )
)
def test_wrapped_rows_do_not_depend_on_chunks(chunks: list[str]) -> None:
    terminal = TerminalText()
    settled = "".join(terminal.feed(chunk) for chunk in chunks)
    assert settled + terminal.finish() == plain_text("".join(chunks))
    assert len(terminal.pending()) <= ROW_WIDTH


def test_carriage_return_goes_to_the_start_of_the_last_row() -> None:
    assert plain_text("x" * ROW_WIDTH + "abc\rz") == "x" * ROW_WIDTH + "zbc"


def test_endless_progress_and_colours_take_linear_time() -> None:
    bar = "".join(f"\r{n:9d} of 200000 \x1b[32m##\x1b[0m\x1b[K" for n in range(200_000))
    assert plain_text(bar) == "   199999 of 200000 ##"
    assert plain_text("\x1b[1mx" * 300_000) == "x" * 300_000
    assert plain_text("\x1b]" * 300_000) == ""


def test_floods_of_states_and_of_control_characters_are_as_fast_as_text() -> None:
    begin = time.perf_counter()
    assert plain_text("12%\r" * 1_000_000) == "12%"
    assert plain_text("\r\x1b[K12%" * 1_000_000) == "12%"
    assert plain_text("\0" * 4_000_000) == ""
    assert plain_text("line\r\n" * 500_000) == "line\n" * 500_000
    assert time.perf_counter() - begin < 3
