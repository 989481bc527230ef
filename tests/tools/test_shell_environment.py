"""What a command finds in its environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from sloyd.tools.environment import ToolSettings
from sloyd.tools.shell_environment import HIDDEN_VARIABLES, command_environment
from tests.tools.commands import Bash

USER = {"PATH": "/usr/bin:/bin", "HOME": "/home/me", "MY_SECRET_TOKEN": "t", "LANG": "C"}


async def test_the_users_variables_stay_and_our_keys_go(tmp_path: Path) -> None:
    keys = dict.fromkeys(HIDDEN_VARIABLES, "sk-secret")
    bash = Bash(tmp_path, environment={**USER, **keys})
    said = await bash("env")
    assert "sk-secret" not in said
    for name, value in USER.items():
        assert f"{name}={value}\n" in said


def test_settings_hide_more_and_let_some_through() -> None:
    environment = {**USER, "OPENAI_API_KEY": "k", "GROQ_API_KEY": "g", "AWS_A": "1", "AWS_B": "2"}
    settings = ToolSettings(
        hidden_variables=("MY_SECRET_TOKEN", "AWS_*"), passed_variables=("OPENAI_API_KEY", "AWS_B")
    )
    variables = command_environment(environment, settings)
    assert variables.keys() & environment.keys() == {
        *("PATH", "HOME", "LANG", "OPENAI_API_KEY", "AWS_B")
    }


def test_nothing_can_wait_for_a_person_and_the_users_word_wins() -> None:
    variables = command_environment({"TERM": "xterm", "EDITOR": "nano"}, ToolSettings())
    assert variables["TERM"] == "dumb"
    assert variables["EDITOR"] == "nano"
    assert variables["GIT_EDITOR"] == "true"
    assert variables["GIT_TERMINAL_PROMPT"] == "0"
    assert variables["PAGER"] == "cat"
    own = ToolSettings(extra_environment={"TERM": "xterm-256color", "PAGER": "less"})
    assert command_environment({}, own)["TERM"] == "xterm-256color"
    assert command_environment({}, own)["PAGER"] == "less"


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="runs outside a virtual environment")
def test_our_own_environment_is_not_the_users_unless_activated() -> None:
    launched = {"PATH": "/usr/bin", "VIRTUAL_ENV": sys.prefix, "VIRTUAL_ENV_PROMPT": "x"}
    assert "VIRTUAL_ENV" not in command_environment(launched, ToolSettings())
    activated = {**launched, "PATH": os.path.join(sys.prefix, "bin") + os.pathsep + "/usr/bin"}
    assert command_environment(activated, ToolSettings())["VIRTUAL_ENV"] == sys.prefix
    other = {"PATH": "/usr/bin", "VIRTUAL_ENV": "/home/me/.venv", "PYTHONPATH": "/home/me/lib"}
    kept = command_environment(other, ToolSettings())
    assert (kept["VIRTUAL_ENV"], kept["PYTHONPATH"]) == ("/home/me/.venv", "/home/me/lib")
