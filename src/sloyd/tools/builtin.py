"""The seven built-in tools, in the order in which a model gets to know them."""

from __future__ import annotations

from typing import Any

from sloyd.tools.bash import bash_tool
from sloyd.tools.definition import ToolDefinition
from sloyd.tools.edit import edit_tool
from sloyd.tools.environment import ToolEnvironment
from sloyd.tools.find import find_tool
from sloyd.tools.grep import grep_tool
from sloyd.tools.ls import ls_tool
from sloyd.tools.read import read_tool
from sloyd.tools.write import write_tool

__all__ = ["builtin_tools"]


def builtin_tools(environment: ToolEnvironment) -> list[ToolDefinition[Any]]:
    """All built-in definitions: those active by default first, then the read-only searches."""
    return [
        read_tool(environment),
        bash_tool(environment),
        edit_tool(environment),
        write_tool(environment),
        grep_tool(environment),
        find_tool(environment),
        ls_tool(environment),
    ]
