"""Does the work of one case with the plainest means there are and prints ``{"seconds"}``.

usage: python raw_tools.py CASE REPEAT RG

A program of the system where there is one for the job, a few lines of Python where not. It is the
floor under the figures where no pi is at hand.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["main"]


def _shell(command: str) -> None:
    # grep's exit code 1 means that nothing was found, which is no failure here.
    with subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while process.stdout.read(1 << 16):
            continue


def _replace(path: Path, content: bytes) -> None:
    """Write beside the file, make it durable, move it into place."""
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(path)


def _edit(path: str, old: bytes, new: bytes) -> None:
    file = Path(path)
    _replace(file, file.read_bytes().replace(old, new, 1))


def _write(repeat: int) -> None:
    Path("w").mkdir(exist_ok=True)
    for number in range(repeat):
        _replace(Path(f"w/f{number}.txt"), b"x" * 4096)


def _edit_small(repeat: int) -> None:
    words = (b"ALPHA", b"BETA")
    for number in range(repeat):
        _edit("editsmall.txt", words[number % 2], words[(number + 1) % 2])


def _flood(size: int) -> None:
    _shell(f"yes 'some output line of a build' | head -c {size}")


def _works(repeat: int, rg: str) -> dict[str, Callable[[], object]]:
    lines = int(os.environ.get("BENCH_DEEP_LINE", "9000000"))
    edited = os.environ.get("BENCH_EDIT_LINE", "00250000").encode()
    return {
        "read_deep": lambda: _shell(f"tail -n +{lines} big.txt | head -n 100"),
        "read_head": lambda: _shell("head -n 2000 big.txt; wc -l big.txt"),
        "read_small": lambda: [Path("small.txt").read_text() for _ in range(repeat)],
        "edit_big": lambda: _edit("edit50.txt", b"line " + edited, b"LINE " + edited),
        "edit_small": lambda: _edit_small(repeat),
        "edit_journal": lambda: _edit_small(repeat),
        "write_small": lambda: _write(repeat),
        "write_parallel": lambda: _write(repeat),
        "bash_true": lambda: [subprocess.check_call(["bash", "-c", "true"]) for _ in range(repeat)],
        "bash_flood": lambda: _flood(int(os.environ.get("BENCH_FLOOD_BYTES", "500000000"))),
        "grep_rare": lambda: _shell(f"'{rg}' --line-number zzqqxx_not_there tree"),
        "grep": lambda: _shell(f"'{rg}' --line-number --sort path createServer tree"),
        "find": lambda: _shell(f"'{rg}' --files --glob '**/*.d.ts' tree"),
        "ls": lambda: sorted(os.listdir("many"))[:500],
    }


def main() -> None:
    """Run the case of the command line."""
    work = _works(int(sys.argv[2]), sys.argv[3])[sys.argv[1]]
    start = time.perf_counter()
    work()
    print(json.dumps({"seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main()
