"""Bracketed paste through the parser: literal, whatever is in it and however it is cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.message import Message

from sloyd.modes.tui.literal_paste import LiteralPasteParser

START, END = "\x1b[200~", "\x1b[201~"


def read(*chunks: str) -> list[Message]:
    parser = LiteralPasteParser()
    return [message for chunk in chunks for message in parser.feed(chunk)]


def described(messages: list[Message]) -> list[str]:
    """Pastes in brackets, keys by their names."""
    return [
        f"[{message.text}]" if isinstance(message, events.Paste) else message.key
        for message in messages
        if isinstance(message, events.Paste | events.Key)
    ]


def test_escape_sequences_in_a_paste_stay_in_it() -> None:
    text = "\x1b[31mred\x1b[0m\rrm -rf\r\x1b]0;title\x07 \x1b\x1b[A"
    assert described(read(f"a{START}{text}{END}b")) == ["a", f"[{text}]", "b"]


def test_keys_around_a_paste_are_keys() -> None:
    assert described(read(f"\x1b[A{START}x{END}\r")) == ["up", "[x]", "enter"]


def test_an_empty_paste_and_two_in_a_row() -> None:
    assert described(read(f"{START}{END}{START}1{END}{START}2{END}")) == ["[]", "[1]", "[2]"]


def test_a_start_that_is_cut_off_waits() -> None:
    assert described(read("x\x1b[20", "0~in\x1b[20", "1~y")) == ["x", "[in]", "y"]
    assert described(read("\x1b[2", "~")) == ["insert"]


@given(
    st.text(alphabet=st.characters(exclude_characters="\0", codec="utf-8"), max_size=60),
    st.lists(st.integers(1, 20), min_size=1, max_size=20),
)
def test_any_text_comes_through_in_any_pieces(text: str, sizes: list[int]) -> None:
    if END in text:
        text = text.replace(END, "")
    data = f"{text}\x1b[31m{text}"
    chunks = [START]
    place = 0
    for size in sizes:
        chunks.append((data + END)[place : place + size])
        place += size
    chunks.append((data + END)[place:])
    assert described(read(*filter(None, chunks))) == [f"[{data}]"]
