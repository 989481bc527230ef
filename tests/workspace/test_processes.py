"""Running real processes: output, exits, timeouts, cancellation, and what is left afterwards."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from sloyd.errors import WorkspaceError
from sloyd.workspace.base import Exit, OutputFile, ProcessRequest
from sloyd.workspace.process_tree import MARKER
from sloyd.workspace.processes import run_process, stop_all_nowait, which

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX shells and signals")


class Shell:
    """Runs shell text in a directory and keeps the output."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.chunks: list[bytes] = []

    @property
    def output(self) -> bytes:
        return b"".join(self.chunks)

    async def run(
        self, script: str, environment: Mapping[str, str] | None = None, **request: Any
    ) -> Exit:
        self.chunks.clear()
        wanted = ProcessRequest(["/bin/sh", "-c", script], str(self.directory), **request)
        return await run_process(wanted, self.chunks.append, environment)

    def living(self) -> list[psutil.Process]:
        """The processes whose working directory is this test's own."""
        return [
            process
            for process in psutil.process_iter(["cwd"])
            if process.info["cwd"] == str(self.directory) and process.pid != os.getpid()
        ]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


async def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        await asyncio.sleep(0.01)


def stop(pids: Sequence[int]) -> None:
    """End jobs that a test left behind on purpose."""
    for pid in pids:
        psutil.Process(pid).kill()


async def test_both_outputs_come_in_their_true_order(shell: Shell) -> None:
    script = "for i in 1 2 3 4 5 6 7 8 9; do echo out$i; echo err$i >&2; done"
    ended = await shell.run(script)
    assert ended.code == 0
    assert shell.output.decode().split() == [
        f"{s}{i}" for i in range(1, 10) for s in ("out", "err")
    ]


async def test_stderr_is_kept_apart_when_asked(shell: Shell) -> None:
    ended = await shell.run("echo out; echo err >&2", merge_stderr=False)
    assert (shell.output, ended.stderr) == (b"out\n", b"err\n")


async def test_of_a_long_separate_stderr_the_end_is_kept(shell: Shell) -> None:
    ended = await shell.run("seq 1 100000 >&2; echo x", merge_stderr=False)
    assert (shell.output, len(ended.stderr)) == (b"x\n", 65536)
    assert ended.stderr.endswith(b"\n100000\n")


@pytest.mark.parametrize(
    ("script", "code", "number"),
    [
        ("exit 3", 3, None),
        ("kill -KILL $$", None, signal.SIGKILL),
        ("kill -TERM $$", None, signal.SIGTERM),
        ("no_such_command_zz", 127, None),
        ("exec 1>&- 2>&-; sleep 0.1; exit 4", 4, None),
    ],
)
async def test_exits(shell: Shell, script: str, code: int | None, number: int | None) -> None:
    ended = await shell.run(script)
    assert (ended.code, ended.signal, ended.timed_out) == (code, number, False)
    assert ended.left_behind == ()


async def test_a_quick_exit_never_loses_output(shell: Shell) -> None:
    for _ in range(100):
        await shell.run("echo hi")
        assert shell.output == b"hi\n"
    runs = [Shell(shell.directory) for _ in range(20)]
    await asyncio.gather(*(each.run("echo hi") for each in runs))
    assert [each.output for each in runs] == [b"hi\n"] * 20


async def test_a_large_output_comes_whole(shell: Shell) -> None:
    await shell.run("head -c 30000000 /dev/zero")
    assert len(shell.output) == 30_000_000


async def test_standard_input_is_empty_or_what_is_given(shell: Shell) -> None:
    await shell.run('cat; read -r x; echo "[$x]"')
    assert shell.output == b"[]\n"
    data = os.urandom(300_000)
    await shell.run("cat", stdin=data)
    assert shell.output == data
    ended = await shell.run("head -c 5", stdin=b"hello" * 100_000)
    assert (shell.output, ended.code) == (b"hello", 0)


async def test_the_environment_is_the_one_given(shell: Shell) -> None:
    await shell.run('echo "$A $B"', {"A": "given", "PATH": os.environ["PATH"]})
    assert shell.output == b"given \n"
    variables = {"B": "request", "PATH": os.environ["PATH"]}
    request = ProcessRequest(["/bin/sh", "-c", 'echo "$A $B"'], "/", environment=variables)
    await run_process(request, shell.chunks.append, {"A": "given"})
    assert shell.output.endswith(b" request\n")


async def test_each_command_is_marked_and_a_nested_one_keeps_the_outer_mark(shell: Shell) -> None:
    await shell.run(f"echo ${MARKER}", {MARKER: "outer"})
    outer, inner = shell.output.decode().strip().split(":")
    assert outer == "outer"
    assert len(inner) == 16


async def test_output_arrives_while_the_command_runs(shell: Shell) -> None:
    running = asyncio.create_task(shell.run("echo first; sleep 20"))
    began = time.monotonic()
    await until(lambda: shell.output == b"first\n")
    assert time.monotonic() - began < 2
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_slow_reader_makes_the_process_wait(tmp_path: Path) -> None:
    """Each chunk takes 20 ms; an unbounded queue would let the writer finish long before."""
    taken = 0

    def slowly(data: bytes) -> None:
        nonlocal taken
        taken += len(data)
        time.sleep(0.02)
        if not (tmp_path / "done").exists():
            return
        assert taken >= 8_000_000 - 3_000_000

    script = "head -c 8000000 /dev/zero; touch done"
    await run_process(ProcessRequest(["/bin/sh", "-c", script], str(tmp_path)), slowly)
    assert taken == 8_000_000


async def test_a_failing_reader_stops_the_process(shell: Shell) -> None:
    def fails(data: bytes) -> None:
        raise ValueError("reader")

    request = ProcessRequest(["/bin/sh", "-c", "echo x; sleep 30"], str(shell.directory))
    with pytest.raises(ValueError, match="reader"):
        await run_process(request, fails)
    assert shell.living() == []


async def test_a_background_job_does_not_hold_the_call_and_lives_on(shell: Shell) -> None:
    log = shell.directory / "later.log"
    log.write_bytes(b"")
    began = time.monotonic()
    ended = await shell.run(
        "(sleep 0.5; echo late; echo later >&2; touch survived; sleep 30) & echo now",
        on_left_behind=lambda: OutputFile(str(log), 1000),
    )
    assert time.monotonic() - began < 2
    assert shell.output == b"now\n"
    await until((shell.directory / "survived").exists)
    await until(lambda: log.read_bytes() == b"late\nlater\n")
    living = {process.pid for process in shell.living()}
    assert living & set(ended.left_behind)
    stop([*living])


async def test_what_a_job_left_behind_may_write_is_bounded(shell: Shell) -> None:
    log = shell.directory / "later.log"
    log.write_bytes(b"")
    ended = await shell.run(
        "(sleep 0.3; seq 1 100000; touch done; sleep 30) &",
        on_left_behind=lambda: OutputFile(str(log), 5000),
    )
    await until((shell.directory / "done").exists)
    assert 4000 <= log.stat().st_size <= 5000
    assert ended.left_behind
    stop([process.pid for process in shell.living()])


async def test_a_chatty_job_does_not_hold_the_call(shell: Shell) -> None:
    began = time.monotonic()
    ended = await shell.run("yes & echo $! >pid; echo fg")
    assert time.monotonic() - began < 4
    assert int((shell.directory / "pid").read_text()) in ended.left_behind
    stop(ended.left_behind)


async def test_output_that_comes_just_after_the_exit_is_taken_in(shell: Shell) -> None:
    await shell.run("(sleep 0.05; echo soon) & echo now")
    assert shell.output == b"now\nsoon\n"


async def test_a_job_with_its_output_elsewhere_is_still_named(shell: Shell) -> None:
    ended = await shell.run("sleep 30 >/dev/null 2>&1 & echo $!")
    assert ended.left_behind == (int(shell.output),)
    stop(ended.left_behind)


@pytest.mark.parametrize(
    "script",
    [
        "sleep 41 | cat",
        "sh -c 'sleep 42 & wait'",
        "setsid sleep 43 & sleep 20",
        "(setsid sh -c 'sleep 44 & sleep 45' &) ; sleep 20",
        "sh -c 'kill -STOP $$'; sleep 20",
        "set -m; sleep 46 & sleep 20",
    ],
)
async def test_a_timeout_leaves_nothing_of_the_tree(shell: Shell, script: str) -> None:
    began = time.monotonic()
    ended = await shell.run(f"echo start; {script}", timeout=0.3)
    assert ended.timed_out
    assert shell.output.startswith(b"start\n")
    assert 0.3 <= time.monotonic() - began < 2.5
    assert shell.living() == []


async def test_term_comes_before_kill(shell: Shell) -> None:
    polite = "trap 'echo cleaned; exit 9' TERM; echo up; while :; do sleep 0.05; done"
    ended = await shell.run(polite, timeout=0.3)
    assert (ended.code, ended.timed_out) == (9, True)
    assert shell.output.endswith(b"cleaned\n")
    stubborn = "trap '' TERM; echo up; while :; do sleep 0.05; done"
    ended = await shell.run(stubborn, timeout=0.3)
    assert (ended.signal, ended.timed_out) == (signal.SIGKILL, True)
    assert shell.living() == []


async def test_cancellation_stops_the_tree_and_goes_on(shell: Shell) -> None:
    with anyio.move_on_after(0.3) as scope:
        await shell.run("setsid sleep 47 & trap '' TERM; echo up; sleep 48; sleep 49")
    assert scope.cancelled_caught
    assert shell.output == b"up\n"
    assert shell.living() == []


async def test_a_second_cancellation_does_not_cut_the_stop_short(shell: Shell) -> None:
    running = asyncio.create_task(shell.run("trap '' TERM; echo up; while :; do sleep 0.1; done"))
    await until(lambda: shell.output == b"up\n")
    for _ in range(3):
        running.cancel()
        await asyncio.sleep(0.05)
    with pytest.raises(asyncio.CancelledError):
        await running
    assert shell.living() == []


async def test_stop_all_ends_what_runs_without_an_await(shell: Shell) -> None:
    running = asyncio.create_task(shell.run("setsid sleep 51 & echo up; sleep 52"))
    await until(lambda: shell.output == b"up\n")
    stop_all_nowait()
    assert shell.living() == []
    assert (await running).signal == signal.SIGTERM


async def test_exits_are_seen_on_systems_without_pidfd(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    for _ in range(20):
        assert (await shell.run("echo hi; exit 3")).code == 3
        assert shell.output == b"hi\n"
    assert (await shell.run("sleep 30", timeout=0.1)).timed_out
    assert shell.living() == []


async def test_no_descriptor_and_no_thread_is_left(shell: Shell) -> None:
    await shell.run("true")
    await shell.run("sleep 5", timeout=0.05)
    before = len(os.listdir("/dev/fd")), threading.active_count()
    for _ in range(5):
        await shell.run("echo x; exit 1", stdin=b"y")
        await shell.run("sleep 5", timeout=0.02)
        with pytest.raises(WorkspaceError):
            await run_process(ProcessRequest(["/no/such"], str(shell.directory)))
    after = len(os.listdir("/dev/fd")), threading.active_count()
    assert after <= (before[0], before[1] + 2)  # the pool of threads may have grown


@pytest.mark.parametrize(
    ("argv", "directory", "reason", "path"),
    [
        (["no_such_program_zz"], "", "missing", "no_such_program_zz"),
        (["/bin/sh", "-c", "true"], "gone", "missing", "gone"),
        (["/bin/sh", "-c", "true"], "file", "not-directory", "file"),
        (["/bin/sh", "-c", "a\0b"], "", "invalid-path", "a\0b"),
        (["/bin/sh", "-c", "x" * 200_000], "", "too-large", "/bin/sh"),
        (["./file"], "", "permission", "./file"),
    ],
)
async def test_what_cannot_be_started_says_why(
    tmp_path: Path, argv: list[str], directory: str, reason: str, path: str
) -> None:
    (tmp_path / "file").write_text("")
    cwd = str(tmp_path / directory) if directory else str(tmp_path)
    with pytest.raises(WorkspaceError) as caught:
        await run_process(ProcessRequest(argv, cwd))
    assert caught.value.reason == reason
    assert caught.value.path.endswith(path)


def test_which_finds_programs_and_nothing_else(tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\n")
    assert which("tool", {"PATH": str(tmp_path)}) is None
    program.chmod(0o755)
    assert which("tool", {"PATH": str(tmp_path)}) == str(program)
    assert which("./tool", {}, str(tmp_path)) == str(program)
    assert which("tool", {"PATH": "/nowhere"}) is None
    assert which(sys.executable, {}) == sys.executable
