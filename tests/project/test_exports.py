"""`__all__` of each module is what it defines in public: no more, no less."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable, Iterator

import pytest

from tests.project.sources import Source, sources

MODULES = [
    source
    for source in sources("src/sloyd")
    if source.text.strip() and not source.module.endswith("__main__")
]
PARAMETER_MAKERS = {"TypeVar", "ParamSpec", "TypeVarTuple"}


def _makes_type_parameter(value: ast.expr | None) -> bool:
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id in PARAMETER_MAKERS
    )


def defined(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """Names that a module itself defines at its top level, branches of `if` and `try` included."""
    for statement in statements:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield statement.name
            case ast.Assign(targets=targets, value=value) if not _makes_type_parameter(value):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.If(body=body, orelse=other):
                yield from defined([*body, *other])
            case ast.Try(body=body, orelse=other, handlers=handlers):
                yield from defined([*body, *other])
                for handler in handlers:
                    yield from defined(handler.body)
            case _:
                pass


def public(source: Source) -> set[str]:
    return {name for name in defined(source.tree.body) if not name.startswith("_")}


@pytest.mark.parametrize("source", MODULES, ids=lambda source: source.module)
def test_all_names_what_is_public(source: Source) -> None:
    module = importlib.import_module(source.module)
    names = list(getattr(module, "__all__", []))
    assert len(names) == len(set(names)), "named twice"
    assert [name for name in names if not hasattr(module, name)] == [], "named but not there"
    assert sorted(public(source) - set(names)) == [], "defined in public but not named"


@pytest.mark.parametrize("source", MODULES, ids=lambda source: source.module)
def test_says_what_it_is_for(source: Source) -> None:
    assert ast.get_docstring(source.tree), "a module says in its docstring what its one idea is"


def test_what_type_checkers_see_is_what_is_imported_on_demand() -> None:
    """The imports under ``TYPE_CHECKING`` and the table of lazy ones are twins."""
    root = next(source for source in MODULES if source.module == "sloyd")
    checked = {
        alias.name: node.module
        for node in ast.walk(root.tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("sloyd.")
        for alias in node.names
    }
    sloyd = importlib.import_module("sloyd")
    assert {*checked, "__version__"} == set(sloyd.__all__)
    for name, module in checked.items():
        assert getattr(sloyd, name) is getattr(importlib.import_module(module), name)


def test_the_package_offers_each_name_and_lists_it() -> None:
    sloyd = importlib.import_module("sloyd")
    assert set(sloyd.__all__) <= set(dir(sloyd))
    for name in sloyd.__all__:
        assert getattr(sloyd, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        sloyd.no_such_name  # noqa: B018
