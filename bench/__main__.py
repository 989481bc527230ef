"""``make bench``: every figure that Sloyd has to reach, in one table.

Beside pi where ``--pi`` or the variable ``PI`` names the directory of an installed
``@earendil-works/pi-coding-agent`` (``NODE`` names its interpreter), else beside the raw tool. The
contenders take turns, so that a slow moment of the machine hits both; the medians are compared.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

from bench.cases import Reach, ToolCase, tool_cases
from bench.contenders import Pi, find_pi
from bench.measure import Sample
from bench.starts import START_CASES, StartBench, StartCase
from bench.table import HEADER, Row
from bench.tools import ToolBench
from bench.workfiles import make_work_files

__all__ = ["main"]

_WORK = Path(__file__).parent / "work"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--pi", default=os.environ.get("PI"), metavar="DIR", help="pi's package")
    parser.add_argument("--node", default=os.environ.get("NODE"), help="node to run pi with")
    parser.add_argument("--raw", action="store_true", help="the raw tool, also where pi is given")
    parser.add_argument("--runs", type=int, default=5, help="runs of each contender (default 5)")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the work (default 1)")
    parser.add_argument("--only", nargs="*", default=[], metavar="CASE", help="only these cases")
    parser.add_argument("--huge", action="store_true", help="also 10 GB of output and of file")
    parser.add_argument("--work", type=Path, default=_WORK, help="where the work files are")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    return parser.parse_args()


def _take_turns(
    run: Callable[[str], Sample], contenders: list[str], runs: int
) -> dict[str, list[Sample]]:
    """The samples of each contender; one that fails says so and has none."""
    samples: dict[str, list[Sample]] = {contender: [] for contender in contenders}
    failed: set[str] = set()
    for _ in range(runs):
        for contender in contenders:
            if contender in failed:
                continue
            try:
                samples[contender].append(run(contender))
            except RuntimeError as error:
                print(f"  {contender}: {error}", file=sys.stderr)
                failed.add(contender)
                samples[contender].clear()
    return samples


def _start_row(bench: StartBench, case: StartCase, pi: Pi | None, runs: int) -> Row:
    contenders = ["sloyd", *(["pi"] if pi else [])]
    samples = _take_turns(lambda contender: bench.run(case, contender), contenders, runs)
    most = case.most_milliseconds
    return Row(
        case.name,
        case.title,
        samples["sloyd"],
        samples.get("pi", []),
        "pi",
        case.reach,
        most_seconds=most / 1000 if most is not None else None,
    )


def _tool_rows(
    bench: ToolBench, case: ToolCase, pi: Pi | None, options: argparse.Namespace
) -> list[Row]:
    other = "pi" if pi and not options.raw else "raw"
    contenders = ["sloyd"]
    if not case.without_pi:
        contenders.append(other)
    if case.beside_raw is not None and other == "pi":
        contenders.append("raw")
    runs = 1 if case.huge else options.runs
    samples = _take_turns(lambda contender: bench.run(case, contender), contenders, runs)
    if other == "pi" and samples.get("pi") == []:
        # pi fetches some of its programs itself, and cannot where there is no network.
        other = "raw"
        samples |= _take_turns(lambda contender: bench.run(case, contender), ["raw"], runs)
    row = Row(
        case.name,
        case.title,
        samples["sloyd"],
        samples.get(other, []),
        other,
        case.reach,
        most_memory=case.most_memory,
        per_call=case.repeat,
    )
    if case.beside_raw is None or not samples.get("raw"):
        return [row]
    raw = samples["raw"]
    most = case.beside_raw * median(sample.seconds for sample in raw) + 0.02
    beside = Row(
        case.name, "  beside the raw tool", row.ours, raw, "raw", Reach(), most_seconds=most
    )
    return [row, beside] if other == "pi" else [replace(row, most_seconds=most)]


def main() -> int:
    """Measure and print. The exit code is 1 when a figure is missed or a case failed."""
    options = _options()
    cases: list[StartCase | ToolCase] = [*START_CASES]
    cases += [case for case in tool_cases(options.scale) if options.huge or not case.huge]
    if options.list:
        print("\n".join(case.name for case in cases))
        return 0
    if options.only:
        cases = [case for case in cases if case.name in options.only]
    pi = find_pi(options.pi, options.node)
    directory = make_work_files(options.work.resolve(), options.scale)
    beside = f"pi {pi.version}" if pi and not options.raw else "the raw tool"
    print(f"Sloyd beside {beside}; Python {platform.python_version()}; {options.runs} runs each")
    print(HEADER)
    starts = StartBench(directory, pi)
    tools = ToolBench(directory, pi, options.scale)
    good = True
    for case in cases:
        rows = (
            [_start_row(starts, case, pi, options.runs)]
            if isinstance(case, StartCase)
            else _tool_rows(tools, case, pi, options)
        )
        for line in (line for row in rows for line in row.lines()):
            print(line, flush=True)
            good = good and not ("MISSED" in line or "failed" in line)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
