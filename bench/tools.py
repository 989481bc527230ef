"""The tools measured: each run is a process of its own that times its calls itself."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from bench.cases import ToolCase
from bench.contenders import Pi, quiet_environment, rg_program
from bench.measure import Sample, run_reporting_child

__all__ = ["ToolBench"]

_HERE = Path(__file__).parent
_SPARSE_BYTES = 10_000_000_000


class ToolBench:
    """Runs tool cases in a directory of work files."""

    def __init__(self, directory: Path, pi: Pi | None, scale: float) -> None:
        self._directory = directory
        self._pi = pi
        home = directory / "home"
        home.mkdir(exist_ok=True)
        self._environment = quiet_environment(
            home,
            BENCH_DEEP_LINE=str(max(1500, int(9_000_000 * scale))),
            BENCH_EDIT_LINE=f"{max(500, int(250_000 * scale)):08d}",
            BENCH_FLOOD_BYTES=str(max(1_000_000, int(500_000_000 * scale))),
        )

    def run(self, case: ToolCase, contender: str) -> Sample:
        """One sample of ``sloyd``, ``pi`` or ``raw``."""
        self._put_in_place(case)
        return run_reporting_child(
            self._command(case, contender), self._directory, self._environment
        )

    def _command(self, case: ToolCase, contender: str) -> list[str]:
        plan = json.dumps(case.plan(journal=contender == "sloyd"))
        if contender == "pi":
            assert self._pi is not None
            driver = str(_HERE / "pi_tools.mjs")
            return [self._pi.node, driver, str(self._pi.package), case.tool, plan]
        if contender == "raw":
            driver = str(_HERE / "raw_tools.py")
            return [sys.executable, driver, case.name, str(case.repeat), rg_program()]
        return [sys.executable, str(_HERE / "sloyd_tools.py"), case.tool, plan]

    def _put_in_place(self, case: ToolCase) -> None:
        for name in case.clears:
            shutil.rmtree(self._directory / name, ignore_errors=True)
        for name in case.restores:
            kept = self._directory / f"{name}.first"
            if not kept.exists():
                shutil.copyfile(self._directory / name, kept)
            shutil.copyfile(kept, self._directory / name)
        if case.name == "huge_file":
            with (self._directory / "sparse.bin").open("wb") as file:
                file.write(b"a text begins\nand has a second line\n")
                file.truncate(_SPARSE_BYTES)
        # Else a durable write of this run waits for what the one before has left to write.
        os.sync()
