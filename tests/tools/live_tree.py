"""The live tree that the handed search cases speak of, made by their own script."""

from __future__ import annotations

import runpy
from pathlib import Path

from tests.tools.file_calls import CASES

__all__ = ["build_live_tree"]


def build_live_tree(directory: Path) -> Path:
    """Links, FIFOs, modes, odd names and ignore files below ``directory``."""
    runpy.run_path(str(CASES / "make_live.py"))["build_live"](directory)
    return directory
