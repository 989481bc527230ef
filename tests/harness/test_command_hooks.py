"""Programs as hooks: what they are told, what they may answer, and what counts as no answer."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from sloyd import CodingAgent, ScriptedModel, ToolResultMessage
from sloyd.harness.command_hooks import CommandHook, read_command_hooks
from sloyd.harness.events import HarnessEvent, Notice
from sloyd.harness.settings_files import load_settings
from sloyd.llm.messages import text_of
from tests.sloyd_process import alive


def call(command: str) -> dict[str, Any]:
    return {"calls": [{"name": "bash", "arguments": {"command": command}}]}


def configure(home: Path, text: str) -> Path:
    path = home / ".sloyd" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def hook(event: str, command: str, **facts: Any) -> str:
    lines = [f"[[hooks.{event}]]", f"command = {json.dumps(command)}"]
    return "\n".join([*lines, *(f"{key} = {json.dumps(value)}" for key, value in facts.items())])


def runs(pid: int) -> bool:
    try:
        return alive(psutil.Process(pid))
    except psutil.NoSuchProcess:
        return False


async def played(directory: Path, *turns: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The results of a run, and what the person was told."""
    notices: list[str] = []

    def hear(event: HarnessEvent) -> None:
        if isinstance(event, Notice):
            notices.append(event.message)

    model = ScriptedModel([*turns, {"text": "Done."}])
    async with CodingAgent.open(model=model, cwd=directory, context_files=False) as agent:
        agent.subscribe(hear)
        result = await agent.prompt("go")
        assert result.outcome == "done"
        texts = [text_of(m.content) for m in agent.messages if isinstance(m, ToolResultMessage)]
    return texts, notices


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("true", "ran"),
        ("""echo '{"decision": "allow"}'""", "ran"),
        ("""echo '{"decision": "deny", "reason": "not today"}'""", "not today"),
        ("echo 'because of me' >&2; exit 2", "because of me"),
        (
            """echo '{"decision": "change", "arguments": {"command": "echo changed"}}'""",
            "changed",
        ),
        ("echo nonsense", "cannot be used"),
        ("""echo '{"decision": "perhaps"}'""", "cannot be used"),
        ("echo 'it broke' >&2; exit 7", "exit code 7: it broke"),
        ("/no/such/program", "exit code 127"),
    ],
)
async def test_the_answer_of_a_program_decides(
    home: Path, tmp_path: Path, program: str, expected: str
) -> None:
    configure(home, hook("before_tool_call", program, tools=["ba*"]))
    ((text,), _) = await played(tmp_path, call("echo ran"))
    assert expected in text
    assert ("ran" in text) is (expected == "ran")


async def test_a_program_that_hangs_is_killed_with_all_that_it_started(
    home: Path, tmp_path: Path
) -> None:
    program = f"sleep 30 & echo $! > {tmp_path}/child; wait"
    configure(home, hook("before_tool_call", program, timeout=0.3))
    began = time.monotonic()
    ((text,), notices) = await played(tmp_path, call("echo ran"))
    assert time.monotonic() - began < 10
    assert "did not answer within 0.3 s" in text
    assert any("did not answer" in notice for notice in notices)
    assert not runs(int((tmp_path / "child").read_text()))


async def test_a_program_sees_the_call_and_only_those_of_its_tools(
    home: Path, tmp_path: Path
) -> None:
    keep = f"cat >> {tmp_path}/told"
    configure(home, hook("before_tool_call", keep, tools=["bash"]))
    (tmp_path / "a").write_text("x")
    read = {"calls": [{"name": "read", "arguments": {"path": "a"}}]}
    await played(tmp_path, call("echo hello"), read)
    (told,) = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
    assert told["event"] == "before_tool_call"
    assert told["toolName"] == "bash"
    assert told["arguments"] == {"command": "echo hello"}
    assert told["cwd"] == str(tmp_path)
    assert told["sessionId"]


async def test_a_result_can_be_replaced_and_a_failure_leaves_it(home: Path, tmp_path: Path) -> None:
    code = (
        "import json, sys; event = json.load(sys.stdin); text = event['content'][0]['text'];"
        " print(json.dumps({'decision': 'change', 'content': text.upper()}))"
    )
    program = tmp_path / "upper.py"
    program.write_text(code)
    configure(
        home,
        hook("after_tool_call", f"{sys.executable} {program}")
        + "\n"
        + hook("after_tool_call", "echo broken >&2; exit 1"),
    )
    ((text,), notices) = await played(tmp_path, call("echo quiet"))
    assert text.strip() == "QUIET"
    assert any("broken" in notice for notice in notices)


async def test_runs_and_turns_are_told(home: Path, tmp_path: Path) -> None:
    events = ("run_start", "turn_end", "run_end")
    keep = f"cat >> {tmp_path}/told"
    configure(home, "\n".join(hook(event, keep) for event in events))
    await played(tmp_path, call("true"))
    told = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
    assert [event["event"] for event in told] == ["run_start", "turn_end", "turn_end", "run_end"]
    assert told[-1]["outcome"] == "done"
    assert told[1]["message"]["role"] == "assistant"


def test_wrong_hooks_are_named_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        '[[hooks.run_end]]\ncommand = "a"\n\n[[hooks.run_end]]\ncommands = "b"\n'
        '\n[[hooks.before_call]]\ncommand = "c"\n\n[[hooks.run_end]]\ncommand = "d"\ntimeout = 0\n'
    )
    loaded = load_settings(path)
    hooks, problems = read_command_hooks(loaded.tables["hooks"], [path])
    assert hooks == {"run_end": [CommandHook(command="a")]}
    assert [problem.partition(": ")[0] for problem in problems] == [
        f"{path}:4",
        f"{path}:10",
        f"{path}:7",
    ]


def test_a_project_adds_hooks_and_takes_none_away(tmp_path: Path) -> None:
    user, project = tmp_path / "user.toml", tmp_path / "project.toml"
    user.write_text(hook("before_tool_call", "user"))
    project.write_text(hook("before_tool_call", "project") + "\n" + hook("run_end", "end"))
    hooks, problems = read_command_hooks(load_settings(user, project).tables["hooks"])
    assert problems == []
    assert [each.command for each in hooks["before_tool_call"]] == ["user", "project"]
    assert [each.command for each in hooks["run_end"]] == ["end"]
