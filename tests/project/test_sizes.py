"""Nothing grows past what one can read: files of at most 600 lines, functions of at most 60."""

from __future__ import annotations

import ast
from statistics import median

from tests.project.sources import sources

MOST_FILE_LINES = 600
MOST_FUNCTION_LINES = 60
MOST_MEDIAN_LINES = 200

EVERYTHING = sources("src/sloyd", "tests", "bench", "scripts", "examples")


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from ``def`` to the end; the docstring is not counted, for it should be as long as it
    needs to be."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def test_no_file_is_too_long() -> None:
    long = [
        f"{source.shown}: {source.text.count(chr(10))}"
        for source in EVERYTHING
        if source.text.count("\n") > MOST_FILE_LINES
    ]
    assert long == []


def test_the_usual_file_is_short() -> None:
    lines = [source.text.count("\n") for source in sources("src/sloyd") if source.text]
    assert median(lines) <= MOST_MEDIAN_LINES


def test_no_function_is_too_long() -> None:
    long = [
        f"{source.shown}:{node.lineno} {node.name}: {length(node)}"
        for source in EVERYTHING
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and length(node) > MOST_FUNCTION_LINES
    ]
    assert long == []
