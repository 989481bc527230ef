"""Count up in one file from many processes at once; run as a program.

    python -m tests.workspace.counting FILE PROCESSES EDITS

Every edit reads the number in the file and replaces it by the next one, and begins again when the
file has changed meanwhile. Prints the number in the file when all are done.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import anyio

from sloyd.errors import FileChanged
from sloyd.workspace.local import LocalWorkspace

__all__ = ["main"]


async def count(path: str, edits: int) -> None:
    workspace = LocalWorkspace("/")
    for _ in range(edits):
        while True:
            data, version = await workspace.read_file(path)
            try:
                await workspace.replace(path, b"%06d\n" % (int(data) + 1), expect=version)
            except FileChanged:
                await anyio.sleep(random.uniform(0, 0.002))
                continue
            break


def main(path: str, processes: int, edits: int) -> None:
    Path(path).write_bytes(b"000000\n")
    children = []
    for _ in range(processes):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                anyio.run(count, path, edits)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
    print(int(Path(path).read_bytes()), "failed" * failed)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
