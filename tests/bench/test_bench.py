"""The benchmark measures what it says: small sizes, real processes, the raw tool as a rival."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.cases import Reach, tool_cases
from bench.contenders import find_pi
from bench.measure import Sample, run_child
from bench.table import Row
from bench.workfiles import LINE_BYTES, make_work_files
from tests.project.sources import ROOT

SCALE = 0.0005


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_work_files(tmp_path_factory.mktemp("work"), SCALE)


def bench(work: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    small = ["--work", str(work.parent), "--scale", str(SCALE), "--runs", "1"]
    return subprocess.run(
        [sys.executable, "-m", "bench", *small, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_files_have_the_stated_shape(work: Path) -> None:
    lines = (work / "big.txt").read_text().splitlines(keepends=True)
    assert len(lines) == 5000
    assert {len(line) for line in lines} == {LINE_BYTES}
    assert lines[4321].startswith("line 00004321 ")
    tree = [path for path in (work / "tree").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in tree) >= 200_000_000 * SCALE
    assert any("createServer" in path.read_text() for path in tree)
    assert len(list((work / "many").iterdir())) == 600


def test_files_are_made_once(work: Path) -> None:
    before = (work / "big.txt").stat().st_mtime_ns
    assert make_work_files(work.parent, SCALE) == work
    assert (work / "big.txt").stat().st_mtime_ns == before


@pytest.mark.parametrize("case", ["read_deep", "edit_small", "write_small", "bash_true", "grep"])
def test_a_tool_is_measured_beside_the_raw_one(work: Path, case: str) -> None:
    done = bench(work, "--only", case)
    assert done.stderr == ""
    assert case in done.stdout
    assert "failed" not in done.stdout


def test_the_start_is_measured_on_a_real_request(work: Path) -> None:
    done = bench(work, "--only", "version", "first_request", "turns")
    assert done.stderr == ""
    assert "failed" not in done.stdout


def test_each_case_has_a_name_of_its_own() -> None:
    names = [case.name for case in tool_cases(1)]
    assert len(names) == len(set(names))


def test_a_pi_directory_without_pi_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no pi package"):
        find_pi(str(tmp_path), None)


def test_a_failing_child_is_told_with_its_last_words(tmp_path: Path) -> None:
    code = "import sys; sys.exit('no luck')"
    with pytest.raises(RuntimeError, match="exit code 1: no luck"):
        run_child([sys.executable, "-c", code], tmp_path, dict(os.environ))


def test_memory_is_that_of_the_child(tmp_path: Path) -> None:
    code = "import json; data = bytearray(60_000_000); print(json.dumps({'size': len(data)}))"
    sample, output = run_child([sys.executable, "-c", code], tmp_path, dict(os.environ))
    assert json.loads(output) == {"size": 60_000_000}
    assert sample.memory is not None
    assert sample.memory > 60


def row(ours: float, other: float, reach: Reach, most: float | None = None) -> str:
    samples = [Sample(ours, 40.0)], [Sample(other, 100.0)]
    return Row("case", "work", *samples, "pi", reach, most_seconds=most).lines()[0]


def test_the_verdict_is_the_ratio_of_the_medians() -> None:
    assert row(0.2, 0.5, Reach(0.5)).endswith("0.40   0.50 ok")
    assert row(0.3, 0.5, Reach(0.5)).endswith("0.60   0.50 MISSED")
    assert row(0.3, 0.5, Reach()).endswith("0.60")
    assert row(0.05, 0.5, Reach(), 0.06).endswith("0.10  60 ms ok")
