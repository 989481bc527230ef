"""Limits: a warning ahead, a clean stop, and a run that can go on."""

from __future__ import annotations

from typing import Any

import pytest

from sloyd.agent.agent import Agent
from sloyd.agent.events import AgentEvent, LimitWarning
from sloyd.agent.limits import Limits
from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.errors import LimitReached, ToolError, UsageError
from tests.agent.invariants import check_events, check_history
from tests.agent.models import (
    EndlessModel,
    PlayedModel,
    SmallTool,
    answer,
    call,
    raising,
    results,
    saying,
)


async def _run(agent: Agent) -> tuple[Any, list[LimitWarning]]:
    events: list[AgentEvent] = []
    unsubscribe = agent.subscribe(events.append)
    result = await agent.prompt("go")
    unsubscribe()
    check_events(events)
    check_history(agent.messages)
    return result, [event for event in events if isinstance(event, LimitWarning)]


@pytest.mark.parametrize(
    ("limits", "turns"),
    [
        (Limits(max_turns=1), 1),
        (Limits(max_turns=5), 5),
        (Limits(max_cost=1.0), 4),
        (Limits(max_cost=100, max_turns=2), 2),
    ],
)
async def test_a_limit_stops_before_the_next_request(limits: Limits, turns: int) -> None:
    model = EndlessModel(call("echo"), cost=0.25)
    agent = Agent(model, tools=[saying("echo", "e")], limits=limits)
    result, warnings = await _run(agent)
    assert (result.outcome, result.turns) == ("limit", turns)
    assert len(model.contexts) == turns
    assert isinstance(result.error, LimitReached)
    assert "continue" in result.error_message
    assert len(warnings) == (turns > 1)
    assert (await agent.resume()).turns == turns


async def test_time_is_checked_before_each_request_and_interrupts_nothing() -> None:
    agent = Agent(
        EndlessModel(call("slow")),
        tools=[saying("slow", "s", after=0.05)],
        limits=Limits(max_time=0.12),
    )
    result, warnings = await _run(agent)
    assert result.outcome == "limit"
    assert 1 <= result.turns <= 3
    assert results(agent) == ["s"] * result.turns
    assert {warning.limit for warning in warnings} <= {"time"}


async def test_a_run_that_ends_by_itself_is_not_stopped_at_its_limit() -> None:
    agent = Agent(PlayedModel(answer("", call("a")), answer("ok")), tools=[saying("a", "1")])
    agent.limits = Limits(max_turns=2)
    result, _ = await _run(agent)
    assert result.outcome == "done"


@pytest.mark.parametrize("name", ["max_turns", "max_time", "max_cost", "max_repeats"])
@pytest.mark.parametrize("value", [0, -1])
def test_limits_that_allow_nothing_are_refused(name: str, value: int) -> None:
    with pytest.raises(UsageError, match=name):
        Limits(**{name: value})


async def test_a_model_that_repeats_a_failing_call_is_told_and_then_stopped() -> None:
    agent = Agent(
        EndlessModel(call("edit", path="a")), tools=[raising("edit", ToolError("not found"))]
    )
    result, warnings = await _run(agent)
    assert (result.outcome, result.turns) == ("limit", 6)
    assert "edit" in result.error_message
    assert [warning.limit for warning in warnings] == ["repetition"]
    assert ["failed 3 times" in text for text in results(agent)] == [0, 0, 1, 0, 0, 0]
    assert ["Repeating it will not help" in text for text in results(agent)] == [0, 0, 1, 1, 1, 1]


async def test_cut_off_answers_that_repeat_are_stopped_too() -> None:
    cut = answer("", call("write"), stop_reason="length")
    agent = Agent(PlayedModel(*[cut] * 20), tools=[saying("write", "w")])
    result, _ = await _run(agent)
    assert (result.outcome, result.turns) == ("limit", 6)


async def test_a_failing_test_that_is_run_after_each_change_is_no_loop() -> None:
    turns = []
    for number in range(10):
        turns.append(answer("", call("edit", attempt=number)))
        turns.append(answer("", call("test")))
    agent = Agent(
        PlayedModel(*turns, answer("fixed")),
        tools=[saying("edit", "ok"), raising("test", ToolError("1 failed"))],
    )
    result, warnings = await _run(agent)
    assert (result.outcome, warnings) == ("done", [])


async def test_reading_the_same_file_in_between_is_no_progress() -> None:
    turns = [answer("", call("edit"), call("read")) for _ in range(20)]
    agent = Agent(
        PlayedModel(*turns), tools=[saying("read", "text"), raising("edit", ToolError("no match"))]
    )
    result, _ = await _run(agent)
    assert result.outcome == "limit"


async def test_a_call_that_fails_differently_each_time_is_not_the_same() -> None:
    count = 0

    async def body(context: ToolCallContext, arguments: dict[str, Any]) -> ToolResult:
        nonlocal count
        count += 1
        raise ToolError(f"failed in its {count}. way")

    agent = Agent(
        PlayedModel(*[answer("", call("x"))] * 10, answer("ok")), tools=[SmallTool("x", body)]
    )
    result, warnings = await _run(agent)
    assert (result.outcome, warnings) == ("done", [])
