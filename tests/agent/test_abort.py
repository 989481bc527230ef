"""An abort at any moment: quick, in order, and with a complete history."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from sloyd.agent.agent import Agent
from sloyd.agent.events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    ToolExecutionEnd,
    ToolExecutionStart,
    TurnEnd,
    TurnStart,
)
from sloyd.agent.hooks import CallDecision, Hooks, PendingCall, Request
from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.errors import ToolError
from sloyd.llm.events import Retrying, Start, TextDelta
from sloyd.llm.messages import AssistantMessage, UserMessage
from sloyd.llm.models import Context
from tests.agent.invariants import check_events, check_history
from tests.agent.models import PlayedModel, SmallTool, answer, call, results, saying

STAGES = (
    AgentStart,
    TurnStart,
    MessageStart,
    MessageUpdate,
    MessageEnd,
    ToolExecutionStart,
    ToolExecutionEnd,
    TurnEnd,
)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("occurrence", [1, 2, 3])
async def test_abort_at_each_event(stage: type[AgentEvent], occurrence: int) -> None:
    model = PlayedModel(
        answer("looking", call("a"), call("b")), answer("more", call("a", "x")), answer("done")
    )
    agent = Agent(model, tools=[saying("a", "1", after=0.005), saying("b", "2", after=0.001)])
    events: list[AgentEvent] = []
    seen = 0
    requests = 0

    def listener(event: AgentEvent) -> None:
        nonlocal seen, requests
        events.append(event)
        if isinstance(event, stage):
            seen += 1
            if seen == occurrence:
                requests = len(model.contexts)
                agent.abort()

    agent.subscribe(listener)
    result = await agent.prompt("go")
    check_events(events)
    check_history(agent.messages)
    if seen < occurrence or result.text == "done":
        assert result.outcome == "done"
        return
    assert result.outcome == "aborted"
    assert len(model.contexts) == requests, "a request was made after the abort"
    assert isinstance(result.messages[0], UserMessage)
    assert not agent.is_running
    assert (await agent.resume()).outcome == "done"
    check_history(agent.messages)


@pytest.mark.parametrize("before", [[], [Start()], [Start(), TextDelta(0, "half")]])
async def test_abort_while_the_model_is_silent_keeps_what_came(before: list[Any]) -> None:
    agent = Agent(PlayedModel([*before, anyio.sleep_forever]))
    result = await _aborted_soon(agent)
    answer_kept = result.messages[-1]
    assert isinstance(answer_kept, AssistantMessage)
    assert answer_kept.stop_reason == "aborted"
    assert answer_kept.text == ("half" if len(before) == 2 else "")


async def test_abort_during_a_retry_wait_ends_it() -> None:
    from sloyd.errors import ProviderError

    waiting = Retrying(ProviderError("429", retryable=True), 1, 3, 60.0)
    result = await _aborted_soon(Agent(PlayedModel([waiting, anyio.sleep_forever])))
    assert result.outcome == "aborted"


async def test_abort_leaves_a_model_behind_that_ignores_it() -> None:
    released = anyio.Event()

    async def deaf() -> None:
        with anyio.CancelScope(shield=True):
            await released.wait()

    agent = Agent(PlayedModel([Start(), TextDelta(0, "half"), deaf]), abort_grace=0.05)
    result = await _aborted_soon(agent)
    assert result.text == "half"
    released.set()


async def test_running_tools_are_cancelled_and_the_rest_never_starts() -> None:
    tools = [
        saying("quick", "q"),
        saying("long", "l", after=60, mode="sequential"),
        saying("never", "n"),
    ]
    agent = Agent(PlayedModel(answer("", *(call(tool.name) for tool in tools))), tools=tools)
    await _aborted_soon(agent)
    assert results(agent) == ["q", "Operation aborted", "Operation aborted"]
    assert tools[2].ran == 0


async def test_a_tool_may_say_something_when_it_is_aborted() -> None:
    async def body(context: ToolCallContext, arguments: dict[str, Any]) -> ToolResult:
        try:
            await anyio.sleep_forever()
        except asyncio.CancelledError:
            raise ToolError("stopped after 3 of 9 files", details={"files": 3}) from None
        raise AssertionError("unreachable")

    agent = Agent(PlayedModel(answer("", call("x"))), tools=[SmallTool("x", body)])
    await _aborted_soon(agent)
    assert results(agent) == ["stopped after 3 of 9 files"]


async def test_a_shielded_step_is_finished_and_its_result_is_true() -> None:
    done: list[str] = []

    async def body(context: ToolCallContext, arguments: dict[str, Any]) -> ToolResult:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.05)
            done.append("committed")
        return ToolResult.of("written")

    agent = Agent(PlayedModel(answer("", call("x"))), tools=[SmallTool("x", body)])
    await _aborted_soon(agent)
    assert done == ["committed"]
    assert results(agent) == ["written"]


async def test_a_tool_that_ignores_the_abort_is_left_behind_and_says_so() -> None:
    released = anyio.Event()
    ended = anyio.Event()

    async def body(context: ToolCallContext, arguments: dict[str, Any]) -> ToolResult:
        with anyio.CancelScope(shield=True):
            await released.wait()
            await context.update(ToolResult.of("still here"))
        ended.set()
        return ToolResult.of("far too late")

    agent = Agent(
        PlayedModel(answer("", call("deaf"), call("quick")), answer("ok")),
        tools=[SmallTool("deaf", body), saying("quick", "q")],
        abort_grace=0.1,
    )
    began = time.monotonic()
    await _aborted_soon(agent)
    assert 0.1 <= time.monotonic() - began < 4
    deaf, quick = results(agent)
    assert "still running" in deaf
    assert "0.1 s" in deaf
    assert quick == "q"
    before = agent.messages
    released.set()
    await ended.wait()
    await anyio.lowlevel.checkpoint()
    assert agent.messages == before


async def test_abort_in_a_confirmation_asks_for_no_further_ones() -> None:
    asked: list[str] = []

    async def confirm(pending: PendingCall) -> CallDecision:
        asked.append(pending.call.name)
        await anyio.sleep_forever()
        return None

    tools = [saying(name, name) for name in "abc"]
    agent = Agent(
        PlayedModel(answer("", *(call(tool.name) for tool in tools))),
        tools=tools,
        hooks=Hooks(before_tool_call=confirm),
    )
    await _aborted_soon(agent)
    assert asked == ["a"]
    assert results(agent) == ["Operation aborted"] * 3
    assert [tool.ran for tool in tools] == [0, 0, 0]


@pytest.mark.parametrize("which", ["prepare", "transform"])
async def test_abort_in_a_hook_before_the_request_makes_none(which: str) -> None:
    async def prepare(request: Request) -> Request:
        await anyio.sleep_forever()
        return request

    async def transform(context: Context) -> Context:
        await anyio.sleep_forever()
        return context

    model = PlayedModel(answer("never"))
    hooks = (
        Hooks(prepare_request=prepare) if which == "prepare" else Hooks(transform_context=transform)
    )
    await _aborted_soon(Agent(model, hooks=hooks))
    assert model.contexts == []


async def test_cancelling_the_caller_aborts_the_run_in_order() -> None:
    agent = Agent(
        PlayedModel(answer("", call("long")), answer("never")),
        tools=[saying("long", "l", after=60)],
    )
    events: list[AgentEvent] = []
    agent.subscribe(events.append)
    with anyio.move_on_after(0.05) as scope:
        await agent.prompt("go")
    assert scope.cancelled_caught
    assert not agent.is_running
    check_events(events)
    check_history(agent.messages)
    assert results(agent) == ["Operation aborted"]


def test_a_closing_event_loop_still_leaves_a_complete_history() -> None:
    agent = Agent(
        PlayedModel(answer("", call("long")), answer("never")),
        tools=[saying("long", "l", after=60)],
    )
    events: list[AgentEvent] = []
    agent.subscribe(events.append)
    background: list[asyncio.Task[Any]] = []

    async def main() -> None:
        started = asyncio.Event()

        def listener(event: AgentEvent) -> None:
            if isinstance(event, ToolExecutionStart):
                started.set()

        agent.subscribe(listener)
        background.append(asyncio.create_task(agent.prompt("go")))
        await started.wait()

    asyncio.run(main())
    check_events(events)
    check_history(agent.messages)
    assert isinstance(events[-1], AgentEnd)
    assert events[-1].outcome == "aborted"


async def test_a_slow_listener_is_never_interrupted() -> None:
    agent = Agent(PlayedModel(answer("", call("long"))), tools=[saying("long", "l", after=60)])
    finished: list[str] = []

    async def listener(event: AgentEvent) -> None:
        name = type(event).__name__
        if isinstance(event, ToolExecutionStart):
            agent.abort()
        await anyio.sleep(0.001)
        finished.append(name)

    agent.subscribe(listener)
    await agent.prompt("go")
    assert finished[-1] == "AgentEnd"
    assert finished.count("MessageEnd") == 3


async def _aborted_soon(agent: Agent) -> Any:
    """Prompt, abort once something is under way, and check what always holds."""
    events: list[AgentEvent] = []
    agent.subscribe(events.append)
    async with anyio.create_task_group() as group:

        async def later() -> None:
            await anyio.sleep(0.03)
            agent.abort()

        group.start_soon(later)
        with anyio.fail_after(5):
            result = await agent.prompt("go")
    assert result.outcome == "aborted"
    check_events(events)
    check_history(agent.messages)
    return result
