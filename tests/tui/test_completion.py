"""Completion: what is completed, from which files, and what Enter, Tab and Escape do about it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from sloyd.harness.settings import Settings, ToolsSettings
from sloyd.modes.tui.completion import (
    ArgumentTarget,
    CommandTarget,
    FileTarget,
    PathTarget,
    find_target,
    path_choice,
)
from sloyd.modes.tui.completion_files import FileList, path_steps
from tests.tui.composing import ComposerApp, composing, open_agent


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    for name in ("src/main.py", "src/my file.py", "docs/読書.md", "build/out.bin", "src/deep/x.py"):
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (directory / ".gitignore").write_text("build/\n")
    return directory


async def settle(pilot: Pilot[None]) -> None:
    """Until the menu has its choices: files are listed in a thread."""
    app = pilot.app
    assert isinstance(app, ComposerApp)
    await pilot.pause()
    while app.composer.is_completing:
        await pilot.pause(0.01)
    await pilot.pause()


async def write(pilot: Pilot[None], text: str) -> None:
    for character in text:
        name = {"\n": "ctrl+j", " ": "space"}.get(character, character)
        pilot.app.post_message(events.Key(name, character))
    await settle(pilot)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("/", CommandTarget(0, 1, "")),
        ("/co", CommandTarget(0, 3, "co")),
        ("/etc/hosts", None),
        ("say /co", None),
        ("/model gpt", ArgumentTarget(7, 10, "model", "gpt")),
        ("@", FileTarget(0, 1, "")),
        ("see @src/ma", FileTarget(4, 11, "src/ma")),
        ("(@x", FileTarget(1, 3, "x")),
        ("mail me@home", None),
        ('see @"my fi', FileTarget(4, 11, "my fi")),
        ("@x done", None),
        ("@~/do", PathTarget(0, 5, "~/do", is_mention=True)),
        ("@../", PathTarget(0, 4, "../", is_mention=True)),
        ("/model @x", FileTarget(7, 9, "x")),
        ("!cat @x", FileTarget(5, 7, "x", is_shell=True)),
        ("!cat @~/x", PathTarget(5, 9, "~/x")),
        ("plain", None),
    ],
)
def test_what_is_completed_while_typing(text: str, target: object) -> None:
    assert find_target(text, len(text)) == target


@pytest.mark.parametrize(
    ("text", "start", "query"),
    [
        ("cat src/ma", 4, "src/ma"),
        ("!cat", 1, "cat"),
        ("!!./run", 2, "./run"),
        ('cat "my fi', 4, "my fi"),
        ("cat 'my fi", 4, "my fi"),
        ("cat my\\ fi", 4, "my fi"),
        ("it's src/ma", 5, "src/ma"),
        ("a\nb 読", 4, "読"),
        ("a=src/", 2, "src/"),
    ],
)
def test_what_is_completed_with_tab(text: str, start: int, query: str) -> None:
    assert find_target(text, len(text), asked=True) == PathTarget(start, len(text), query)


@pytest.mark.parametrize(
    ("path", "insert"),
    [
        ("src/main.py", "@src/main.py "),
        ("src/my file.py", '@"src/my file.py" '),
        ("my dir/", '@"my dir/'),
        ("src/", "@src/"),
        ("docs/読書.md", "@docs/読書.md "),
        ("it's", '@"it\'s" '),
    ],
)
def test_a_mention_is_quoted_where_it_must_be(path: str, insert: str) -> None:
    assert path_choice(path, is_mention=True).insert == insert


def test_steps_of_a_path(cwd: Path) -> None:
    def steps(query: str) -> list[str]:
        found = path_steps(str(cwd), str(cwd), query, is_mention=False)
        return [choice.label for choice in found]

    assert steps("s") == ["src/"]
    assert steps("src/m") == ["src/main.py", "src/my file.py"]
    assert steps("~/doc") == ["~/docs/"]
    assert steps("docs/読") == ["docs/読書.md"]
    assert steps(f"{cwd}/bu") == [f"{cwd}/build/"]
    assert steps("nowhere/x") == []
    assert ".gitignore" not in steps("")
    assert steps(".g") == [".gitignore"]


@pytest.mark.parametrize("program", [None, "python"])
async def test_files_are_those_that_no_rule_hides(cwd: Path, program: str | None) -> None:
    settings = Settings(tools=ToolsSettings(search_program=program))
    async with open_agent(cwd, settings) as agent:
        files = FileList(agent.toolbox.environment)
        labels = {choice.label for choice in await files.search("")}
        await files.close()
    assert labels == {
        *("src/", "docs/", "src/deep/", ".gitignore", "src/main.py", "src/my file.py"),
        *("docs/読書.md", "src/deep/x.py"),
    }


@pytest.fixture
def many_files(tmp_path: Path) -> Path:
    """A directory with 100,000 files."""
    make = (
        "for d in 0 1 2 3 4 5 6 7 8 9; do mkdir module$d; "
        "(cd module$d; seq -f 'file_%05.0f.py' 1 10000 | xargs touch); done"
    )
    subprocess.run(["sh", "-c", make], cwd=tmp_path, check=True)
    return tmp_path


async def test_a_hundred_thousand_files(many_files: Path) -> None:
    (many_files / "module7" / "needle_in_hay.py").touch()
    async with open_agent(many_files) as agent:
        files = FileList(agent.toolbox.environment)
        assert (await files.search("needhay"))[0].label == "module7/needle_in_hay.py"
        assert (await files.search("module3/file_04321"))[0].label == "module3/file_04321.py"
        assert len(await files.search("file")) == 50
        assert await files.search("zzz") == []
        await files.close()


async def test_enter_on_a_menu_accepts_and_does_not_send(cwd: Path) -> None:  # C12-08
    async with composing(cwd) as (app, pilot):
        await write(pilot, "see @myfi")
        assert app.composer.completions[0] == "src/my file.py"
        await pilot.press("enter")
        assert app.composer.text == 'see @"src/my file.py" '
        assert app.texts == []
        await settle(pilot)
        assert app.composer.completions == []
        await pilot.press("enter")
        assert app.texts == ['see @"src/my file.py"']


async def test_escape_closes_the_menu_first(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        await write(pilot, "@main")
        await pilot.press("escape")
        assert app.composer.completions == []
        assert app.interrupts == 0
        await write(pilot, ".")
        assert app.composer.completions == []  # it stays closed for this word
        await pilot.press("escape")
        assert app.interrupts == 1
        await write(pilot, " @main")
        assert app.composer.completions == ["src/main.py"]


async def test_a_directory_leads_on(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        await write(pilot, "@src/")
        labels = app.composer.completions
        assert {"src/main.py", "src/deep/x.py"} <= set(labels)
        await write(pilot, "de")
        await pilot.press("enter")
        await settle(pilot)
        assert app.composer.text == "@src/deep/"
        assert "src/deep/x.py" in app.composer.completions


async def test_tab_goes_as_far_as_all_agree(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        await write(pilot, "!cat sr")
        await pilot.press("tab")
        await settle(pilot)
        assert app.composer.text == "!cat src/"
        await pilot.press("tab")
        await settle(pilot)
        assert app.composer.completions == ["src/deep/", "src/main.py", "src/my file.py"]
        await write(pilot, "my")
        assert app.composer.completions == ["src/my file.py"]
        await pilot.press("tab")
        assert app.composer.text == '!cat "src/my file.py" '


async def test_commands_are_offered_with_their_arguments(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        await write(pilot, "/compa")
        assert app.composer.completions[0].startswith("/compact")
        await pilot.press("tab")
        assert app.composer.text == "/compact "
        await settle(pilot)
        shown = "\n".join(app.screen_lines)
        assert "/compact [" in shown


async def test_a_whole_command_is_sent_at_once(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        await write(pilot, "/session")
        assert app.composer.completions
        await pilot.press("enter")
        assert app.texts == ["/session"]


async def test_a_file_in_a_shell_line_is_its_path(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        await write(pilot, "!cat @myfile")
        await pilot.press("enter", "enter")
        assert app.texts == ['!cat "src/my file.py"']


async def test_keys_that_come_at_once_find_the_menu(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        for key in ("/", "c", "o", "m", "p", "a"):
            app.post_message(events.Key(key, key))
        app.post_message(events.Key("enter", "\r"))
        await pilot.pause()
        assert app.texts == []
        assert app.composer.text == "/compact "


async def test_an_old_command_opens_no_menu(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        for text in ("first", "/session"):
            await write(pilot, text)
            await pilot.press("enter")
        await pilot.press("up")
        await settle(pilot)
        assert app.composer.text == "/session"
        assert app.composer.completions == []
        await pilot.press("up")
        assert app.composer.text == "first"


async def test_the_menu_moves_in_a_circle(cwd: Path) -> None:
    async with composing(cwd) as (app, pilot):
        await write(pilot, "@.py")
        labels = app.composer.completions
        assert len(labels) == 3
        await pilot.press("up", "enter")
        assert app.composer.text.startswith("@")
        assert labels[2] in app.composer.text
