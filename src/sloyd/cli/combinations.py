"""Which switches exclude each other, and which need another: told before anything is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sloyd.cli.durations import seconds_of
from sloyd.errors import UsageError

if TYPE_CHECKING:
    from sloyd.cli.parser import Options

__all__ = ["check_combination"]

_WHICH_SESSION = (
    "continue_",
    "resume",
    "session",
    "session_id",
    "fork",
    "no_session",
)
_APART: tuple[tuple[str, ...], ...] = (
    _WHICH_SESSION,
    ("no_session", "session_dir"),
    ("no_tools", "tools"),
    ("no_tools", "no_builtin_tools"),
    ("approve", "no_approve"),
    ("resume", "print"),
    ("resume", "mode"),
    ("plain", "print"),
    ("plain", "mode"),
    *(("replay", other) for other in ("model", "provider", "base_url", "api_key", "record")),
    *(("export", other) for other in ("print", "mode", "name", *_WHICH_SESSION)),
)
"""Of each row, at most one switch can be given."""


def check_combination(options: Options) -> None:
    """Raise `UsageError` for switches that cannot mean anything together."""
    for row in _APART:
        given = [key for key in row if getattr(options, key)]
        if len(given) > 1:
            raise UsageError(f"{_spelled(given[0])} and {_spelled(given[1])} exclude each other")
    if options.mode == "rpc":
        if options.print:
            raise UsageError("--print and --mode rpc exclude each other")
        # Of words beside an extension's switch only the extension knows whether they are its own.
        if options.words and not options.unsorted:
            raise UsageError(
                "--mode rpc takes no prompt on the command line; send the command"
                ' {"type": "prompt", "message": "..."} on standard input'
            )
    if options.export is not None and len(options.words) > 1:
        raise UsageError(f"--export takes one output file, not also {options.words[1]}")
    if options.max_turns is not None and options.max_turns < 1:
        raise UsageError("--max-turns takes a whole number from 1 up")
    if options.max_cost is not None and not options.max_cost > 0:
        raise UsageError("--max-cost takes an amount above 0")
    if options.max_time is not None:
        seconds_of("--max-time", options.max_time)


def _spelled(key: str) -> str:
    return "--" + key.rstrip("_").replace("_", "-")
