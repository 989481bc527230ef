"""The files that the cases work on, made once below ``bench/work`` and kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["LINE_BYTES", "make_work_files"]

LINE_BYTES = 96
_BIG_LINES = 10_000_000
_EDIT_LINES = 526_000
_TREE_BYTES = 200_000_000
_MANY = 20_000
_FILLER = " abcdefgh ijklmnop qrstuvwx yz012345 ABCDEFGH IJKLMNOP QRSTUVWX YZ"


def _line(number: int) -> str:
    return f"line {number:08d}{_FILLER}".ljust(LINE_BYTES - 1, ".") + "\n"


def _lines(first: int, count: int) -> bytes:
    return "".join(_line(number) for number in range(first, first + count)).encode()


def _write_lines(path: Path, count: int) -> None:
    unfinished = path.with_name(path.name + ".part")
    with unfinished.open("wb") as file:
        for first in range(0, count, 10_000):
            file.write(_lines(first, min(10_000, count - first)))
    unfinished.rename(path)


def _module_text(package: int, module: int, size: int) -> bytes:
    """Something like a JavaScript module: short lines, words that repeat, a few rare ones."""
    lines = [f"// package {package}, module {module}\n", '"use strict";\n']
    if module % 40 == 0:
        lines.append('const server = require("http").createServer(handler);\n')
    written = sum(map(len, lines))
    number = 0
    while written < size:
        line = (
            f"  function handle_{number % 97}(request, value) {{ "
            f"return value + {number * 7919 % 10007}; }}\n"
            if number % 3
            else f'exports.name{number % 211} = lookup(state, "key-{number % 53}", options);\n'
        )
        lines.append(line)
        written += len(line)
        number += 1
    return "".join(lines).encode()


def _tree_files(total: int) -> Iterator[tuple[str, bytes]]:
    """A node_modules of many packages: a third declarations, sizes from 0.5 to 24 KB."""
    made = index = 0
    while made < total:
        package, module = divmod(index, 30)
        size = 500 + (index * 7919 % 29) ** 2 * 30
        content = _module_text(package, module, size)
        kind = ("js", "d.ts", "mjs")[module % 3]
        yield f"package-{package:04d}/lib/part-{module % 5}/module-{module:02d}.{kind}", content
        made += len(content)
        index += 1


def _make_tree(directory: Path, total: int) -> None:
    unfinished = directory.with_name(directory.name + ".part")
    shutil.rmtree(unfinished, ignore_errors=True)
    for name, content in _tree_files(total):
        path = unfinished / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    unfinished.rename(directory)


def _make_many(directory: Path, count: int) -> None:
    directory.mkdir()
    for number in range(count):
        (directory / f"file-{number:05d}.txt").touch()


def make_work_files(parent: Path, scale: float) -> Path:
    """The directory with all files for a scale (1 is full size: 1.3 GB); makes what is missing."""
    directory = parent / f"scale-{scale:g}"
    directory.mkdir(parents=True, exist_ok=True)
    makers: dict[str, Callable[[Path], None]] = {
        "big.txt": lambda path: _write_lines(path, max(3000, int(_BIG_LINES * scale))),
        "edit50.txt": lambda path: _write_lines(path, max(1000, int(_EDIT_LINES * scale))),
        "small.txt": lambda path: _write_lines(path, 100),
        "tree": lambda path: _make_tree(path, int(_TREE_BYTES * scale)),
        "many": lambda path: _make_many(path, max(600, int(_MANY * scale))),
    }
    for name, make in makers.items():
        if not (directory / name).exists():
            make(directory / name)
    # The edits go back and forth, so the file is put into its first state before each run.
    (directory / "editsmall.txt").write_text("first\nthe ALPHA word\nlast\n")
    return directory
