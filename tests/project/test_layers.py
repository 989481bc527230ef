"""The house: imports point downward only, and what each floor may not touch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.project.sources import Source, sources

FLOORS = {
    "text": 0,
    "workspace": 1,
    "llm": 1,
    "agent": 2,
    "tools": 3,
    "sessions": 4,
    "harness": 5,
    "demo": 5,
    "modes": 6,
    "cli": 7,
}
"""The floor of each package. Packages of one floor know nothing of each other."""

EVERYBODY = {"sloyd.errors"}
"""Below the ground floor: anybody may import it."""

NARROWER = {"agent": {"llm"}}
"""Packages that may import less than all that is below them."""

MACHINE = {"os", "pathlib", "subprocess", "shutil", "socket", "tempfile", "glob", "signal"}
IO_MODULES = MACHINE | {"asyncio", "anyio", "threading", "httpx2", "urllib"}

LOCAL_BY_PURPOSE = {
    "sloyd.tools.output": {"os", "tempfile", "pathlib"},
}
"""Tools' parts that act on the machine Sloyd runs on, wherever the workspace is, and with what:
the full log of a command is kept where the person who reads it is."""

PACKAGE_SOURCES = sources("src/sloyd")


def imports(source: Source) -> Iterator[tuple[int, str]]:
    """Each imported module with its line, wherever in the file the import stands."""
    package = (
        source.module if source.path.name == "__init__.py" else source.module.rpartition(".")[0]
    )
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *filter(None, [node.module])])
            if base in {"sloyd", *(f"sloyd.{floor}" for floor in FLOORS)}:
                for alias in node.names:
                    yield node.lineno, f"{base}.{alias.name}"
            else:
                yield node.lineno, base


def floor_of(module: str) -> str | None:
    """The package of the house that a module belongs to; None for the roof and outsiders."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "sloyd" and parts[1] in FLOORS else None


def is_downward(package: str, imported: str) -> bool:
    if imported in EVERYBODY or imported.rpartition(".")[0] in EVERYBODY:
        return True
    if imported == "sloyd.__version__":
        return True
    other = floor_of(imported)
    if other is None:
        return False
    if other == package:
        return True
    if package in NARROWER and other not in NARROWER[package]:
        return False
    return FLOORS[other] < FLOORS[package]


@pytest.mark.parametrize("package", FLOORS)
def test_imports_point_downward(package: str) -> None:
    upward = [
        f"{source.shown}:{line} imports {imported}"
        for source in PACKAGE_SOURCES
        if floor_of(source.module) == package
        for line, imported in imports(source)
        if imported.split(".")[0] == "sloyd" and not is_downward(package, imported)
    ]
    assert upward == []


def test_errors_import_nothing_of_ours() -> None:
    errors = next(source for source in PACKAGE_SOURCES if source.module == "sloyd.errors")
    assert [name for _, name in imports(errors) if name.startswith("sloyd")] == []


def test_every_module_has_a_floor() -> None:
    roof = {"sloyd", "sloyd.__main__", "sloyd.errors", "sloyd.pytest_plugin"}
    roof |= {"sloyd.rpc_client", "sloyd.rpc_connection"}
    homeless = [
        source.shown
        for source in PACKAGE_SOURCES
        if source.module not in roof and floor_of(source.module) is None
    ]
    assert homeless == []


def test_text_is_pure() -> None:
    found = []
    for source in PACKAGE_SOURCES:
        if floor_of(source.module) != "text":
            continue
        found += [
            f"{source.shown}:{line} imports {name}"
            for line, name in imports(source)
            if name.split(".")[0] in IO_MODULES
        ]
        for node in ast.walk(source.tree):
            is_async = isinstance(
                node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith
            )
            is_open = isinstance(node, ast.Name) and node.id in {"open", "print", "input"}
            if is_async or is_open:
                found.append(f"{source.shown}:{getattr(node, 'lineno', 0)} does I/O or waits")
    assert found == []


def test_tools_touch_the_machine_only_through_the_workspace() -> None:
    found = [
        f"{source.shown}:{line} imports {name}"
        for source in PACKAGE_SOURCES
        if floor_of(source.module) == "tools"
        for line, name in imports(source)
        if name.split(".")[0] in MACHINE - LOCAL_BY_PURPOSE.get(source.module, set())
    ]
    assert found == []


def test_the_core_never_imports_what_is_optional() -> None:
    optional = {"pydantic", "openai", "anthropic", "google", "keyring", "mcp", "acp", "ray"}
    found = [
        f"{source.shown}:{line} imports {name}"
        for source in PACKAGE_SOURCES
        if source.module != "sloyd.llm.credentials"
        for line, name in imports(source)
        if name.split(".")[0] in optional
    ]
    assert found == []
