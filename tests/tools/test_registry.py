"""Which tools there are, which are active, and what ``--tools`` means."""

from __future__ import annotations

from typing import Any

import pytest

from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.errors import UsageError
from sloyd.tools.definition import ToolDefinition
from sloyd.tools.registry import ToolRegistry, select


def definition(name: str, *, active: bool = True, text: str = "") -> ToolDefinition[Any]:
    async def execute(context: ToolCallContext, parameters: Any) -> ToolResult:
        return ToolResult.of(text)

    return ToolDefinition(
        name=name,
        label=name,
        description=text or name,
        parameters={"type": "object", "properties": {}},
        execute=execute,
        default_active=active,
    )


@pytest.fixture
def registry() -> ToolRegistry:
    return ToolRegistry(
        [
            *(definition(name) for name in ("read", "bash", "edit", "write")),
            *(definition(name, active=False) for name in ("grep", "find", "ls")),
        ]
    )


def test_defaults_are_active_in_order(registry: ToolRegistry) -> None:
    assert registry.active_names == ("read", "bash", "edit", "write")
    assert [tool.name for tool in registry.agent_tools()] == list(registry.active_names)
    assert [schema.name for schema in registry.schemas()] == list(registry.active_names)
    assert registry.names[4:] == ("grep", "find", "ls")
    assert registry.get("ls") is not None
    assert registry.get("sl") is None


def test_active_tools_keep_their_order_and_new_ones_come_last(registry: ToolRegistry) -> None:
    registry.activate(["ls", "write", "read", "ls"])
    assert registry.active_names == ("read", "write", "ls")


def test_a_misspelt_name_changes_nothing(registry: ToolRegistry) -> None:
    with pytest.raises(UsageError, match='did you mean "grep"'):
        registry.activate(["read", "gerp"])
    assert registry.active_names == ("read", "bash", "edit", "write")


def test_a_definition_of_a_taken_name_takes_its_place(registry: ToolRegistry) -> None:
    before = registry.agent_tools()
    registry.register(definition("bash", active=False, text="over ssh"))
    assert registry.active_names == ("read", "bash", "edit", "write")
    assert registry.schemas()[1].description == "over ssh"
    assert registry.agent_tools()[0] is before[0]
    registry.register(definition("extra"))
    assert "extra" in registry.active_names[-1:]


@pytest.mark.parametrize("name", ["", "a b", "a.b", "ä", "x" * 65, "-\n"])
def test_names_that_providers_refuse_are_refused(registry: ToolRegistry, name: str) -> None:
    with pytest.raises(UsageError, match="name of a tool"):
        registry.register(definition(name))


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ("read,grep", ["read", "grep"]),
        ("grep read", ["grep", "read"]),
        (" read , grep,read ", ["read", "grep"]),
        ("*", ["read", "bash", "edit", "write", "grep", "find", "ls"]),
        ("*d", ["read", "find"]),
        ("+grep,-bash", ["read", "edit", "write", "grep"]),
        ("-*,+ls", ["ls"]),
        ("+read", ["read", "bash", "edit", "write"]),
        ("-grep", ["read", "bash", "edit", "write"]),
        (["read", "ls"], ["read", "ls"]),
        ([], []),
    ],
)
def test_selections(registry: ToolRegistry, selection: Any, expected: list[str]) -> None:
    assert select(registry, selection) == expected
    assert registry.active_names == ("read", "bash", "edit", "write")


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ("read,+grep", "not both: read,\\+grep"),
        ("raed", 'there is no tool "raed"; did you mean "read"'),
        ("+gerp", 'did you mean "grep"'),
        ("zzz*", "the tools are: read, bash"),
        ("", "names no tool"),
        (" , ", "names no tool"),
        ([""], "there is no tool"),
    ],
)
def test_selections_that_mean_nothing(registry: ToolRegistry, selection: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        select(registry, selection)
