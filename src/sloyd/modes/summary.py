"""A tool call in one line of plain text, for doors that draw nothing richer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sloyd.text.terminal import plain_text

__all__ = ["call_summary"]

_FIRST = ("command", "path", "pattern")


def call_summary(tool_name: str, arguments: Mapping[str, Any], width: int = 100) -> str:
    """The tool's name and its most telling argument, cut to ``width`` characters.

    Arguments come from a model: control characters are taken out, so that none reaches a terminal.
    """
    telling = next((str(arguments[key]) for key in _FIRST if key in arguments), "")
    line = " ".join(plain_text(f"{tool_name} {telling}").split())
    return line if len(line) <= width else line[: width - 3] + "..."
