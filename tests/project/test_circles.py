"""No module needs, by whatever way round, itself: imports inside of functions count too."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter

from tests.project.sources import Source, sources

MODULES = {source.module: source for source in sources("src/sloyd") if source.module != "sloyd"}


def running(nodes: Iterable[ast.AST]) -> Iterator[ast.ImportFrom]:
    """The imports that are carried out at some time; those for type checkers never are."""
    for node in nodes:
        match node:
            case ast.ImportFrom():
                yield node
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=other):
                yield from running(other)
            case _:
                yield from running(ast.iter_child_nodes(node))


def needed(source: Source) -> set[str]:
    """The modules of the package that a module imports."""
    found = set()
    for node in running(source.tree.body):
        for alias in node.names:
            name = f"{node.module}.{alias.name}"
            found.add(name if name in MODULES else node.module or "")
    return found & MODULES.keys() - {source.module}


def test_imports_go_in_no_circle() -> None:
    graph = {module: needed(source) for module, source in MODULES.items()}
    assert sum(map(len, graph.values())) > len(MODULES), "the imports were not seen"
    circle: list[str] = []
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1]
    assert circle == [], "move what both need into a module below both"
