"""The key table and the file that changes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sloyd.modes.tui.key_table import ACTIONS
from sloyd.modes.tui.keys import KeyMap, key_name, load_keys, shown_key
from sloyd.modes.tui.literal_paste import LiteralPasteParser
from sloyd.modes.tui.terminal_keys import teach_keys


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        ("ctrl+]", "ctrl+right_square_bracket"),
        ("shift+ctrl+p", "ctrl+shift+p"),
        ("Ctrl+Alt+X", "alt+ctrl+x"),
        ("shift+l", "L"),
        ("L", "L"),
        ("alt+/", "alt+slash"),
        ("ctrl++", "ctrl+plus"),
        ("+", "plus"),
        ("F5", "f5"),
        ("esc", "escape"),
        ("pgup", "pageup"),
        ("super+k", "super+k"),
    ],
)
def test_keys_are_named_as_events_name_them(spelled: str, name: str) -> None:
    assert key_name(spelled) == name


@pytest.mark.parametrize("spelled", ["", "fo", "hyp+x", "ctrl+", "f99", "ctrl+shift"])
def test_what_is_no_key_is_refused(spelled: str) -> None:
    with pytest.raises(ValueError, match="no key"):
        key_name(spelled)


def test_every_default_key_is_one_and_shows_as_itself() -> None:
    for action in ACTIONS:
        for key in action.keys:
            assert key_name(shown_key(key_name(key))) == key_name(key)


def test_a_key_given_away_is_lost_to_its_default_where_both_are_heard() -> None:
    keys = KeyMap({"app.exit": ["ctrl+l"]})
    assert keys.action("ctrl+l", "app") == "app.exit"
    assert keys.keys("model.pick") == ()
    assert keys.keys("tree.labelled") == ("ctrl+l",)
    assert keys.problems == []


def test_an_empty_list_takes_a_key_away() -> None:
    keys = KeyMap({"app.suspend": []})
    assert keys.action("ctrl+z", "app") is None
    assert keys.shown("app.suspend") == ""


def test_conflicts_are_named_and_the_first_keeps_the_key() -> None:
    keys = KeyMap({"model.pick": "f2", "app.exit": ["f2", "f3"]})
    assert keys.action("f2", "app") == "model.pick"
    assert keys.keys("app.exit") == ("f3",)
    assert "f2" in keys.problems[0]
    assert "model.pick" in keys.problems[0]
    assert "app.exit" in keys.problems[0]


def test_the_file_may_use_tables_or_dotted_names(tmp_path: Path) -> None:
    path = tmp_path / "keybindings.toml"
    path.write_text('"model.pick" = ["f2"]\n[app]\nexit = "f3"\n')
    keys = load_keys(path)
    assert keys.problems == []
    assert (keys.keys("model.pick"), keys.keys("app.exit")) == (("f2",), ("f3",))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"model.pik" = "f2"', "did you mean model.pick?"),
        ('"model.pick" = 3', "a key or a list of keys"),
        ('"model.pick" = "fooo"', "no key"),
        ("= broken", "cannot be read"),
    ],
)
def test_mistakes_in_the_file_are_told_and_the_rest_holds(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "keybindings.toml"
    path.write_text(text)
    keys = load_keys(path)
    assert any(words in problem for problem in keys.problems)
    assert keys.action("ctrl+t", "app") == "thinking.toggle"


def test_no_file_means_the_defaults(tmp_path: Path) -> None:
    keys = load_keys(tmp_path / "none.toml")
    assert keys.problems == []
    assert keys.action("ctrl+shift+p", "app") == keys.action("shift+ctrl+p", "app")


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        ("\x1b\r", "alt+enter"),
        ("\x1b\x7f", "alt+backspace"),
        ("\x1b/", "alt+slash"),
        ("\x1b[13;2u", "shift+enter"),
        ("\x1b[1;3A", "alt+up"),
        ("\n", "ctrl+j"),
        ("\x1f", "ctrl+underscore"),
    ],
)
def test_terminals_without_a_keyboard_protocol_send_our_keys_too(sent: str, key: str) -> None:
    teach_keys()
    events = list(LiteralPasteParser().feed(sent))
    assert [getattr(event, "key", None) for event in events] == [key]


def test_keys_that_come_without_a_name_are_known_all_the_same() -> None:
    (event,) = LiteralPasteParser().feed("\x1b[27;2;13~")
    assert KeyMap().action(getattr(event, "key", ""), "composer") == "input.newline"
