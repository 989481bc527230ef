"""``sloyd --list-models``: print the models that are known."""

from __future__ import annotations

import os

from sloyd.harness.home import sloyd_home
from sloyd.harness.model_config import read_model_tables
from sloyd.harness.model_list import model_table
from sloyd.harness.settings_files import load_settings
from sloyd.modes.output import Output

__all__ = ["list_models_door"]


def list_models_door(search: str) -> int:
    """Print a line for each known model that holds all words of ``search``."""
    loaded = load_settings(sloyd_home(os.environ) / "config.toml")
    tables, problems = read_model_tables(loaded)
    errors, output = Output("stderr"), Output("stdout")
    for problem in (*loaded.problems, *problems):
        errors.line(f"sloyd: {problem}")
    for line in model_table(tables, os.environ, search):
        output.line(line)
    return 0
