"""Atoms: what is folded, what they become, and that their markers are only text when typed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sloyd.llm.messages import Image
from sloyd.modes.tui.editing import Editor, clean_text
from sloyd.modes.tui.paste import Atoms

LONG = "\n".join(f"line {number}" for number in range(42))


def test_large_pastes_are_folded_and_small_ones_are_not() -> None:
    atoms = Atoms()
    assert atoms.paste("one\ntwo") == "one\ntwo"
    assert atoms.paste("line\n" * 10) == "line\n" * 10
    folded = atoms.paste(LONG + "\n")
    assert len(folded) == 1
    assert atoms.marker(folded) == "[paste #1 +42 lines]"
    wide = atoms.paste("x" * 1001)
    assert atoms.marker(wide) == "[paste #2 1001 chars]"
    assert atoms.expand(f"a {folded} b {wide}") == f"a {LONG}\n b {'x' * 1001}"


def test_a_deleted_paste_is_gone_and_a_typed_marker_is_text() -> None:  # C12-03
    atoms, editor = Atoms(), Editor()
    editor.insert(atoms.paste(LONG))
    editor.insert(atoms.paste(LONG.upper()))
    editor.backspace()
    editor.insert(" [paste #2 +42 lines]")
    assert atoms.expand(editor.text) == f"{LONG} [paste #2 +42 lines]"
    editor.undo()
    editor.undo()
    assert atoms.expand(editor.text) == LONG + LONG.upper()


def test_images_are_in_the_order_of_the_text() -> None:
    atoms, editor = Atoms(), Editor()
    editor.insert(atoms.image(Image("MQ==", "image/png"), "one.png"))
    editor.text_start()
    editor.insert(atoms.image(Image("Mg==", "image/png")))
    assert [image.data for image in atoms.images(editor.text)] == ["Mg==", "MQ=="]
    assert atoms.expand(editor.text) == "[image #2][image #1 one.png]"
    editor.backspace()
    assert [image.data for image in atoms.images(editor.text)] == ["MQ=="]


def test_numbers_begin_again_and_old_atoms_stay() -> None:
    atoms = Atoms()
    old = atoms.paste(LONG)
    atoms.begin_message()
    new = atoms.paste("y" * 2000)
    assert atoms.marker(new).startswith("[paste #1 ")
    assert atoms.expand(old) == LONG


def test_when_there_are_too_many_pastes_stay_as_they_are() -> None:
    atoms = Atoms()
    for _ in range(1024):
        assert len(atoms.paste(LONG)) == 1
    assert atoms.paste(LONG) == LONG
    assert atoms.image(Image("MQ==", "image/png")) == ""


@given(st.lists(st.text(max_size=3000), max_size=6))
def test_all_that_was_pasted_is_sent(texts: list[str]) -> None:
    atoms, editor = Atoms(), Editor()
    cleaned = [clean_text(text) for text in texts]
    for text in cleaned:
        editor.insert(atoms.paste(text))
    assert atoms.expand(editor.text) == "".join(cleaned)
