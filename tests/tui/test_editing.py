"""The edited text: motions, deletions, cutting, undo; with a model of it for any sequence."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.modes.tui.editing import Editor, clean_text
from sloyd.modes.tui.graphemes import clusters

FAMILY = "👨‍👩‍👧‍👦"
ACTIONS: dict[str, Callable[[Editor], None]] = {
    name: getattr(Editor, name)
    for name in (
        "left", "right", "word_left", "word_right", "line_start", "line_end", "text_start",
        "text_end", "backspace", "delete", "cut_word_left", "cut_word_right", "cut_to_line_start",
        "cut_to_line_end", "yank", "yank_pop", "undo", "redo",
    )
}  # fmt: skip
PIECES = st.one_of(
    st.sampled_from(["a", "word ", " ", "\n", FAMILY, "\u0301", "🇩", "漢字", "\ud800", "한"]),
    st.text(max_size=6).map(clean_text),
)
STEPS = st.lists(
    st.one_of(st.sampled_from(sorted(ACTIONS)), PIECES.map(lambda text: (text,))), max_size=40
)


def typed(text: str) -> Editor:
    editor = Editor()
    for start, end in clusters(text):
        editor.insert(text[start:end], typed=True)
    return editor


def at(marked: str) -> Editor:
    """An editor whose cursor is where the bar is."""
    before, _, after = marked.partition("|")
    editor = Editor()
    editor.set_text(before + after, len(before))
    return editor


def shown(editor: Editor) -> str:
    return f"{editor.text[: editor.cursor]}|{editor.text[editor.cursor :]}"


@pytest.mark.parametrize(
    ("before", "action", "after"),
    [
        (f"hi{FAMILY}|", "backspace", "hi|"),  # C12-01
        (f"|{FAMILY}x", "delete", "|x"),
        ("e\u0301|", "backspace", "|"),
        ("a🇩🇪|b", "left", "a|🇩🇪b"),
        ("|각x", "right", "각|x"),
        ("one two|", "word_left", "one |two"),
        ("one two   |", "word_left", "one |two   "),
        ("|one two", "word_right", "one| two"),
        ("foo.bar|", "word_left", "foo.|bar"),
        ("東京へ行く|", "word_left", "東京へ行|く"),
        ("東京へ行|く", "word_left", "東京へ|行く"),
        ("|東京タワー", "word_right", "東京|タワー"),
        ("snake_case|", "word_left", "|snake_case"),
        ("x \ud800\ud801|", "word_left", "x \ud800|\ud801"),
        ("one two|", "cut_word_left", "one |"),
        ("|one two", "cut_word_right", "| two"),
        ("ab\ncd|ef", "cut_to_line_start", "ab\n|ef"),
        ("ab\n|cd", "cut_to_line_start", "ab|cd"),
        ("ab\nc|de", "cut_to_line_end", "ab\nc|"),
        ("ab|\ncd", "cut_to_line_end", "ab|cd"),
        ("ab\ncd|", "line_start", "ab\n|cd"),
        ("a|b\ncd", "line_end", "ab|\ncd"),
        ("ab|\ncd", "right", "ab\n|cd"),
        ("|", "backspace", "|"),
        ("ab|", "delete", "ab|"),
    ],
)
def test_one_action(before: str, action: str, after: str) -> None:
    editor = at(before)
    ACTIONS[action](editor)
    assert shown(editor) == after


def test_an_accent_joins_the_letter_before_it() -> None:
    editor = at("e|x")
    editor.insert("\u0301", typed=True)
    assert shown(editor) == "e\u0301|x"
    editor.backspace()
    assert shown(editor) == "|x"


def test_undo_takes_back_a_word_at_a_time() -> None:
    editor = typed("one two three")
    editor.undo()
    assert editor.text == "one two"
    editor.undo()
    assert editor.text == "one"
    editor.redo()
    assert editor.text == "one two"
    editor.insert("!", typed=True)
    editor.redo()
    assert editor.text == "one two!"


def test_erasing_in_a_row_is_one_step() -> None:
    editor = typed("abcdef")
    for _ in range(4):
        editor.backspace()
    editor.undo()
    assert editor.text == "abcdef"


def test_a_move_ends_the_step() -> None:
    editor = typed("ab")
    editor.left()
    editor.insert("x", typed=True)
    editor.undo()
    assert shown(editor) == "a|b"


def test_cuts_in_a_row_are_yanked_together() -> None:
    editor = at("one two three|")
    editor.cut_word_left()
    editor.cut_word_left()
    editor.yank()
    assert shown(editor) == "one two three|"


def test_yank_pop_goes_through_older_cuts() -> None:
    editor = at("one two|")
    editor.cut_word_left()
    editor.left()
    editor.right()
    editor.cut_word_left()
    assert editor.text == ""
    editor.yank()
    assert editor.text == "one "
    editor.yank_pop()
    assert editor.text == "two"
    editor.yank_pop()
    assert editor.text == "one "


def test_yank_pop_needs_a_yank() -> None:
    editor = at("one two|")
    editor.cut_word_left()
    editor.yank_pop()
    assert editor.text == "one "


def test_jump_finds_the_next_and_the_previous() -> None:
    editor = at("a|bcabc")
    editor.jump("c")
    assert shown(editor) == "ab|cabc"
    editor.jump("c")
    assert shown(editor) == "abcab|c"
    editor.jump("a", backwards=True)
    assert shown(editor) == "abc|abc"
    editor.jump("z")
    assert shown(editor) == "abc|abc"


def test_text_from_outside_is_cleaned() -> None:
    assert clean_text("a\r\nb\rc\ud800") == "a\nb\nc\ufffd"


def run(editor: Editor, step: str | tuple[str]) -> None:
    if isinstance(step, tuple):
        editor.insert(step[0], typed=True)
    else:
        ACTIONS[step](editor)


@given(STEPS)
def test_the_cursor_is_always_between_clusters(steps: list[str | tuple[str]]) -> None:
    editor = Editor()
    for step in steps:
        run(editor, step)
        ends = {0, *(end for _, end in clusters(editor.text))}
        assert editor.cursor in ends


@given(STEPS)
def test_undo_goes_back_to_the_beginning_and_redo_to_the_end(
    steps: list[str | tuple[str]],
) -> None:
    editor = Editor()
    for step in steps:
        if step not in ("undo", "redo"):
            run(editor, step)
    last = editor.text
    for _ in range(len(steps) + 1):
        editor.undo()
    assert editor.text == ""
    for _ in range(len(steps) + 1):
        editor.redo()
    assert editor.text == last


@given(st.text(max_size=20).map(clean_text), st.text(max_size=20).map(clean_text))
def test_backspace_takes_what_was_typed_last(text: str, more: str) -> None:
    editor = Editor()
    editor.set_text(text + more)
    count = len(list(clusters(editor.text)))
    for _ in range(count):
        editor.backspace()
    assert editor.text == ""
