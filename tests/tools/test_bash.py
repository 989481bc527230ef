"""The bash tool through its own door: texts, details, limits, updates, abort."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.errors import ToolError
from sloyd.llm.messages import text_of
from sloyd.tools.environment import ShellCall
from tests.tools.commands import Bash


@pytest.fixture
def bash(tmp_path: Path) -> Iterator[Bash]:
    directory = tmp_path / "work"
    directory.mkdir()
    shell = Bash(directory)
    yield shell
    assert shell.living() == []


def content(path: str) -> bytes:
    return Path(path).read_bytes()


def output_of(command: str) -> bytes:
    """What a shell prints of itself, without the tool."""
    return subprocess.run(["bash", "-c", command], capture_output=True, check=True).stdout


async def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("command", "text", "code"),
    [
        ("echo hi", "hi\n", 0),
        ("true", "(no output)", 0),
        ("", "(no output)", 0),
        ("printf '\\r\\n'", "(no output)", 0),
        ("printf 'no newline'", "no newline", 0),
        ("echo out; echo err >&2; exit 3", "out\nerr\n\n\nCommand exited with code 3", 3),
        ("exit 1", "(no output)\n\nCommand exited with code 1", 1),
        (
            "echo a; kill -9 $$",
            "a\n\n\nCommand exited with code 137 (the shell was killed by SIGKILL)",
            137,
        ),
        (
            "kill -TERM $$",
            "(no output)\n\nCommand exited with code 143 (the shell was killed by SIGTERM)",
            143,
        ),
        (
            "exit 137",
            "(no output)\n\nCommand exited with code 137 (usually: killed by SIGKILL)",
            137,
        ),
        ("printf 'caf\\351 \\377'", "caf\ufffd \ufffd", 0),
        ("exec 1>&- 2>&-; sleep 0.1; exit 4", "(no output)\n\nCommand exited with code 4", 4),
        ("printf '10%%\\r20%%\\r\\033[32mdone\\033[0m\\n'", "done\n", 0),
        ("cat <<'EOF'\nbody\nEOF", "body\n", 0),
    ],
)
async def test_texts(bash: Bash, command: str, text: str, code: int) -> None:
    assert await bash(command) == text
    assert bash.result.is_error == (code != 0)
    assert bash.details["exitCode"] == code
    assert bash.details["cwd"] == str(bash.directory)


async def test_a_syntax_error_is_the_shells(bash: Bash) -> None:
    assert (await bash("echo 'oops")).endswith("\n\nCommand exited with code 2")


@pytest.mark.parametrize(
    ("command", "notice"),
    [
        ("seq 1 2000", None),
        ("seq 1 2001", "[Showing lines 2-2001 of 2001. Full output: LOG]"),
        ("seq 1 3000", "[Showing lines 1001-3000 of 3000. Full output: LOG]"),
        (
            "head -c 200000 /dev/zero | tr '\\0' x",
            "[Showing last 50.0KB of line 1 (line is 195.3KB). Full output: LOG]",
        ),
    ],
)
async def test_cut_output_says_so_and_names_the_log(
    bash: Bash, command: str, notice: str | None
) -> None:
    said = await bash(command)
    assert not bash.result.is_error
    if notice is None:
        assert "[" not in said
        assert "fullOutputPath" not in bash.details
        return
    log = bash.details["fullOutputPath"]
    assert said.endswith("\n\n" + notice.replace("LOG", log))
    whole = output_of(command)
    assert content(log) == whole
    assert bash.details["truncation"]["totalBytes"] == len(whole)


async def test_timeouts(bash: Bash) -> None:
    began = time.monotonic()
    assert await bash("echo start; sleep 5", timeout=0.3) == (
        "start\n\n\nCommand timed out after 0.3 seconds"
    )
    assert time.monotonic() - began < 2
    assert bash.result.is_error
    assert bash.details["timedOut"] is True
    assert bash.details["signal"] == "SIGTERM"
    assert await bash("sleep 0.2; echo ok", timeout=0) == "ok\n"
    assert await bash("echo ok", timeout="5") == "ok\n"
    assert await bash("echo ok", timeout=120_000) == "ok\n"
    assert await bash("echo ok", timeout=None) == "ok\n"


@pytest.mark.parametrize("timeout", [-1, -0.5, 1e12, float("inf"), float("nan")])
async def test_a_timeout_without_sense_is_refused(bash: Bash, timeout: float) -> None:
    with pytest.raises(ToolError, match="timeout"):
        await bash("touch ran", timeout=timeout)
    assert not (bash.directory / "ran").exists()


async def test_the_default_timeout_is_a_setting(bash: Bash) -> None:
    limited = Bash(bash.directory, default_timeout=0.2)
    assert "Command timed out after 0.2 seconds" in await limited("sleep 5")
    assert await limited("sleep 0.3; echo ok", timeout=0) == "ok\n"


async def test_abort_keeps_what_was_said_and_leaves_nothing(bash: Bash) -> None:
    async def aborted_run() -> None:
        with anyio.move_on_after(0.3):
            await bash("setsid sleep 30 & echo partial; sleep 31")

    with pytest.raises(ToolError) as caught:
        await aborted_run()
    error = caught.value
    assert error.for_model == "partial\n\n\nCommand aborted"
    assert isinstance(error.details, dict)
    assert error.details["aborted"] is True


async def test_updates_are_throttled_and_the_last_is_complete(bash: Bash) -> None:
    await bash("for i in 1 2 3 4 5 6; do echo $i; sleep 0.06; done")
    texts = [text_of(update.content) for update in bash.updates]
    assert texts[0] == ""
    assert texts[1] == "1\n"
    assert texts[-1] == "1\n2\n3\n4\n5\n6\n"
    assert 4 <= len(texts) <= 7
    await bash("seq 1 200000")
    assert len(bash.updates) <= 6
    assert text_of(bash.updates[-1].content).endswith("\n200000")


async def test_without_a_listener_nothing_is_reported(bash: Bash) -> None:
    arguments = bash.tool.validate({"command": "echo hi"})
    result = await bash.tool.execute(ToolCallContext("call"), arguments)
    assert text_of(result.content) == "hi\n"


async def test_a_background_job_is_named_with_its_log(bash: Bash) -> None:
    command = "(sleep 0.4; echo late; touch survived; exec sleep 30) & echo pid=$!; echo now"
    said = await bash(command)
    (pid, *_), log = bash.details["leftBehind"], bash.details["fullOutputPath"]
    assert said.startswith(f"pid={pid}\nnow\n")
    assert "[Still running in the background: process" in said
    assert f"Later output goes to: {log}]" in said
    assert not bash.result.is_error
    await until(lambda: (bash.directory / "survived").exists() and b"late" in content(log))
    assert content(log) == f"pid={pid}\nnow\nlate\n".encode()
    os.kill(pid, 9)
    await until(lambda: bash.living() == [])


async def test_of_many_jobs_a_few_are_named(bash: Bash) -> None:
    said = await bash("for i in $(seq 12); do sleep 30 & done")
    assert len(bash.details["leftBehind"]) == 12
    assert " and 2 more. Later output goes to: " in said
    bash.stop_jobs()
    await until(lambda: bash.living() == [])


@pytest.mark.parametrize("shell", ["bash", "sh"])
async def test_commands_of_any_length(bash: Bash, shell: str) -> None:
    long = Bash(bash.directory, shell_path=shell)
    value = "x" * 131_072
    assert await long(f"v={value}\necho ${{#v}}; cat; exit 4") == (
        "131072\n\n\nCommand exited with code 4"
    )
    lines = "".join(f"{n} $HOME\n" for n in range(30_000))
    assert await long(f"cat <<'EOF' | tail -1\n{lines}EOF") == "29999 $HOME\n"
    assert await long(f"# {value}\nls /dev/fd/3 2>/dev/null || echo closed") == "closed\n"


@pytest.mark.parametrize("dash", ["-n hi", "--help", "+x", "-c 'echo no'"])
async def test_a_leading_dash_is_no_option_of_the_shell(bash: Bash, dash: str) -> None:
    assert "not found" in await bash(dash)
    assert bash.details["exitCode"] == 127


async def test_each_call_is_a_shell_of_its_own(bash: Bash) -> None:
    await bash("cd /; export A=1; alias x=y")
    assert await bash('echo "$PWD [$A]"') == f"{bash.directory} []\n"


async def test_prefix_and_hook(bash: Bash) -> None:
    def hook(call: ShellCall) -> ShellCall:
        assert call.command == "greet() { echo hello; }\ngreet; echo $B $PWD"
        return ShellCall(f"{call.command}; echo hooked", "/", {**call.environment, "B": "b"})

    wrapped = Bash(bash.directory, command_prefix="greet() { echo hello; }", spawn_hook=hook)
    assert await wrapped("greet; echo $B $PWD") == "hello\nb /\nhooked\n"
    assert wrapped.details["cwd"] == "/"
    assert wrapped.details["command"].endswith("; echo hooked")


async def test_the_shell_is_a_setting(bash: Bash) -> None:
    assert (await Bash(bash.directory, shell_path="/bin/sh")("echo $0")).endswith("sh\n")
    with pytest.raises(ToolError, match="Custom shell path not found: /no/such/shell"):
        await Bash(bash.directory, shell_path="/no/such/shell")("echo hi")


async def test_a_missing_directory_is_told_and_nothing_breaks(bash: Bash, tmp_path: Path) -> None:
    gone = Bash(tmp_path / "gone")
    with pytest.raises(ToolError) as caught:
        await gone("echo hi")
    assert caught.value.for_model == (
        f"Working directory does not exist: {tmp_path / 'gone'}\nCannot execute bash commands."
    )


@pytest.mark.parametrize(
    ("command", "words"), [("echo a\0b", "NUL"), ("echo \ud83d", "half of a surrogate pair")]
)
async def test_what_no_shell_can_be_given_is_refused(bash: Bash, command: str, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        await bash(command)


async def test_undecodable_names_reach_the_shell_as_they_are(bash: Bash) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    await bash(f"echo x > '{name}'")
    assert os.listdir(os.fsencode(bash.directory)) == [b"caf\xe9.txt"]


async def test_an_environment_too_large_is_told(bash: Bash) -> None:
    huge = Bash(bash.directory, extra_environment={"HUGE": "x" * 200_000})
    with pytest.raises(ToolError, match=r"environment is too large to start a command: 19\d\.\dKB"):
        await huge("true")


async def test_the_log_is_bounded_by_the_setting(bash: Bash) -> None:
    small = Bash(bash.directory, log_limit=200_000)
    await small("seq 1 1000000")
    data = content(small.details["fullOutputPath"])
    assert len(data) <= 200_000
    assert data.startswith(b"1\n2\n")
    assert data.endswith(b"\n999999\n1000000\n")
    assert b" bytes omitted" in data
    assert small.details["truncation"]["totalLines"] == 1_000_000


async def test_a_foreign_name_of_the_command_is_understood(bash: Bash) -> None:
    prepared = bash.tool.prepare({"cmd": "echo hi", "timeout": 5})
    assert prepared == {"command": "echo hi", "timeout": 5}
    assert bash.tool.prepare({"command": "a", "cmd": "b"}) == {"command": "a", "cmd": "b"}
    assert bash.tool.prepare("text") == "text"


PTY_PROGRAM = """
import asyncio, fcntl, sys, termios
from pathlib import Path
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
open("/dev/tty").close()
from tests.tools.commands import Bash
async def main():
    bash = Bash(Path(sys.argv[1]))
    print(await bash("(exec </dev/tty) 2>/dev/null && echo HAVE_TTY || echo NO_TTY"))
    print(await bash("git init -q . && git -c user.name=a -c user.email=a@b commit --allow-empty"))
    print("rc", bash.details["exitCode"])
asyncio.run(main())
"""


def test_a_command_has_no_terminal_though_the_agent_has_one(tmp_path: Path) -> None:
    main, terminal = os.openpty()
    environment: dict[str, Any] = {**os.environ, "TERM": "xterm", "EDITOR": "vi"}
    process = subprocess.Popen(
        [sys.executable, "-c", PTY_PROGRAM, str(tmp_path)],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=Path(__file__).parents[2],
        env=environment,
        start_new_session=True,
    )
    os.close(terminal)
    try:
        said = process.communicate(timeout=20)[0].decode()
    finally:
        process.kill()
        os.close(main)
    assert "NO_TTY" in said
    assert "Aborting commit due to empty commit message" in said
    assert "rc 1" in said


async def test_results_are_the_same_whoever_else_runs(bash: Bash) -> None:
    shells = [Bash(bash.directory) for _ in range(10)]
    said = await asyncio.gather(*(each(f"echo {n}; exit {n}") for n, each in enumerate(shells)))
    assert said[0] == "0\n"
    assert said[1:] == [f"{n}\n\n\nCommand exited with code {n}" for n in range(1, 10)]
    assert all(isinstance(each.result, ToolResult) for each in shells)
