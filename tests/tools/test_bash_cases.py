"""The handed cases of the bash tool: real faults, boiled down to exact inputs."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.tools.commands import Bash

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "cases" / "bash_cases.json").read_text("utf-8")
)
ALLOWED = {
    *("id", "bug", "note", "command", "timeout", "max_s", "contains", "excludes", "error"),
    *("max_output_bytes", "max_rss_growth_mb", "no_process_after", "repeat", "contains_any"),
    "allow_clear_error",  # not needed: such commands run
}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
async def test_case(case: dict[str, Any], tmp_path: Path) -> None:
    assert set(case) <= ALLOWED
    directory = tmp_path / "work"
    directory.mkdir()
    bash = Bash(directory, environment={**os.environ, "TERM": "xterm"})
    arguments = {"timeout": case["timeout"]} if "timeout" in case else {}
    memory = psutil.Process().memory_info().rss
    for _ in range(case.get("repeat", 1)):
        began = time.monotonic()
        text = await bash(case["command"], **arguments)
        assert time.monotonic() - began < case.get("max_s", 60)
        for part in case.get("contains", []):
            assert part in text
        assert any(part in text for part in case.get("contains_any", [""]))
        for part in case.get("excludes", []):
            assert part not in text
        if "error" in case:
            assert bash.result.is_error == case["error"]
    if "max_output_bytes" in case:
        assert len(text.encode()) <= case["max_output_bytes"]
    if "max_rss_growth_mb" in case:
        growth = psutil.Process().memory_info().rss - memory
        assert growth < case["max_rss_growth_mb"] * 1_000_000
    if "no_process_after" in case:
        assert bash.living() == []
    bash.stop_jobs()
