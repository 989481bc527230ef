"""The demo project is at fault before, and right after the two replacements of the script."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from sloyd.agent.events import AgentEnd, ToolExecutionEnd, ToolExecutionStart
from sloyd.demo.check import DemoCheck
from sloyd.demo.project_copy import DemoProject, intro, outro, prepare
from sloyd.errors import UsageError
from sloyd.llm.messages import Text


@pytest.fixture
def project(tmp_path: Path) -> DemoProject:
    return prepare(tmp_path / "a demo")


def run_tests(project: DemoProject) -> tuple[int, str]:
    done = subprocess.run(
        ["sh", "run_tests.sh"],
        cwd=project.directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def calls(project: DemoProject) -> list[dict[str, Any]]:
    turns = json.loads(project.script_path.read_text())
    return [call for turn in turns for call in turn.get("calls", [])]


def call(check: DemoCheck, tool: str, text: str, *, is_error: bool = False) -> None:
    """Let the check see a call and its result."""
    check.observe(ToolExecutionStart(tool_call_id="1", tool_name=tool, arguments={}))
    check.observe(result(tool, text, is_error=is_error))


def result(tool: str, text: str, *, is_error: bool = False, call_id: str = "1") -> ToolExecutionEnd:
    return ToolExecutionEnd(
        tool_call_id=call_id, tool_name=tool, content=(Text(text),), is_error=is_error
    )


def play(project: DemoProject, check: DemoCheck, *, edit: bool = True) -> None:
    """Do by hand what the script asks of the tools."""
    for wanted in calls(project):
        arguments = wanted["arguments"]
        if wanted["name"] == "read":
            text = (project.directory / arguments["path"]).read_text(encoding="utf-8")
            call(check, "read", text)
        elif wanted["name"] == "bash":
            assert arguments["command"] == "sh run_tests.sh"
            code, output = run_tests(project)
            call(check, "bash", output, is_error=code != 0)
        else:
            file = project.directory / arguments["path"]
            for replacement in arguments["edits"] if edit else []:
                text = file.read_text(encoding="utf-8")
                assert text.count(replacement["oldText"]) == 1
                changed = text.replace(replacement["oldText"], replacement["newText"])
                file.write_text(changed, encoding="utf-8")
            call(check, "edit", f"Edited {arguments['path']}")
    check.observe(AgentEnd(messages=(), outcome="done"))


def test_the_script_mends_the_project(project: DemoProject) -> None:
    check = DemoCheck()
    play(project, check)
    assert check.problems() == []


def test_a_fault_that_was_not_mended_is_named_with_its_step(project: DemoProject) -> None:
    check = DemoCheck()
    play(project, check, edit=False)
    [problem] = check.problems()
    assert problem.startswith("the second test run, which must pass: failed:")
    assert "FAILED (failures=2)" in problem


def test_tests_that_never_failed_are_a_problem(project: DemoProject) -> None:
    check = DemoCheck()
    call(check, "bash", "Ran 6 tests\nOK")
    assert "the first test run, which must fail: did not fail" in check.problems()[0]


def test_steps_that_did_not_happen_are_named() -> None:
    check = DemoCheck()
    check.observe(AgentEnd(messages=(), outcome="error", error_message="no such turn"))
    problems = check.problems()
    assert problems[0] == "the run ended with error: no such turn"
    assert "the edit with two replacements: did not happen" in problems


def test_a_call_out_of_the_script_is_a_problem() -> None:
    check = DemoCheck()
    call(check, "write", "Wrote 3 bytes")
    assert check.problems()[0] == "a call of write that is not in the script"


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_calls_beside_each_other_may_end_in_any_order(
    project: DemoProject, order: tuple[int, ...]
) -> None:
    """One file that is read may well contain what another one has to show."""
    check = DemoCheck()
    paths = [wanted["arguments"]["path"] for wanted in calls(project)[:3]]
    for path in paths:
        check.observe(ToolExecutionStart(tool_call_id=path, tool_name="read", arguments={}))
    for path in (paths[place] for place in order):
        check.observe(result("read", (project.directory / path).read_text("utf-8"), call_id=path))
    assert not any(problem.startswith("reading") for problem in check.problems())


def test_a_directory_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="not an empty directory"):
        prepare(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_texts_name_the_directory(project: DemoProject) -> None:
    assert str(project.directory) in intro(project)
    assert str(project.directory) in outro(project)


def sloyd_demo(directory: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sloyd", "demo", "--keep", str(directory)],
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_shows_real_work_and_ends_well(tmp_path: Path) -> None:
    done = sloyd_demo(tmp_path / "demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Only the words of the model are scripted" in done.stdout
    assert "FAILED (failures=2)" in done.stdout
    assert "ROUND_HALF_UP" in done.stdout
    assert "ROUND_HALF_UP" in (tmp_path / "demo" / "till" / "money.py").read_text("utf-8")
    assert str(tmp_path / "demo") in done.stdout


def test_the_command_fails_loudly_when_a_tool_cannot_do_its_work(tmp_path: Path) -> None:
    """Without a program `sh` on PATH the tests cannot run, so nothing of the demo is true."""
    done = sloyd_demo(tmp_path / "demo", PATH=str(tmp_path))
    assert done.returncode == 1
    assert "the first test run, which must fail" in done.stderr
    assert str(tmp_path / "demo") in done.stderr
