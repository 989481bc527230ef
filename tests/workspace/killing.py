"""Kill processes at random instants while they replace a file; run as a program.

    python -m tests.workspace.killing KIND DIRECTORY KILLS SEED

A child replaces the file in a loop, each time with the content that belongs to the next number; it
is killed with SIGKILL after a random time. What is then in the file must be the whole content of
some number, not smaller than any seen before. KIND is ``plain``, ``new`` (the file is removed each
time and created again) or ``links`` (the file has two names, so that it is written in place).
Prints what went wrong, if anything.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

from sloyd.workspace.atomic import finish_interrupted, remove_file, replace_file

__all__ = ["content_of"]


def content_of(number: int) -> bytes:
    """A content of its own length for each number, up to 600 kB."""
    line = b"%d\n" % number
    return line * (1 + number * 7919 % (600_000 // len(line)))


def number_in(data: bytes) -> int | None:
    """The number whose content this is, or None for a torn one."""
    first = data.split(b"\n", 1)[0]
    if not first.isdigit() or content_of(int(first)) != data:
        return None
    return int(first)


def work(path: str, kind: str, number: int) -> None:
    while True:
        number += 1
        content = content_of(number)
        middle = len(content) // 2
        if kind == "new" and os.path.exists(path):
            remove_file(path, None)
        replace_file(path, (content[:middle], content[middle:]), None, durable=False)


def killed(path: str, kind: str, number: int, seconds: float) -> None:
    child = os.fork()
    if child == 0:
        try:
            work(path, kind, number)
        finally:
            os._exit(1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        print("a child failed before it was killed")


def in_child(function: object, *arguments: object) -> None:
    """What happens once in the life of a process must happen in a fresh one each time."""
    child = os.fork()
    if child == 0:
        try:
            assert callable(function)
            function(*arguments)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def main(kind: str, directory: str, kills: int, seed: int) -> None:
    rng = random.Random(seed)
    path = os.path.join(directory, "f")
    names = {"f"}
    in_child(replace_file, path, (content_of(1),), None, False)
    if kind == "links":
        os.link(path, path + "2")
        names.add("f2")
    newest = 1
    done = 0
    # On a machine that is busy elsewhere a child may be killed before it has done anything.
    while done < kills or (newest < kills and done < 20 * kills):
        done += 1
        killed(path, kind, newest, rng.uniform(0.001, 0.02))
        if kind == "links":
            in_child(finish_interrupted)
        if kind == "new" and not os.path.exists(path):
            continue
        number = number_in(Path(path).read_bytes())
        if number is None or number < newest:
            print("torn or lost:", number, "after", newest)
        newest = number or newest
    in_child(replace_file, path, (content_of(newest),), None, False)
    left = set(os.listdir(directory)) - names
    if left:
        print("litter:", left)
    if newest < kills:
        print("too little work was done:", newest)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
