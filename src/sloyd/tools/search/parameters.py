"""What a call of grep or find takes, and its default limits, apart from the search itself.

The definitions of the tools are loaded at every start, the search only when it is used.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from sloyd.errors import ToolError

__all__ = ["FIND_LIMIT", "GREP_LIMIT", "FindParameters", "GrepParameters", "limit_of"]

FIND_LIMIT = 1000
"""Results, as in pi."""

GREP_LIMIT = 100
"""Matches, as in pi."""


class FindParameters(Struct, frozen=True, rename="camel"):
    """What to find, and where."""

    pattern: Annotated[
        str, Meta(description="Glob pattern, e.g. '*.ts', '**/*.json', 'src/**/*.spec.ts'")
    ]
    path: Annotated[
        str | None, Meta(description="Directory to search in (default: current directory)")
    ] = None
    limit: Annotated[
        int | None, Meta(description=f"Maximum number of results (default: {FIND_LIMIT})")
    ] = None


class GrepParameters(Struct, frozen=True, rename="camel"):
    """What to search for, and where."""

    pattern: Annotated[str, Meta(description="Regular expression, or plain text with literal")]
    path: Annotated[
        str | None, Meta(description="Directory or file to search (default: current directory)")
    ] = None
    glob: Annotated[
        str | None,
        Meta(
            description="Only files that match, e.g. '*.ts', 'src/**/*.py' (relative to path), "
            "or with '!' in front all others"
        ),
    ] = None
    ignore_case: Annotated[bool, Meta(description="Case-insensitive search (default: false)")] = (
        False
    )
    literal: Annotated[bool, Meta(description="Treat pattern as plain text (default: false)")] = (
        False
    )
    context: Annotated[
        int | None, Meta(description="Lines to show before and after each match (default: 0)")
    ] = None
    limit: Annotated[
        int | None, Meta(description=f"Maximum number of matches (default: {GREP_LIMIT})")
    ] = None


def limit_of(asked: int | None, default: int) -> int:
    """How many a call wants at most. Raises `ToolError` for less than one."""
    if asked is None:
        return default
    if asked < 1:
        raise ToolError(f"limit must be at least 1, not {asked}. Leave it out for {default}.")
    return asked
