"""The face of an agent: iterating, subscribing, and what may be set when."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import anyio
import pytest

from sloyd.agent.agent import Agent
from sloyd.agent.events import AgentEnd, AgentEvent, MessageUpdate, ToolExecutionStart, TurnEnd
from sloyd.errors import AgentBusy, UsageError
from sloyd.llm.events import Done, Start, TextDelta
from sloyd.llm.messages import AssistantMessage, Image, Text, UserMessage
from sloyd.tools.functions import tool
from tests.agent.invariants import check_events, check_history
from tests.agent.models import CannedModel, PlayedModel, answer, call, saying


async def test_events_can_be_iterated() -> None:
    agent = Agent(PlayedModel(answer("", call("a")), answer("done")), tools=[saying("a", "1")])
    events = [event async for event in agent.run("go")]
    check_events(events)
    assert isinstance(events[-1], AgentEnd)
    assert events[-1].outcome == "done"
    assert not agent.is_running


async def test_a_slow_consumer_gets_every_event_and_slows_the_run() -> None:
    deltas = 2_000
    events: list[Any] = [Start(), *[TextDelta(0, "x")] * deltas]
    agent = Agent(CannedModel([*events, Done(AssistantMessage(content=(Text("x"),)))]))
    produced = 0

    def listener(event: AgentEvent) -> None:
        nonlocal produced
        produced += isinstance(event, MessageUpdate)

    agent.subscribe(listener)
    consumed = 0
    async for event in agent.run("go"):
        consumed += isinstance(event, MessageUpdate)
        if consumed % 500 == 1:
            await anyio.sleep(0.001)
            assert produced - consumed < 100
    assert consumed == deltas


async def test_leaving_the_iteration_aborts_the_run() -> None:
    agent = Agent(PlayedModel(answer("", call("a"))), tools=[saying("a", "1", after=60)])
    async with aclosing(agent.run("go")) as events:
        async for event in events:
            if isinstance(event, ToolExecutionStart):
                break
    assert not agent.is_running
    check_history(agent.messages)


async def test_iterating_during_a_run_is_refused() -> None:
    agent = Agent(PlayedModel(answer("", call("a"))), tools=[saying("a", "1", after=0.05)])
    async for event in agent.run("go"):
        if isinstance(event, ToolExecutionStart):
            with pytest.raises(AgentBusy):
                await anext(agent.run("again"))


async def test_a_listener_that_fails_is_reported_and_bothers_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    agent = Agent(PlayedModel(answer("done")))
    heard: list[AgentEvent] = []

    def bad(event: AgentEvent) -> None:
        raise RuntimeError("cannot draw")

    agent.subscribe(bad)
    agent.subscribe(heard.append)
    assert (await agent.prompt("go")).outcome == "done"
    check_events(heard)
    assert len(caplog.records) == len(heard)
    assert "cannot draw" in caplog.text


async def test_listeners_are_awaited_one_after_the_other() -> None:
    agent = Agent(PlayedModel(answer("done")))
    order: list[str] = []

    async def slow(event: AgentEvent) -> None:
        await anyio.sleep(0.001)
        order.append(f"slow {type(event).__name__}")

    agent.subscribe(slow)
    unsubscribe = agent.subscribe(lambda event: order.append(f"fast {type(event).__name__}"))
    await agent.prompt("go")
    assert order[:2] == ["slow AgentStart", "fast AgentStart"]
    assert [line.split()[0] for line in order] == ["slow", "fast"] * (len(order) // 2)
    unsubscribe()
    order.clear()
    await agent.prompt("go")
    assert {line.split()[0] for line in order} == {"slow"}


async def test_waiting_until_idle_includes_the_last_listener() -> None:
    agent = Agent(PlayedModel(answer("done")))
    finished: list[bool] = []

    async def slow(event: AgentEvent) -> None:
        if isinstance(event, AgentEnd):
            await anyio.sleep(0.01)
            assert agent.is_running
            finished.append(True)

    agent.subscribe(slow)
    async with anyio.create_task_group() as group:
        group.start_soon(agent.prompt, "go")
        await anyio.sleep(0.001)
        await agent.wait_until_idle()
        assert finished == [True]
    await agent.wait_until_idle()


async def test_prompts_take_texts_messages_and_several_of_them() -> None:
    agent = Agent(PlayedModel())
    picture = UserMessage(content=(Text("look"), Image("aGk=", "image/png")))
    for prompt in ("text", picture, [picture, UserMessage(content="and this")]):
        await agent.prompt(prompt)
    said = [message for message in agent.messages if isinstance(message, UserMessage)]
    assert len(said) == 4
    assert said[1] is picture


async def test_tools_and_model_set_in_a_run_count_from_the_next_request() -> None:
    first = PlayedModel(answer("", call("a")))
    second = PlayedModel(answer("done"))
    agent = Agent(first, tools=[saying("a", "1")])

    def change(event: AgentEvent) -> None:
        if isinstance(event, TurnEnd):
            agent.model = second
            agent.tools = (saying("b", "2"),)
            agent.system_prompt = "new"

    agent.subscribe(change)
    await agent.prompt("go")
    assert [tool.name for tool in first.contexts[0].tools] == ["a"]
    assert [tool.name for tool in second.contexts[0].tools] == ["b"]
    assert second.contexts[0].system_prompt == "new"


async def test_schemas_are_not_built_anew_for_each_request() -> None:
    model = PlayedModel(answer("", call("a")), answer("done"))
    await Agent(model, tools=[saying("a", "1")]).prompt("go")
    assert model.contexts[0].tools is model.contexts[1].tools


async def test_a_conversation_can_be_taken_up() -> None:
    earlier = Agent(
        PlayedModel(answer("", call("a", "call_0")), answer("x")), tools=[saying("a", "1")]
    )
    await earlier.prompt("go")
    later = Agent(
        PlayedModel(answer("", call("a", "call_0")), answer("y")),
        tools=[saying("a", "1")],
        messages=earlier.messages,
    )
    result = await later.prompt("on")
    check_history(later.messages)
    assert len(later.messages) == 8
    assert len(result.messages) == 4
    later.messages = []
    assert later.messages == ()


def test_a_definition_must_be_wrapped_first() -> None:
    @tool
    def look() -> str:
        """Looks."""
        return "seen"

    with pytest.raises(UsageError, match="wrap"):
        Agent(PlayedModel(), tools=[look])  # type: ignore[list-item]


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="same name: a"):
        Agent(PlayedModel(), tools=[saying("a", "1"), saying("a", "2")])
