"""All known tools, and which of them the model may use.

A definition of a name that is taken takes its place: an extension may replace a built-in tool.
The active tools keep their order when others come or go, so that providers' prompt caches hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from sloyd.agent.tool import AgentTool
from sloyd.errors import UsageError
from sloyd.llm.models import ToolSchema
from sloyd.tools.definition import ToolDefinition, wrap

__all__ = ["ToolRegistry", "check_name", "select"]

_LONGEST_NAME = 64
"""Characters that all four provider APIs accept in the name of a function."""


class ToolRegistry:
    """Holds definitions and wraps them; those with ``default_active`` are active at first."""

    def __init__(self, definitions: Iterable[ToolDefinition[Any]] = ()) -> None:
        self._definitions: dict[str, ToolDefinition[Any]] = {}
        self._wrapped: dict[str, AgentTool] = {}
        self._active: list[str] = []
        for definition in definitions:
            self.register(definition)

    def register(self, definition: ToolDefinition[Any]) -> None:
        """Add a definition, or replace the one of the same name, which stays active if it was.

        Raises:
            UsageError: for a name that providers do not accept.
        """
        name = check_name(definition.name)
        known = name in self._definitions
        self._definitions[name] = definition
        self._wrapped.pop(name, None)
        if not known and definition.default_active:
            self._active.append(name)

    def get(self, name: str) -> ToolDefinition[Any] | None:
        """The definition of that name, active or not."""
        return self._definitions.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in the order of registration."""
        return tuple(self._definitions)

    @property
    def active_names(self) -> tuple[str, ...]:
        """The names of the active tools, in the order in which the model is told of them."""
        return tuple(self._active)

    @property
    def active(self) -> tuple[ToolDefinition[Any], ...]:
        """The active definitions, in that order."""
        return tuple(self._definitions[name] for name in self._active)

    def activate(self, names: Iterable[str]) -> None:
        """Make exactly these tools active. Those that were keep their order; new ones come last.

        Raises:
            UsageError: for a name that there is not; nothing changes then.
        """
        wanted = list(dict.fromkeys(names))
        for name in wanted:
            if name not in self._definitions:
                raise _unknown(name, self.names)
        staying = [name for name in self._active if name in wanted]
        self._active = staying + [name for name in wanted if name not in staying]

    def agent_tool(self, name: str) -> AgentTool | None:
        """The wrapped tool of that name, active or not."""
        if name not in self._wrapped and name in self._definitions:
            self._wrapped[name] = wrap(self._definitions[name])
        return self._wrapped.get(name)

    def agent_tools(self) -> tuple[AgentTool, ...]:
        """The active tools, wrapped for an agent."""
        return tuple(tool for name in self._active if (tool := self.agent_tool(name)))

    def schemas(self) -> tuple[ToolSchema, ...]:
        """The active tools as a request shows them to the model."""
        return tuple(
            ToolSchema(tool.name, tool.description, tool.parameters) for tool in self.agent_tools()
        )


def select(registry: ToolRegistry, selection: str | Sequence[str]) -> list[str]:
    """The names that a selection such as that of ``--tools`` means.

    Either a list of exactly the tools wanted (``read,grep``), or changes to the active ones
    (``+grep,-bash``). ``*`` in a name stands for any characters, so ``*`` alone means all tools. An
    empty sequence means no tools.

    Raises:
        UsageError: for an empty text, both forms mixed, or a name that matches nothing.
    """
    if isinstance(selection, str):
        entries = [entry for entry in re.split(r"[\s,]+", selection) if entry]
        if not entries:
            raise UsageError("the selection of tools names no tool")
    else:
        entries = list(selection)
    changes = [entry[0] in "+-" for entry in entries if entry]
    if any(changes) and not all(changes):
        raise UsageError(
            f"a selection of tools is either a list of names or changes with + and -, not both:"
            f" {','.join(entries)}"
        )
    if not any(changes):
        return list(dict.fromkeys(name for entry in entries for name in _matches(registry, entry)))
    names = list(registry.active_names)
    for entry in entries:
        matches = _matches(registry, entry[1:])
        names = [name for name in names if name not in matches or entry[0] == "+"]
        if entry[0] == "+":
            names += [name for name in matches if name not in names]
    return names


def check_name(name: str) -> str:
    """The name, if every provider accepts it for a tool; else raises `UsageError`."""
    plain = name.replace("_", "a").replace("-", "a")
    if not (plain.isascii() and plain.isalnum() and len(name) <= _LONGEST_NAME):
        raise UsageError(
            f'"{name}" cannot be the name of a tool: 1 to 64 letters, digits, _ and - can'
        )
    return name


def _matches(registry: ToolRegistry, pattern: str) -> list[str]:
    if "*" not in pattern:
        found = [pattern] if pattern in registry.names else []
    else:
        expression = re.compile(".*".join(map(re.escape, pattern.split("*"))))
        found = [name for name in registry.names if expression.fullmatch(name)]
    if not found:
        raise _unknown(pattern, registry.names)
    return found


def _unknown(name: str, known: Sequence[str]) -> UsageError:
    import difflib

    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    hint = f'did you mean "{near[0]}"? ' if near else ""
    return UsageError(f'there is no tool "{name}"; {hint}the tools are: {", ".join(known)}')
