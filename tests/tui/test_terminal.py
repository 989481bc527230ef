"""The real thing: ``sloyd`` in a pseudo-terminal with a server, and the terminal afterwards."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.servers import ProviderServer, chat
from tests.tui.pseudo_terminal import PseudoTerminal

PLACEHOLDER = "Ask for something"
ENTER, ESCAPE, CONTROL_D = "\r", "\x1b", "\x04"


PROGRAM = [sys.executable, "-c", "import sys; from sloyd.cli.main import main; sys.exit(main())"]


@contextmanager
def running(
    cwd: Path,
    arguments: Sequence[str] = (),
    *,
    size: tuple[int, int] = (80, 24),
    term: str = "xterm-256color",
    shell: str | None = None,
) -> Iterator[PseudoTerminal]:
    """``sloyd`` with these arguments; ``shell`` is a script that has it for ``$SLOYD``."""
    program = [*PROGRAM, *arguments]
    environment = {
        **{name: value for name, value in os.environ.items() if name != "NO_COLOR"},
        "TERM": term,
        "SLOYD_HOME": str(cwd / "home"),
        "OPENAI_API_KEY": "key",
        # Exported by some shells, and wrong as soon as the window has another size.
        "COLUMNS": "133",
        "LINES": "7",
    }
    if shell is not None:
        script = cwd / "start.sh"
        script.write_text(f"exec {shlex.join(program)}\n")
        environment["SLOYD"] = str(script)
        program = ["sh", "-mc", shell]
    terminal = PseudoTerminal(program, cwd, environment, size=size)
    try:
        yield terminal
    finally:
        terminal.close()


def model_arguments(server: ProviderServer) -> list[str]:
    return ["--model", "openai/m", "--base-url", server.base_url("openai-chat")]


def assert_restored(terminal: PseudoTerminal) -> None:
    """Nothing is left of the screen: modes, keyboard, echo."""
    left = terminal.screen.modes & {1000, 1002, 1003, 1004, 1006, 1015, 1049, 2004, 2026}
    assert left == set()
    assert terminal.screen.keyboard == 0
    assert terminal.output.rfind("\x1b[?25h") > terminal.output.rfind("\x1b[?25l")
    assert terminal.settings == terminal.before


def test_a_whole_task_from_the_prompt_to_the_next_day(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def old():\n    pass\n")
    edit = {"path": "a.py", "edits": [{"oldText": "def old", "newText": "def new"}]}
    with ProviderServer(
        chat(text="I look.", calls=[("read", {"path": "a.py"}), ("bash", {"command": "echo hi"})]),
        chat(calls=[("edit", edit)]),
        chat(text="It is **done**."),
        replace(chat(text="Slow."), chunks=chat(text="Slow.").chunks[:2], ending="hang"),
        chat(text="Still here."),
    ) as server:
        with running(tmp_path, model_arguments(server)) as terminal:
            terminal.until_shown(PLACEHOLDER)
            terminal.type("rename it" + ENTER)
            terminal.until_shown("It is done.")
            terminal.until_shown("+1 def new():")
            shown = terminal.screen.text
            assert "❯ rename it" in shown
            assert "● read a.py" in shown
            assert "● $ echo hi" in shown
            assert "-1 def old():" in shown
            assert "+1 def new():" in shown
            terminal.type("go on" + ENTER)
            terminal.until_shown("esc stops")
            terminal.until(lambda _: len(server.requests) == 4, "the request")
            terminal.type(ESCAPE)
            terminal.until_shown("interrupted")
            terminal.type(CONTROL_D)
            assert terminal.wait() == 0
            assert_restored(terminal)
            # The end of the talk stays on the terminal's own screen.
            assert "interrupted" in terminal.screen.text
            assert "sloyd --session" in terminal.screen.text
        assert (tmp_path / "a.py").read_text() == "def new():\n    pass\n"
        with running(tmp_path, [*model_arguments(server), "--continue"]) as terminal:
            terminal.until_shown("It is done.")
            terminal.until_shown("interrupted")
            terminal.type("and now?" + ENTER)
            terminal.until_shown("Still here.")
            terminal.type("/quit" + ENTER)
            assert terminal.wait() == 0
            assert_restored(terminal)
        sent = server.requests[-1].body.decode()
        assert all(words in sent for words in ("rename it", "It is **done**.", "and now?"))


def test_what_is_typed_before_the_start_is_sent(tmp_path: Path) -> None:
    with (
        ProviderServer(chat(text="Heard you.")) as server,
        running(tmp_path, model_arguments(server)) as terminal,
    ):
        terminal.until_shown("╭")
        terminal.type("early bird" + ENTER)
        terminal.until_shown("Heard you.")
        assert "❯ early bird" in terminal.screen.text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_restores_the_terminal_and_stops_the_work(
    tmp_path: Path, number: signal.Signals
) -> None:
    call = ("bash", {"command": "echo $$ > pid; sleep 60"})
    with (
        ProviderServer(chat(calls=[call])) as server,
        running(tmp_path, model_arguments(server)) as terminal,
    ):
        terminal.until_shown(PLACEHOLDER)
        terminal.type("begin" + ENTER)
        terminal.until(lambda _: (tmp_path / "pid").exists(), "the command")
        terminal.signal(number)
        assert terminal.wait() == 128 + number
        assert_restored(terminal)
        process = int((tmp_path / "pid").read_text())
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_suspend_gives_the_terminal_back_and_resume_draws_again(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text("[]")
    shell = 'sh "$SLOYD"; echo IN THE SHELL; read line; fg; echo LEFT $?'
    with running(tmp_path, ["--model", f"scripted:{script}"], shell=shell) as terminal:
        terminal.until_shown(PLACEHOLDER)
        terminal.type("draft\x1a")
        terminal.until_shown("IN THE SHELL")
        assert 1049 not in terminal.screen.modes
        assert terminal.screen.keyboard == 0
        terminal.type("\n")
        terminal.until_shown("│ draft")
        terminal.until_shown("· medium")  # the footer, which nothing else would draw again
        terminal.type("\x03")
        terminal.until_shown(PLACEHOLDER)
        terminal.type(CONTROL_D)
        terminal.until_shown("LEFT 0")
        assert_restored(terminal)


@pytest.mark.parametrize("size", [(40, 20), (20, 10)])
def test_small_terminals_show_what_matters(tmp_path: Path, size: tuple[int, int]) -> None:
    with (
        ProviderServer(chat(text="日本語 and 👩‍👩‍👧 and more words than fit " * 3)) as server,
        running(tmp_path, model_arguments(server), size=size) as terminal,
    ):
        terminal.until_shown("Ask for")
        terminal.type("go" + ENTER)
        terminal.until_shown("日本語")
        assert len(terminal.screen.text.split("\n")) == size[1]


def test_another_size_is_drawn_anew(tmp_path: Path) -> None:
    with (
        ProviderServer(chat(text="word " * 40 + "last")) as server,
        running(tmp_path, model_arguments(server)) as terminal,
    ):
        terminal.until_shown(PLACEHOLDER)
        terminal.type("go" + ENTER)
        terminal.until_shown("last")
        terminal.screen.width, terminal.screen.height = 50, 20
        terminal.screen._other = terminal.screen._empty()
        terminal.resize(50, 20)
        terminal.until(
            lambda screen: "last" in screen.text and "╮" in screen.text.split("\n")[-5][49:50],
            "the smaller screen",
        )


def test_standard_error_may_go_elsewhere_and_the_title_says_where_we_are(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text("[]")
    with running(
        tmp_path, ["--model", f"scripted:{script}"], shell='sh "$SLOYD" 2>errors.txt'
    ) as terminal:
        terminal.until_shown(PLACEHOLDER)
        terminal.until(lambda screen: bool(screen.titles), "the title")
        terminal.type("/quit" + ENTER)
        assert terminal.wait() == 0
    assert terminal.screen.titles[0] == f"{tmp_path.name} - sloyd"
    assert (tmp_path / "errors.txt").read_text() == ""


@pytest.mark.parametrize("how", ["flag", "dumb"])
def test_plain_lines_where_a_screen_is_not_wanted_or_not_there(tmp_path: Path, how: str) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"text": "Plainly."}]')
    arguments = ["--model", f"scripted:{script}", *(["--plain"] if how == "flag" else [])]
    term = "dumb" if how == "dumb" else "xterm"
    with running(tmp_path, arguments, term=term) as terminal:
        terminal.until(lambda screen: screen.text.rstrip().endswith("\n>"), "the prompt")
        terminal.type("hi\n")
        terminal.until_shown("Plainly.")
        assert "\x1b[?1049h" not in terminal.output
        terminal.type(CONTROL_D)
        assert terminal.wait() == 0


def test_a_start_that_fails_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    with running(tmp_path, ["--model", "scripted:none.json"]) as terminal:
        assert terminal.wait() == 2
        assert "none.json" in terminal.screen.text
        assert_restored(terminal)


def test_a_locale_without_letters_has_a_whole_screen(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"text": "an answer \\u4e16\\u754c"}]')
    shell = 'PYTHONUTF8=0 LC_ALL=POSIX sh "$SLOYD"'
    with running(tmp_path, ["--model", f"scripted:{script}"], shell=shell) as terminal:
        terminal.until_shown(PLACEHOLDER)
        terminal.type("caf\u00e9\r")
        terminal.until_shown("an answer 世界")
        assert "café" in terminal.screen.text
        terminal.type(CONTROL_D)


@pytest.mark.parametrize("busy", [False, True])
def test_nothing_lives_on_when_the_terminal_goes_away(tmp_path: Path, busy: bool) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"calls": [{"name": "bash", "arguments": {"command": "sleep 60"}}]}]')
    with running(tmp_path, ["--model", f"scripted:{script}"]) as terminal:
        terminal.until_shown(PLACEHOLDER)
        if busy:
            terminal.type("begin" + ENTER)
            terminal.until_shown("sleep 60")
        terminal.hang_up()
