"""The demo: a small project with a fault, and a script for the model that finds it.

Only the model's words are scripted. The tools, the files, the processes and the diffs are real,
and `DemoCheck` makes sure of it.
"""

from __future__ import annotations

from sloyd.demo.check import DemoCheck
from sloyd.demo.project_copy import DemoProject, intro, outro, prepare

__all__ = ["DemoCheck", "DemoProject", "intro", "outro", "prepare"]
