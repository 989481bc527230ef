"""What is measured, with which figure it has to reach: one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["Reach", "ToolCase", "tool_cases"]


@dataclass(frozen=True, slots=True)
class Reach:
    """The most that a case may cost, as a ratio to pi's cost in the same run."""

    time: float | None = None
    memory: float | None = None


@dataclass(frozen=True, slots=True)
class ToolCase:
    """Calls of one tool.

    Attributes:
        name: short name, for ``--only`` and the raw tool.
        title: what the table shows.
        tool: the tool's name.
        calls: arguments, taken in turn; ``#N#`` in them becomes the call's number.
        repeat: how many calls one run makes.
        reach: the figure to reach beside pi.
        parallel: all calls at once.
        restores: files of the working directory put into their first state before each run.
        clears: directories removed before each run.
        journal: record each change for undo; pi has no such thing.
        huge: only with ``--huge``.
        most_memory: a limit in MB that holds without pi too.
        without_pi: pi cannot do it, or should not be asked to.
        beside_raw: measure the raw tool too, also where pi is given, and take at most this many
            times its time plus 20 ms.
    """

    name: str
    title: str
    tool: str
    calls: tuple[Mapping[str, Any], ...]
    repeat: int = 1
    reach: Reach = field(default_factory=Reach)
    parallel: bool = False
    restores: tuple[str, ...] = ()
    clears: tuple[str, ...] = ()
    journal: bool = False
    huge: bool = False
    most_memory: float | None = None
    without_pi: bool = False
    beside_raw: float | None = None

    def plan(self, *, journal: bool) -> dict[str, Any]:
        """The calls as the drivers read them."""
        return {
            "calls": list(self.calls),
            "repeat": self.repeat,
            "parallel": self.parallel,
            "journal": journal and self.journal,
        }


def _edit(path: str, old: str, new: str) -> dict[str, Any]:
    return {"path": path, "edits": [{"oldText": old, "newText": new}]}


def _flood(size: int) -> dict[str, Any]:
    return {"command": f"yes 'some output line of a build' | head -c {size}"}


def _read_cases(scale: float, repeat: int) -> list[ToolCase]:
    deep = max(1500, int(9_000_000 * scale))
    from_deep = ({"path": "big.txt", "offset": deep, "limit": 100},)
    return [
        ToolCase(
            "read_deep",
            f"read 100 lines at line {deep:,} of {960 * scale:.3g} MB",
            "read",
            from_deep,
            reach=Reach(0.5, 0.4),
        ),
        ToolCase(
            "read_head", "read the head of that file", "read", ({"path": "big.txt"},), 1, Reach(0.5)
        ),
        ToolCase(
            "read_small", "read a small file", "read", ({"path": "small.txt"},), repeat, Reach(0.6)
        ),
    ]


def _edit_cases(scale: float, repeat: int) -> list[ToolCase]:
    middle = f"{max(500, int(250_000 * scale)):08d}"
    there_and_back = (
        _edit("editsmall.txt", "the ALPHA word", "the BETA word"),
        _edit("editsmall.txt", "the BETA word", "the ALPHA word"),
    )
    small = ToolCase(
        "edit_small",
        "edit a small file",
        "edit",
        there_and_back,
        repeat,
        Reach(1.0),
        restores=("editsmall.txt",),
    )
    return [
        ToolCase(
            "edit_big",
            f"one edit in {50 * scale:.3g} MB",
            "edit",
            (_edit("edit50.txt", f"line {middle} ", f"LINE {middle} "),),
            reach=Reach(0.7, 0.7),
            restores=("edit50.txt",),
        ),
        small,
        replace(
            small,
            name="edit_journal",
            title=f"{small.title}, with undo",
            reach=Reach(),
            journal=True,
        ),
    ]


def _write_cases(repeat: int) -> list[ToolCase]:
    one = ToolCase(
        "write_small",
        "write a small file",
        "write",
        ({"path": "w/f#N#.txt", "content": "x" * 4096},),
        repeat,
        Reach(1.0),
        clears=("w",),
    )
    together = replace(
        one, name="write_parallel", title="write small files, all at once", parallel=True
    )
    return [one, replace(together, reach=Reach())]


def _other_cases(scale: float, repeat: int) -> list[ToolCase]:
    flood = max(1_000_000, int(500_000_000 * scale))
    rare = ({"pattern": "zzqqxx_not_there", "path": "tree"},)
    common = ({"pattern": "createServer", "path": "tree", "limit": 100},)
    declarations = ({"pattern": "**/*.d.ts", "path": "tree", "limit": 100_000},)
    ten_gigabytes = 10_000_000_000
    return [
        ToolCase("bash_true", "bash `true`", "bash", ({"command": "true"},), repeat, Reach(1.0)),
        ToolCase(
            "bash_flood",
            f"bash with {flood // 1_000_000} MB of output",
            "bash",
            (_flood(flood),),
            reach=Reach(0.5, 0.3),
        ),
        ToolCase(
            "grep_rare",
            "grep that finds nothing",
            "grep",
            rare,
            reach=Reach(0.5),
            beside_raw=1.2,
        ),
        ToolCase("grep", "grep with 100 matches", "grep", common),
        ToolCase("find", "find all declarations", "find", declarations, 1, Reach(1.0)),
        ToolCase(
            "ls", "ls of a large directory", "ls", ({"path": "many", "limit": 500},), 1, Reach(1.0)
        ),
        ToolCase(
            "huge_output",
            "bash with 10 GB of output",
            "bash",
            (_flood(ten_gigabytes),),
            huge=True,
            most_memory=100,
            without_pi=True,
        ),
        ToolCase(
            "huge_file",
            "read in a 10 GB sparse file",
            "read",
            ({"path": "sparse.bin", "offset": 2, "limit": 10},),
            huge=True,
            most_memory=100,
            without_pi=True,
        ),
    ]


def tool_cases(scale: float) -> list[ToolCase]:
    """All cases for a scale; 1 is the size that the figures are stated for."""
    repeat = max(5, int(300 * min(1.0, scale * 4)))
    return [
        *_read_cases(scale, repeat),
        *_edit_cases(scale, repeat),
        *_write_cases(repeat),
        *_other_cases(scale, repeat),
    ]
