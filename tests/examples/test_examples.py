"""Each example, loaded by the real ``sloyd`` or by a program, doing what its page promises."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sloyd import CodingAgent, ScriptedModel, ToolResult, ToolResultMessage
from sloyd.harness.door import HeadlessDoor, NoticeLevel
from sloyd.llm.messages import text_of
from sloyd.tools.definition import RenderState
from tests.project.sources import ROOT
from tests.sloyd_process import lines_of, run, script

EXAMPLES = ROOT / "examples"


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


def results(output: bytes) -> list[tuple[str, bool]]:
    """The text of each result on the JSON door, and whether it is an error."""
    return [
        (event["content"][0]["text"], event["isError"])
        for event in lines_of(output)
        if event["type"] == "tool_execution_end"
    ]


def play(
    directory: Path, example: str, *turns: dict[str, Any], words: Sequence[str] = ()
) -> list[tuple[str, bool]]:
    model = script(directory, *turns, {"text": "Done."})
    extension = str(EXAMPLES / f"{example}.py")
    done = run("--mode", "json", "-e", extension, "--model", model, "go", *words, cwd=directory)
    assert done.returncode == 0, done.stderr
    return results(done.stdout)


class Person(HeadlessDoor):
    """A door whose person always answers the same."""

    def __init__(self, answer: bool) -> None:
        super().__init__("test", self._hear)
        self.answer = answer
        self.asked: list[str] = []

    @property
    def can_ask(self) -> bool:
        return True

    async def confirm(self, title: str, message: str = "") -> bool:
        self.asked.append(message)
        return self.answer

    async def _hear(self, message: str, level: NoticeLevel) -> None:
        self.asked.append(message)


def results_of(agent: CodingAgent) -> list[str]:
    return [text_of(m.content) for m in agent.messages if isinstance(m, ToolResultMessage)]


def test_the_gate_runs_nothing_harmful_where_nobody_can_be_asked(
    home: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("text")
    (harmful, harmless) = play(
        tmp_path,
        "permission_gate",
        call("bash", command="rm -rf kept.txt"),
        call("bash", command="cat kept.txt"),
    )
    assert harmful[1]
    assert "permission" in harmful[0]
    assert harmless == ("text", False)
    assert kept.exists()


def test_the_gate_lets_through_what_its_switch_names(home: Path, tmp_path: Path) -> None:
    (tmp_path / "gone.txt").write_text("")
    turn = call("bash", command="rm -f gone.txt")
    words = ["--gate-allow", "sudo true; rm -f gone.txt"]
    ((_, failed),) = play(tmp_path, "permission_gate", turn, words=words)
    assert not failed
    assert not (tmp_path / "gone.txt").exists()


@pytest.mark.parametrize("answer", [True, False])
async def test_the_gate_does_as_the_person_says_and_asks_once(tmp_path: Path, answer: bool) -> None:
    (tmp_path / "one").write_text("")
    turn = call("bash", command="rm -f one")
    model = ScriptedModel([turn, turn, {"text": "Done."}])
    extension = EXAMPLES / "permission_gate.py"
    async with CodingAgent.open(model=model, cwd=tmp_path, extensions=[extension]) as agent:
        person = Person(answer)
        agent.door = person
        await agent.prompt("go")
        assert (tmp_path / "one").exists() is not answer
        assert len(person.asked) == (1 if answer else 2)
        assert ("does not want" in results_of(agent)[0]) is not answer


def test_the_custom_tool_answers_and_fails_usefully(home: Path, tmp_path: Path) -> None:
    found, missing = play(
        tmp_path, "custom_tool", call("price", item="flour"), call("price", item="gold")
    )
    assert found == ("1.29 euros", False)
    assert missing[1]
    assert "butter" in missing[0]


async def test_the_custom_tool_is_drawn_by_its_own_renderer(tmp_path: Path) -> None:
    model = ScriptedModel([call("price", item="flour"), {"text": "Done."}])
    extension = EXAMPLES / "custom_tool.py"
    async with CodingAgent.open(model=model, cwd=tmp_path, extensions=[extension]) as agent:
        await agent.prompt("go")
        definition = agent.registry.get("price")
        assert definition is not None
        assert definition.renderer is not None
        renderer = definition.renderer()
        result = next(m for m in agent.messages if isinstance(m, ToolResultMessage))
        shown = renderer.render_call({"item": "flour"}, RenderState())
        assert "price flour" in str(shown)
        told = ToolResult(result.content, result.details, result.is_error)
        assert "1.29 EUR" in str(renderer.render_result({}, told, RenderState()))


def test_the_provider_answers_without_a_network(home: Path, tmp_path: Path) -> None:
    extension = str(EXAMPLES / "provider.py")
    plain = run("-e", extension, "--model", "echo/plain", "-p", "hello", cwd=tmp_path)
    assert (plain.stdout, plain.returncode) == (b"hello\n", 0)
    loud = run("-e", extension, "--model", "echo/loud", "-p", "hello", cwd=tmp_path)
    assert loud.stdout == b"HELLO\n"
    wrong = run("-e", extension, "--model", "echo/quiet", "-p", "hello", cwd=tmp_path)
    assert wrong.returncode == 2
    assert b"plain, loud" in wrong.stderr


def test_a_session_with_an_extensions_model_goes_on_with_it(home: Path, tmp_path: Path) -> None:
    extension = str(EXAMPLES / "provider.py")
    run("-e", extension, "--model", "echo/loud", "-p", "one", cwd=tmp_path)
    again = run("-e", extension, "--continue", "-p", "two", cwd=tmp_path)
    assert again.stdout == b"TWO\n"


def test_the_path_guard_keeps_the_tools_in_and_away_from_secrets(
    home: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("secret")
    project = tmp_path / "project"
    (project / "vault").mkdir(parents=True)
    (project / ".env").write_text("KEY=1")
    (project / "vault" / "a").write_text("hidden")
    (project / "open.txt").write_text("open")
    (project / "link").symlink_to(outside)
    answers = play(
        project,
        "path_guard",
        call("read", path="../outside.txt"),
        call("read", path="link"),
        call("read", path=str(outside)),
        call("write", path=".env", content="x"),
        call("read", path="vault/a"),
        call("read", path="open.txt"),
        words=["--guard", "vault/*"],
    )
    assert [failed for _, failed in answers] == [True, True, True, True, True, False]
    assert not any("secret" in text or "hidden" in text for text, _ in answers)
    assert (project / ".env").read_text() == "KEY=1"


def test_the_notifier_runs_its_command_after_a_long_run_only(home: Path, tmp_path: Path) -> None:
    told = tmp_path / "told"
    command = f'printf %s "$SLOYD_MESSAGE" > {told}'
    words = ["--notify-with", command, "--notify-after"]
    play(tmp_path, "notifier", words=[*words, "60"])
    assert not told.exists()
    play(tmp_path, "notifier", words=[*words, "0"])
    assert told.read_text().startswith("done after 0 s")


def test_the_sub_agent_reads_with_limits_of_its_own(home: Path, tmp_path: Path) -> None:
    (tmp_path / "fact.txt").write_text("42")
    model = script(
        tmp_path,
        call("investigate", question="What is the fact?"),
        {**call("read", path="fact.txt")},
        {"text": "It is 42 (fact.txt:1).", "expect": "42"},
        {"text": "42.", "expect": "It is 42"},
    )
    extension = str(EXAMPLES / "subagent.py")
    done = run("--mode", "json", "-e", extension, "--model", model, "go", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ends = [e for e in lines_of(done.stdout) if e["type"] == "tool_execution_end"]
    assert [end["toolName"] for end in ends] == ["investigate"]
    assert ends[0]["details"] == {"steps": ["read fact.txt"], "turns": 2}


def test_the_sub_agent_can_change_nothing(home: Path, tmp_path: Path) -> None:
    ((text, failed),) = play(
        tmp_path,
        "subagent",
        call("investigate", question="Write a file"),
        call("write", path="new.txt", content="x"),
        {"text": "I cannot write."},
    )
    assert (text, failed) == ("I cannot write.", False)
    assert not (tmp_path / "new.txt").exists()


def test_the_sub_agents_limit_is_told_to_the_model(home: Path, tmp_path: Path) -> None:
    ((text, failed),) = play(
        tmp_path,
        "subagent",
        call("investigate", question="Read"),
        call("ls"),
        words=["--subagent-turns", "1"],
    )
    assert failed
    assert "limit" in text


def test_help_names_the_switches_of_an_example(home: Path, tmp_path: Path) -> None:
    done = run("--help", "-e", str(EXAMPLES / "notifier.py"), cwd=tmp_path)
    assert done.returncode == 0
    assert b"--notify-with TEXT" in done.stdout


def test_a_value_of_the_wrong_kind_is_a_wrong_usage(home: Path, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "Done."})
    words = ["-e", str(EXAMPLES / "notifier.py"), "--model", model, "go", "--notify-after", "soon"]
    done = run("-p", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert b"--notify-after takes a number, not soon" in done.stderr


def test_all_examples_together_disturb_nothing(home: Path, tmp_path: Path) -> None:
    extensions = [path for path in EXAMPLES.glob("*.py") if "def setup(" in path.read_text()]
    words = [word for path in sorted(extensions) for word in ("-e", str(path))]
    model = script(tmp_path, {"text": "Done."})
    done = run("--mode", "json", *words, "--model", model, "go", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == b""
    assert json.loads(done.stdout.splitlines()[-1])["outcome"] == "done"
