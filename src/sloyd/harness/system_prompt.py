"""The system prompt, built from the active tools and the surroundings.

It holds no date, time or random part: two runs in the same place give the same bytes, so that
providers' prompt caches hit. Parts that change least come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sloyd.tools.definition import ToolDefinition

__all__ = ["system_prompt"]

_PREAMBLE = """\
You are a coding agent at work in a person's terminal. You look into their files, run commands and \
change code through the tools below, until what they asked for is done."""

_SEARCH_RULE = "Search with bash (rg, find, ls): there are no tools of their own for it"
_GENERAL_RULES = (
    "Be brief in what you write to the person, and name the files you speak of by their paths",
    "When something fails, read the error and change your approach before you try again",
)


def system_prompt(
    tools: Sequence[ToolDefinition[Any]],
    *,
    cwd: str,
    base: str | None = None,
    additions: Sequence[str] = (),
) -> str:
    """The whole system prompt.

    ``base`` takes the place of the preamble, the list of tools and the rules; ``additions`` come
    behind either. The working directory is always told, last.
    """
    parts = [base] if base is not None else [_PREAMBLE, *_tool_parts(tools)]
    parts += additions
    parts.append(f"Working directory: {cwd}")
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _tool_parts(tools: Sequence[ToolDefinition[Any]]) -> list[str]:
    snippets = [f"- {tool.name}: {tool.prompt_snippet}" for tool in tools if tool.prompt_snippet]
    listed = "Tools:\n" + ("\n".join(snippets) if snippets else "(none)")
    return [listed, "Rules:\n" + "\n".join(f"- {rule}" for rule in _rules(tools))]


def _rules(tools: Sequence[ToolDefinition[Any]]) -> list[str]:
    names = {tool.name for tool in tools}
    rules: list[str] = []
    if "bash" in names and not names & {"grep", "find", "ls"}:
        rules.append(_SEARCH_RULE)
    for tool in tools:
        rules += tool.prompt_guidelines
    return list(dict.fromkeys([*rules, *_GENERAL_RULES]))
