"""The handed cases of arguments as models send them, through the real tools on real files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sloyd.agent.tool import ToolCallContext
from sloyd.errors import ToolError
from sloyd.llm.messages import text_of
from sloyd.tools.builtin import builtin_tools
from sloyd.tools.definition import wrap
from sloyd.tools.environment import ToolEnvironment
from sloyd.workspace.local import LocalWorkspace

CASES = json.loads((Path(__file__).parents[1] / "cases" / "arg_cases.json").read_text("utf-8"))


@dataclass
class Outcome:
    """What came of a call: the arguments that the tool got, if any, and what the model reads."""

    arguments: dict[str, Any] | None
    text: str
    failed: bool


async def outcome_of(name: str, raw: object, cwd: Path) -> Outcome:
    environment = ToolEnvironment(LocalWorkspace(str(cwd)))
    tools = {definition.name: wrap(definition) for definition in builtin_tools(environment)}
    tool = tools[name]
    built: Any = None
    try:
        built = tool.validate(tool.prepare(raw))
        result = await tool.execute(ToolCallContext("id"), built)
    except ToolError as error:
        return Outcome(_sent(built), error.for_model, failed=True)
    return Outcome(_sent(built), text_of(result.content), result.is_error)


def _sent(built: Any) -> dict[str, Any] | None:
    """The arguments without those that were left out."""
    if built is None:
        return None
    plain: dict[str, Any] = msgspec.to_builtins(built)
    return {name: value for name, value in plain.items() if value is not None}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
async def test_case(case: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("a\n" + "line\n" * 20)
    outcome = await outcome_of(case["tool"], case["raw"], tmp_path)
    meant = case.get("means")
    match case["demand"]:
        case "coerced":
            assert not outcome.failed
            assert _same(outcome.arguments, meant)
        case "coerced-or-clear-error":
            if outcome.failed:
                assert "Validation failed" in outcome.text
            else:
                assert _same(outcome.arguments, meant)
        case "error":
            assert outcome.failed
            assert case.get("must_mention", "") in outcome.text
        case "error-or-json":
            written = tmp_path / case["raw"]["path"]
            assert outcome.failed != written.exists()
            if written.exists():
                assert json.loads(written.read_text()) == case["raw"]["content"]
        case "runs":
            assert not outcome.failed
        case "runs-or-clear-error":
            assert not outcome.failed or "timeout" in outcome.text
        case demand:
            raise AssertionError(f"unknown demand {demand}")


def _same(arguments: dict[str, Any] | None, meant: object) -> bool:
    """Equal as JSON, which knows no tuples."""
    return bool(json.loads(json.dumps(arguments)) == meant)


@pytest.mark.parametrize("value", [None, 5, True, ["f.txt"], {"path": "f.txt"}])
async def test_nothing_but_text_is_a_path(value: Any, tmp_path: Path) -> None:
    outcome = await outcome_of("read", {"path": value}, tmp_path)
    assert outcome.failed
    assert "path: expected string" in outcome.text


@pytest.mark.parametrize("value", [None, 42, True])
async def test_nothing_but_text_is_written(value: Any, tmp_path: Path) -> None:
    outcome = await outcome_of("write", {"path": "w.txt", "content": value}, tmp_path)
    assert outcome.failed
    assert not (tmp_path / "w.txt").exists()


async def test_every_builtin_schema_is_plain_and_described(tmp_path: Path) -> None:
    for definition in builtin_tools(ToolEnvironment(LocalWorkspace(str(tmp_path)))):
        schema = wrap(definition).parameters
        assert schema["type"] == "object"
        assert "$ref" not in json.dumps(schema)
        for name, part in schema["properties"].items():
            assert part.get("description"), f"{definition.name}.{name} has no description"
