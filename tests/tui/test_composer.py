"""The composer, by its keys and on the screen."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PIL import Image as Picture
from rich.cells import cell_len
from textual import events
from textual.pilot import Pilot

from sloyd.harness.settings import DisplaySettings, Settings
from sloyd.modes.tui.keys import KeyMap
from tests.tui.composing import ComposerApp, composing

FAMILY = "👨‍👩‍👧‍👦"
LONG = "\n".join(f"line {number}" for number in range(42))


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    directory.mkdir()
    return directory


async def paste(app: ComposerApp, pilot: Pilot[None], text: str) -> None:
    app.post_message(events.Paste(text))
    await pilot.pause()
    await app.workers.wait_for_complete()
    await pilot.pause()


async def write(pilot: Pilot[None], text: str) -> None:
    """Type a text, faster than one key after the other."""
    for character in text:
        names = {"\n": "ctrl+j", " ": "space"}
        pilot.app.post_message(events.Key(names.get(character, character), character))
    await pilot.pause()


async def test_enter_sends_and_empties(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        await write(pilot, "hello there")
        await pilot.press("enter", "enter")
        assert app.texts == ["hello there"]
        assert app.composer.text == ""
        assert not app.sent[0].follow_up


@pytest.mark.parametrize("key", ["shift+enter", "ctrl+j"])
async def test_new_lines(cwd: Path, key: str) -> None:
    async with composing(cwd) as (app, pilot):
        await pilot.press("a", key, "b", "\\", "enter", "c", "enter")
        assert app.texts == ["a\nb\nc"]


async def test_a_whole_family_is_deleted_at_once(cwd: Path) -> None:  # C12-01
    async with composing(cwd) as (app, pilot):
        for character in f"a{FAMILY}":
            app.composer.area.post_message(events.Key("unknown", character))
        await pilot.pause()
        assert app.composer.text == f"a{FAMILY}"
        await pilot.press("backspace")
        assert app.composer.text == "a"


async def test_a_large_paste_is_folded_and_sent_whole(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        await write(pilot, "see ")
        await paste(app, pilot, LONG.replace("\n", "\r"))
        assert "see [paste #1 +42 lines]" in "\n".join(app.screen_lines)
        assert app.composer.text == f"see {LONG}"
        await pilot.press("enter")
        assert app.texts == [f"see {LONG}"]


async def test_a_deleted_paste_and_a_typed_marker(cwd: Path) -> None:  # C12-03
    async with composing(cwd) as (app, pilot):
        await paste(app, pilot, LONG)
        await paste(app, pilot, LONG.upper())
        await pilot.press("home", "delete")
        await pilot.press("end")
        await write(pilot, " [paste #1 +42 lines]")
        await pilot.press("enter")
        assert app.texts == [f"{LONG.upper()} [paste #1 +42 lines]"]


async def test_a_follow_up_holds_the_paste(cwd: Path) -> None:  # C12-04
    async with composing(cwd) as (app, pilot):
        await paste(app, pilot, LONG)
        await pilot.press("alt+enter")
        assert app.texts == [LONG]
        assert app.sent[0].follow_up


async def test_a_paste_is_literal(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        await paste(app, pilot, "/help\n\ttab @x !y\n")
        assert app.composer.text == "/help\n\ttab @x !y\n"
        assert app.composer.completions == []
        assert app.sent == []


async def test_keys_that_come_at_once_are_all_taken(cwd: Path) -> None:  # C12-05
    async with composing(cwd) as (app, pilot):
        for character in "quick brown" * 20:
            app.post_message(events.Key(character, character))
        app.post_message(events.Key("enter", "\r"))
        await pilot.pause()
        assert app.texts == ["quick brown" * 20]


async def test_alt_with_a_letter_writes_nothing(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        await write(pilot, "one two")
        app.post_message(events.Key("alt+b", "b"))
        app.post_message(events.Key("alt+q", "q"))
        await pilot.pause()
        await pilot.press("X")
        assert app.composer.text == "one Xtwo"


async def test_history_comes_back_and_so_does_the_draft(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        await write(pilot, "first")
        await pilot.press("enter")
        await write(pilot, "second")
        await pilot.press("enter")
        await paste(app, pilot, LONG)
        await pilot.press("up", "up")
        assert app.composer.text == "first"
        await pilot.press("down", "down")
        assert app.composer.text == LONG
        assert "[paste #1" in "\n".join(app.screen_lines)
    async with composing(cwd) as (app, pilot):
        assert app.composer.text == LONG  # it was a draft
        await pilot.press("ctrl+u", "ctrl+u")
        app.composer.set_text("")
        await pilot.press("up")
        assert app.composer.text == "second"


async def test_up_moves_in_the_text_before_it_leaves_it(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        await write(pilot, "old")
        await pilot.press("enter")
        await write(pilot, "one\ntwo")
        await pilot.press("up", "X")
        assert app.composer.text == "oneX\ntwo"
        await pilot.press("up")
        assert app.composer.text == "old"


async def test_history_is_searched(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        for text in ("fix the parser", "write tests", "fix the lexer"):
            await write(pilot, text)
            await pilot.press("enter")
        await pilot.press("ctrl+r")
        await write(pilot, "FIX")
        await pilot.press("down", "enter")
        assert app.composer.text == "fix the parser"
        await pilot.press("ctrl+r", "escape")
        assert app.composer.text == "fix the parser"
        assert app.interrupts == 0


async def test_it_grows_to_a_third_and_then_scrolls(cwd: Path) -> None:
    async with composing(cwd, size=(40, 30)) as (app, pilot):
        assert app.composer.size.height == 3
        app.composer.set_text("\n".join(f"row {n}" for n in range(9)))
        await pilot.pause()
        assert app.composer.size.height == 11
        app.composer.set_text("\n".join(f"row {n}" for n in range(40)))
        await pilot.pause()
        assert app.composer.size.height == 12
        shown = "\n".join(app.screen_lines)
        assert "row 39" in shown
        assert "row 29" not in shown
        for _ in range(39):
            app.post_message(events.Key("up", None))
        await pilot.pause()
        assert "row 0" in "\n".join(app.screen_lines)


async def test_wide_text_never_overflows(cwd: Path) -> None:
    async with composing(cwd, size=(20, 20)) as (app, pilot):
        app.composer.set_text("漢字" * 20 + FAMILY * 10 + "e\u0301" * 40)
        await pilot.pause()
        assert all(cell_len(line) <= 20 for line in app.screen_lines)
        app.composer.area.editor.text_start()
        await pilot.pause()
        assert all(cell_len(line) <= 20 for line in app.screen_lines)
        assert app.screen_lines[1] == "│ 漢字漢字漢字漢   │"


async def test_escape_interrupts_and_alt_up_takes_back(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        await pilot.press("escape", "alt+up")
        assert (app.interrupts, app.taken_back) == (1, 1)


async def test_waiting_messages_are_shown(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        app.composer.set_queue(["one\nmore", "two", "three", "four"])
        await pilot.pause()
        shown = "\n".join(app.screen_lines)
        assert "↳ one more" in shown
        assert "and 1 more" in shown
        assert "alt+up takes them back" in shown
        app.composer.set_queue([])
        await pilot.pause()
        assert "alt+up" not in "\n".join(app.screen_lines)


async def test_keys_can_be_others(cwd: Path) -> None:
    keys = KeyMap({"input.submit": "ctrl+s", "input.newline": ["enter"]})
    async with composing(cwd, keys=keys) as (app, pilot):
        await pilot.press("a", "enter", "b", "ctrl+s")
        assert app.texts == ["a\nb"]


async def test_the_draft_is_gone_when_it_was_sent(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        await write(pilot, "sent")
        await pilot.press("enter")
    async with composing(cwd) as (app, pilot):
        assert app.composer.text == ""


async def test_an_external_editor_gets_pastes_unfolded(cwd: Path) -> None:
    script = cwd / "editor.py"
    script.write_text(
        "import sys, pathlib\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "text = path.read_text()\n"
        "path.write_text(text.replace('line 41', 'LAST') + '\\n')\n"
    )
    editor = f"{sys.executable} '{script}'"
    settings = Settings(display=DisplaySettings(editor=editor))
    async with composing(cwd, settings=settings) as (app, pilot):
        await paste(app, pilot, LONG)
        await pilot.press("ctrl+g")
        await app.workers.wait_for_complete()
        assert app.composer.text == LONG.replace("line 41", "LAST")


async def test_a_missing_editor_is_told(cwd: Path) -> None:
    settings = Settings(display=DisplaySettings(editor="/nowhere/editor"))
    async with composing(cwd, settings=settings) as (app, pilot):
        await write(pilot, "kept")
        await pilot.press("ctrl+g")
        await app.workers.wait_for_complete()
        assert app.composer.text == "kept"
        assert any("/nowhere/editor" in str(note.message) for note in app._notifications)


@pytest.mark.parametrize("form", ["{}", "'{}'", "escaped", "file://{}"])
async def test_a_dropped_image_is_attached(cwd: Path, form: str) -> None:
    picture = cwd / "my shot.png"
    Picture.new("RGB", (4, 4), "red").save(picture)
    text = str(picture).replace(" ", "\\ ") if form == "escaped" else form.format(picture)
    async with composing(cwd) as (app, pilot):
        await write(pilot, "what is ")
        await paste(app, pilot, text + " ")
        await pilot.press("?", "enter")
        assert app.texts == ["what is [image #1 my shot.png]?"]
        assert [image.mime_type for image in app.sent[0].images] == ["image/png"]


async def test_a_file_that_only_looks_like_an_image_is_its_path(cwd: Path) -> None:
    (cwd / "no.png").write_text("text")
    async with composing(cwd) as (app, pilot):
        await paste(app, pilot, str(cwd / "no.png"))
        assert app.composer.text == str(cwd / "no.png")
        await paste(app, pilot, " and /nowhere/x.png")
        assert app.composer.text.endswith("/nowhere/x.png")


async def test_the_clipboard_tool_gives_an_image_or_a_text(
    cwd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Picture.new("RGB", (4, 4), "red").save(cwd / "clip.png")
    tool = tmp_path / "bin" / "xclip"
    tool.parent.mkdir()
    tool.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        f"  *TARGETS*) cat '{tmp_path}/types';;\n"
        f"  *image/png*) cat '{cwd}/clip.png';;\n"
        "  *) printf 'some text';;\n"
        "esac\n"
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    monkeypatch.setenv("DISPLAY", ":9")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    async with composing(cwd) as (app, pilot):
        for types in ("TARGETS\nimage/png\n", "TARGETS\nUTF8_STRING\n"):
            (tmp_path / "types").write_text(types)
            await pilot.press("ctrl+v")
            await app.workers.wait_for_complete()
        await pilot.press("enter")
        assert app.texts == ["[image #1]some text"]
        assert len(app.sent[0].images) == 1
