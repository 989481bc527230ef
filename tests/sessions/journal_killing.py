"""Several processes that write one journal, and processes that are killed while they do.

    python -m tests.sessions.journal_killing kill DIRECTORY KILLS SEED
    python -m tests.sessions.journal_killing share DIRECTORY PROCESSES CHANGES

Prints what went wrong, if anything.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from sloyd.sessions.journal import Journal
from sloyd.tools.environment import PlannedChange
from sloyd.workspace.local import LocalWorkspace

__all__ = ["main"]


BOUND = 200_000


def forked(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return child


async def change(directory: Path, name: str, numbers: range, max_bytes: int) -> None:
    workspace = LocalWorkspace(str(directory))
    journal = Journal(directory / "journal", max_bytes=max_bytes)
    path = str(directory / name)
    for number in numbers:
        before = (directory / name).read_bytes() if (directory / name).exists() else None
        after = [b"%d\n" % number * (1 + number * 7919 % 8000)]
        change_id = await journal.begin(PlannedChange(path, "write", str(number), before, after))
        await workspace.replace(path, after)
        await journal.commit(change_id)


def changing(directory: Path, name: str, numbers: range, max_bytes: int) -> Callable[[], None]:
    return lambda: anyio.run(change, directory, name, numbers, max_bytes)


def kill(directory: Path, kills: int, seed: int) -> None:
    rng = random.Random(seed)
    first = 0
    done = 0
    # On a machine that is busy elsewhere a child may be killed before it has done anything.
    while done < kills or (first < kills and done < 20 * kills):
        done += 1
        child = forked(changing(directory, "f", range(first, 10**9), BOUND))
        time.sleep(rng.uniform(0.003, 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        first = max(first, check(directory) + 1)
    if first < kills:
        print("too little work was done:", first)
    os.waitpid(forked(changing(directory, "f", range(first, first + 1), BOUND)), 0)
    check(directory)
    if sorted(os.listdir(directory)) != ["f", "journal"]:
        print("litter:", os.listdir(directory))


def check(directory: Path) -> int:
    """Compare the newest entry with the file; returns the number of its change."""
    entries = Journal(directory / "journal", max_bytes=BOUND).entries()
    if not entries:
        return -1
    newest = entries[-1]
    path = directory / "f"
    now = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None
    before = newest.before.sha256 if newest.before else None
    after = newest.after.sha256 if newest.after else None
    if now not in ((after,) if newest.made else (before, after)):
        print("the journal does not know the file:", newest.id, newest.made)
    numbers = [int(entry.call_id) for entry in entries]
    if numbers != sorted(numbers):
        print("entries out of order:", numbers)
    return numbers[-1]


def share(directory: Path, processes: int, changes: int) -> None:
    children = [
        forked(changing(directory, f"f{number}", range(changes), 100_000_000))
        for number in range(processes)
    ]
    if any(os.waitpid(child, 0)[1] for child in children):
        print("a child failed")
    entries = Journal(directory / "journal", max_bytes=100_000_000).entries()
    if len(entries) != processes * changes or not all(entry.made for entry in entries):
        print("entries are missing:", len(entries))
    if sorted(os.listdir(directory)) != sorted(
        ["journal", *(f"f{number}" for number in range(processes))]
    ):
        print("litter:", os.listdir(directory))


def main(arguments: list[str]) -> None:
    mode, directory, first, second = arguments
    anyio.run(anyio.sleep, 0)  # what is imported late is imported before the children begin
    (kill if mode == "kill" else share)(Path(directory), int(first), int(second))


if __name__ == "__main__":
    main(sys.argv[1:])
