"""The question whether a project may configure Sloyd, put before anything else is on the screen."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sloyd.cli.parser import Options
from sloyd.harness.home import sloyd_home
from sloyd.harness.trust import TrustFile, needs_trust
from sloyd.modes.output import Output
from sloyd.text.terminal import plain_text

__all__ = ["with_trust"]


def with_trust(options: Options) -> Options:
    """The options with what the person at the terminal says, where they have to be asked.

    What they say for good is kept; what holds for this run is what the flag would say.
    """
    if options.approve or options.no_approve:
        return options
    home = sloyd_home(os.environ)
    project = Path(options.cwd).expanduser().absolute() if options.cwd else Path.cwd()
    found = needs_trust(project, home)
    if not found or _is_decided(project, home):
        return options
    answer = _asked(project, found)
    if answer in ("a", "v"):
        TrustFile(home).decide(project, "trusted" if answer == "a" else "untrusted")
        return options
    return msgspec.structs.replace(options, approve=answer == "o", no_approve=answer != "o")


def _is_decided(project: Path, home: Path) -> bool:
    from sloyd.harness.settings_files import load_settings

    if load_settings(home / "config.toml").settings.sessions.project_trust != "ask":
        return True
    return TrustFile(home).decision(project) is not None


def _asked(project: Path, found: Sequence[Path]) -> str:
    """One letter; anything that is none of them means not now."""
    out = Output("stderr")
    out.line(f"{plain_text(str(project))} would configure Sloyd or run code of its own:")
    for path in found:
        shown = path.relative_to(project) if path.is_relative_to(project) else path
        out.line(f"  {plain_text(str(shown))}")
    out.write("Trust it? [a]lways, [o]nce, not [n]ow, ne[v]er: ")
    # The same buffer that the conversation reads from: what is typed ahead is not lost.
    line = sys.stdin.buffer.readline() if sys.stdin is not None else b""
    return line.decode("utf-8", "replace").strip().lower()[:1]
