"""Extensions of installed packages: entry points of the group ``sloyd.extensions``, found cheaply.

Reading the metadata of every installed package takes longer than the rest of the start. What was
found is kept in a file of Sloyd's home and counts as long as no directory of ``sys.path`` has
changed, which installing or removing a package does.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sloyd.errors import SettingsError
from sloyd.harness.home import replace_privately

__all__ = ["GROUP", "EntryPoint", "installed_extensions"]

GROUP = "sloyd.extensions"


class EntryPoint(NamedTuple):
    """One entry point; ``value`` is ``module`` or ``module:function``."""

    name: str
    value: str


def installed_extensions(cache: Path, search_path: Sequence[str] | None = None) -> list[EntryPoint]:
    """The entry points of all packages on the search path, by name.

    ``cache`` is a file; where it cannot be written, the next start looks again.
    """
    stamps = _stamps(sys.path if search_path is None else search_path)
    kept = _kept(cache, stamps)
    if kept is not None:
        return kept
    found = {point.name: point for place, _ in reversed(stamps) for point in _points(place)}
    points = sorted(found.values())
    _keep(cache, stamps, points)
    return points


def _stamps(search_path: Sequence[str]) -> list[tuple[str, int]]:
    stamps = []
    for place in dict.fromkeys(search_path):
        # An empty entry is the working directory: what lies there is no installed package.
        if place:
            try:
                stamps.append((place, os.stat(place).st_mtime_ns))
            except OSError:
                continue
    return stamps


def _kept(cache: Path, stamps: list[tuple[str, int]]) -> list[EntryPoint] | None:
    try:
        content = json.loads(cache.read_bytes())
        if [tuple(stamp) for stamp in content["stamps"]] != stamps:
            return None
        return [EntryPoint(name, value) for name, value in content["points"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(cache: Path, stamps: list[tuple[str, int]], points: list[EntryPoint]) -> None:
    with suppress(SettingsError):
        replace_privately(cache, json.dumps({"stamps": stamps, "points": points}))


def _points(place: str) -> Iterator[EntryPoint]:
    try:
        names = [name for name in os.listdir(place) if name.endswith((".dist-info", ".egg-info"))]
    except OSError:
        return
    for name in sorted(names):
        try:
            text = Path(place, name, "entry_points.txt").read_text("utf-8")
        except (OSError, ValueError):
            continue
        if GROUP in text:
            yield from _of_group(text)


def _of_group(text: str) -> Iterator[EntryPoint]:
    section = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line.strip("[] ")
        elif section == GROUP and "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield EntryPoint(name.strip(), value.partition("[")[0].strip())
