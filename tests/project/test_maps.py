"""The docstring of each package is its map: one line for every module and package in it."""

from __future__ import annotations

import ast
import re

import pytest

from tests.project.sources import Source, sources

FEW = 4
"""A package of at most so many modules needs no map."""

ENTRY = re.compile(r"^    (\w+)  +\S", re.MULTILINE)

PACKAGES = [
    source
    for source in sources("src/sloyd")
    if source.path.name == "__init__.py" and source.module != "sloyd"
]


def inside(package: Source) -> set[str]:
    """The names of the modules and packages that lie directly in a package."""
    directory = package.path.parent
    modules = {path.stem for path in directory.glob("*.py") if not path.stem.startswith("__")}
    return modules | {path.parent.name for path in directory.glob("*/__init__.py")}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.module)
def test_a_package_tells_what_is_in_it(package: Source) -> None:
    told = ENTRY.findall(ast.get_docstring(package.tree) or "")
    names = inside(package)
    assert sorted(told) == sorted(set(told)), "told twice"
    assert sorted(set(told) - names) == [], "told but not there"
    if told or len(names) > FEW:
        assert sorted(names - set(told)) == [], "there but not told: give it a line in the map"
