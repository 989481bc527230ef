"""Slash commands on an open agent, with a door whose person answers as the test says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd import AgentBusy, CodingAgent, ScriptedModel, SloydError, UsageError
from sloyd.harness.commands import Command, expand_prompt, parse_command, parse_shell, submit
from sloyd.harness.door import HeadlessDoor, NoticeLevel
from sloyd.harness.session_choice import SessionChoice
from sloyd.sessions.export import export_format
from tests.sloyd_process import run, script


class Person(HeadlessDoor):
    """Chooses what a test has told it to, and keeps what it hears."""

    def __init__(self, *choices: int | None, agrees: bool = True) -> None:
        super().__init__("test", self._hear)
        self.choices = list(choices)
        self.agrees = agrees
        self.heard: list[str] = []
        self.offered: list[Sequence[str]] = []
        self.copied = ""

    @property
    def can_ask(self) -> bool:
        return True

    async def confirm(self, title: str, message: str = "") -> bool:
        return self.agrees

    async def select(self, title: str, options: Sequence[str]) -> int | None:
        self.offered.append(options)
        return self.choices.pop(0)

    async def copy(self, text: str) -> bool:
        self.copied = text
        return True

    async def _hear(self, message: str, level: NoticeLevel) -> None:
        self.heard.append(message)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


def count(agent: CodingAgent) -> int:
    return len(agent.messages)


@asynccontextmanager
async def opened(
    directory: Path, *turns: dict[str, Any], door: Person | None = None, **options: Any
) -> AsyncIterator[tuple[CodingAgent, Person]]:
    model = ScriptedModel(turns)
    options.setdefault("session", SessionChoice(kind="new"))
    async with CodingAgent.open(model=model, cwd=directory, **options) as agent:
        person = door or Person()
        agent.door = person
        yield agent, person


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/name", ("name", "")),
        ("  /name  two words ", ("name", "two words")),
        ("/skill:tidy-up all\nof it", ("skill:tidy-up", "all\nof it")),
        ("/name:2 x", ("name:2", "x")),
        ("/etc/hosts is wrong", None),
        ("//", None),
        ("/ name", None),
        ("name", None),
        ("\n/name", None),
        ("what is /name", None),
    ],
)
def test_what_a_command_is(text: str, expected: tuple[str, str] | None) -> None:
    assert parse_command(text) == expected


@given(st.text(max_size=30))
def test_any_text_is_a_command_a_shell_line_or_neither(text: str) -> None:
    parsed, shell = parse_command(text), parse_shell(text)
    assert parsed is None or shell is None
    if parsed is not None:
        assert parse_command(f"/{parsed[0]} {parsed[1]}") == parsed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("!ls -l", ("ls -l", False)),
        ("!! ls", ("ls", True)),
        ("!", None),
        ("!! ", None),
        ("a!", None),
    ],
)
def test_what_a_shell_line_is(text: str, expected: tuple[str, bool] | None) -> None:
    assert parse_shell(text) == expected


async def test_names_sessions_and_messages(home: Path, tmp_path: Path) -> None:
    async with opened(tmp_path, {"text": "first"}, {"text": "second"}) as (agent, door):
        await agent.prompt("one")
        await submit(agent, "/name  My  work", door)
        assert agent.session.name == "My work"
        old = agent.session.id
        await submit(agent, "/new Other", door)
        assert agent.session.id != old
        assert count(agent) == 0
        await agent.prompt("two")
        await submit(agent, "/resume My work", door)
        assert agent.session.id == old
        await submit(agent, "/messages", door)
        assert "user: one" in door.heard[-1]
        await submit(agent, "/session", door)
        assert "1 from you, 1 answers" in door.heard[-1]
        door.choices = [0]
        await submit(agent, "/resume", door)
        assert agent.session.name == "Other"
        assert "Other" in door.offered[-1][0]


async def test_fork_clone_drop_and_restore(home: Path, tmp_path: Path) -> None:
    async with opened(tmp_path, {"text": "a"}, {"text": "b"}) as (agent, door):
        await agent.prompt("first thing")
        await agent.prompt("second thing")
        first = agent.session.id
        await submit(agent, "/clone", door)
        assert agent.session.id != first
        assert count(agent) == 4
        door.choices = [0]
        await submit(agent, "/fork", door)
        assert "second thing" in door.offered[-1][0]
        assert count(agent) == 2
        assert door.heard[-1] == "second thing"
        door.choices = [1]
        await submit(agent, "/drop", door)
        assert count(agent) == 1
        gone = door.heard[-1].split("/restore ")[1].split()[0]
        await submit(agent, f"/restore {gone}", door)
        assert count(agent) == 2
        with pytest.raises(UsageError, match="none of them"):
            await submit(agent, "/fork zzz", door)


async def test_tools_model_and_thinking(home: Path, tmp_path: Path) -> None:
    async with opened(tmp_path) as (agent, door):
        await submit(agent, "/tools +grep,-bash", door)
        assert agent.registry.active_names == ("read", "edit", "write", "grep")
        assert "- bash:" not in agent.agent.system_prompt
        with pytest.raises(UsageError, match='did you mean "grep"'):
            await submit(agent, "/tools +gerp", door)
        await submit(agent, "/thinking low", door)
        assert agent.thinking == "low"
        with pytest.raises(UsageError, match="the levels are"):
            await submit(agent, "/thinking much", door)
        other = script(tmp_path, {"text": "x"})
        await submit(agent, f"/model {other}", door)
        assert agent.model.info.id == other.removeprefix("scripted:")
        assert door.heard[-1].startswith("scripted/")


async def test_undo_and_rewind_take_files_back(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old\n")
    turns = [
        call("write", path="a.txt", content="new\n"),
        {"text": "written"},
        call("bash", command="true"),
        {"text": "ran"},
    ]
    async with opened(tmp_path, *turns) as (agent, door):
        await agent.prompt("write it")
        await submit(agent, "/undo", door)
        assert file.read_text() == "old\n"
        journal = agent.toolbox.journal
        assert journal is not None
        await submit(agent, f"/undo {journal.entries()[-1].id}", door)
        assert file.read_text() == "new\n"
        await agent.prompt("run it")
        door.choices = [1]
        door.agrees = False
        await submit(agent, "/rewind", door)
        assert count(agent) == 8
        door.choices, door.agrees = [1], True
        await submit(agent, "/rewind", door)
        shown = door.heard[-3]
        assert "old" in shown
        assert "true" in shown
        assert file.read_text() == "old\n"
        assert count(agent) == 0
        assert door.heard[-1] == "write it"


async def test_export_and_copy(home: Path, tmp_path: Path) -> None:
    async with opened(tmp_path, {"text": "the answer"}) as (agent, door):
        with pytest.raises(UsageError, match="no answer"):
            await submit(agent, "/copy", door)
        await agent.prompt("hi")
        await submit(agent, "/copy", door)
        assert door.copied == "the answer"
        for name in ("out.md", "out.jsonl", "out.html"):
            await submit(agent, f"/export {name}", door)
            assert b"the answer" in (tmp_path / name).read_bytes()
            assert export_format(tmp_path / name)
        with pytest.raises(UsageError, match="clipboard"):
            await submit(agent, "/copy", HeadlessDoor("test", door.notify))


async def test_an_unknown_command_is_an_error_where_a_person_can_mend_it(
    home: Path, tmp_path: Path
) -> None:
    async with opened(tmp_path) as (agent, door):
        with pytest.raises(UsageError, match="did you mean /session"):
            await submit(agent, "/sesion", door)
        nobody = HeadlessDoor("test", door.notify)
        assert await submit(agent, "/sesion", nobody) == "/sesion"
        assert await submit(agent, "/etc/hosts is wrong", door) == "/etc/hosts is wrong"


async def test_commands_that_change_the_session_wait_for_the_run(
    home: Path, tmp_path: Path
) -> None:
    async with opened(tmp_path, call("bash", command="true"), {"text": "x"}) as (agent, door):
        refused: list[SloydError] = []

        async def during(event: object) -> None:
            if type(event).__name__ == "ToolExecutionStart":
                await submit(agent, "/name during", door)
                for line in ("/new", "/reload", "/compact"):
                    with pytest.raises(AgentBusy) as caught:
                        await submit(agent, line, door)
                    refused.append(caught.value)

        agent.subscribe(during)
        result = await agent.prompt("go")
        assert result.outcome == "done"
        assert len(refused) == 3
        assert agent.session.name == "during"


def resources(directory: Path) -> None:
    skill = directory / "skills" / "tidy" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: tidy\ndescription: Tidy up\n---\nSweep the floor.\n")
    prompts = directory / "prompts"
    prompts.mkdir()
    (prompts / "review.md").write_text(
        "---\ndescription: Look at it\n---\nReview $1 for ${2:-bugs}."
    )
    (prompts / "help.md").write_text("mine")


async def test_templates_and_skills_are_prompts(home: Path, tmp_path: Path) -> None:
    resources(home / ".sloyd")
    async with opened(tmp_path) as (agent, door):
        assert await submit(agent, "/review a.py", door) == "Review a.py for bugs."
        assert await expand_prompt(agent, "/review 'a b' speed") == "Review a b for speed."
        said = await submit(agent, "/skill:tidy the cellar", door)
        assert said is not None
        assert "Sweep the floor." in said
        assert said.endswith("the cellar")
        assert await submit(agent, "/help:1", door) == "mine"
        assert "<name>tidy</name>" in agent.agent.system_prompt
        agent.set_active_tools(["grep"])
        assert "<name>tidy</name>" not in agent.agent.system_prompt


async def test_what_a_door_adds_stays_when_everything_is_read_again(
    home: Path, tmp_path: Path
) -> None:
    async def run(agent: CodingAgent, arguments: str, door: object) -> str:
        return "of the door"

    async with opened(tmp_path) as (agent, door):
        agent.commands.add(Command(name="help", doc="", run=run))
        resources(home / ".sloyd")
        await submit(agent, "/reload", door)
        assert "2 templates" in door.heard[-1]
        assert agent.commands.get("review") is not None
        assert await submit(agent, "/help", door) == "of the door"


def test_templates_work_at_every_door(home: Path, tmp_path: Path) -> None:
    resources(home / ".sloyd")
    (tmp_path / "f.txt").write_text("of the file")
    echo = Path(__file__).parents[2] / "examples" / "provider.py"
    words = ["-e", str(echo), "--model", "echo/plain"]
    plain = run("-p", "/review x", *words, cwd=tmp_path)
    assert plain.stdout == b"Review x for bugs.\n"
    events = run("--mode", "json", "/review x", *words, cwd=tmp_path).stdout
    assert b"Review x for bugs." in events
    both = run("-p", "@f.txt", "/review x", *words, cwd=tmp_path)
    assert b"of the file" in both.stdout
    assert both.stdout.endswith(b"Review x for bugs.\n")


def test_what_a_pipe_brings_is_no_command(home: Path, tmp_path: Path) -> None:
    echo = Path(__file__).parents[2] / "examples" / "provider.py"
    words = ["-p", "-e", str(echo), "--model", "echo/plain"]
    done = run(*words, cwd=tmp_path, stdin=b"/trust yes")
    assert done.stdout.strip() == b"/trust yes"
    assert not (home / ".sloyd" / "trust.json").exists()


def test_a_command_in_print_mode_writes_its_words_and_needs_no_model_turn(
    home: Path, tmp_path: Path
) -> None:
    model = script(tmp_path)
    done = run("-p", "/name Chosen", "--model", model, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"this session is called Chosen\n")
    wrong = run("-p", "/thinking much", "--model", model, cwd=tmp_path)
    assert wrong.returncode == 2
    assert b"the levels are" in wrong.stderr
