"""Random models, tools, people: the order of events and the history hold whatever happens."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.lowlevel
from hypothesis import given
from hypothesis import strategies as st

from sloyd.agent.agent import Agent
from sloyd.agent.events import AgentEvent
from sloyd.agent.limits import Limits
from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.errors import AgentError, ProviderError, ToolError
from sloyd.llm.events import Retrying
from sloyd.llm.messages import ToolCall
from tests.agent.invariants import check_events, check_history
from tests.agent.models import PlayedModel, SmallTool, answer, failing

NAMES = ("quick", "slow", "raises", "progress", "one_by_one", "unknown", " quick")


@dataclass(frozen=True)
class Scene:
    """One random run: what the model does, and at which events people step in."""

    turns: list[list[Any]]
    steer_at: set[int]
    follow_at: set[int]
    abort_at: int | None
    max_turns: int | None


calls = st.builds(
    ToolCall,
    id=st.sampled_from(["", "a", "b", "call_0"]),
    name=st.sampled_from(NAMES),
    arguments=st.just({}),
    arguments_error=st.sampled_from([None, None, None, "not JSON"]),
)
answers = st.builds(
    lambda text, asked, reason: answer(text, *asked, stop_reason=reason),
    st.sampled_from(["", "words"]),
    st.lists(calls, max_size=4),
    st.sampled_from(["stop", "stop", "stop", "toolUse", "length"]),
)
retried = answers.map(lambda steps: [Retrying(ProviderError("busy"), 1, 3, 0.1), *steps])
broken = st.sampled_from([failing(), [RuntimeError("bug")], []])
places = st.sets(st.integers(0, 40), max_size=3)
scenes = st.builds(
    Scene,
    st.lists(st.one_of(answers, answers, answers, retried, broken), max_size=5),
    places,
    places,
    st.one_of(st.none(), st.integers(0, 40)),
    st.one_of(st.none(), st.integers(1, 3)),
)


def tools() -> list[SmallTool]:
    async def quick(context: ToolCallContext, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult.of("q")

    async def slow(context: ToolCallContext, arguments: dict[str, Any]) -> ToolResult:
        await anyio.sleep(0.001)
        return ToolResult.of("s")

    async def raises(context: ToolCallContext, arguments: dict[str, Any]) -> ToolResult:
        await anyio.lowlevel.checkpoint()
        raise ToolError("no")

    async def progress(context: ToolCallContext, arguments: dict[str, Any]) -> ToolResult:
        for number in range(3):
            await context.update(ToolResult.of(str(number)))
        return ToolResult.of("p")

    return [
        SmallTool("quick", quick),
        SmallTool("slow", slow),
        SmallTool("raises", raises),
        SmallTool("progress", progress),
        SmallTool("one_by_one", slow, "sequential"),
    ]


async def play(scene: Scene) -> None:
    agent = Agent(
        PlayedModel(*scene.turns), tools=tools(), limits=Limits(max_turns=scene.max_turns)
    )
    events: list[AgentEvent] = []
    queued = 0

    async def listener(event: AgentEvent) -> None:
        nonlocal queued
        at = len(events)
        events.append(event)
        for places, say in ((scene.steer_at, agent.steer), (scene.follow_at, agent.follow_up)):
            if at in places:
                try:
                    say("listen")
                    queued += 1
                except AgentError:
                    assert type(event).__name__ == "AgentEnd" or not agent.is_running
        if at == scene.abort_at:
            agent.abort()
        if at % 3 == 0:
            await anyio.lowlevel.checkpoint()

    agent.subscribe(listener)
    result = await agent.prompt("go")
    check_events(events)
    check_history(agent.messages)
    assert result.messages == agent.messages
    said = sum(type(message).__name__ == "UserMessage" for message in agent.messages)
    waiting = sum(map(len, agent.queued))
    assert said + waiting == 1 + queued, "a message got lost"
    if result.outcome == "done":
        assert waiting == 0


@given(scenes)
def test_whatever_happens_the_order_holds(scene: Scene) -> None:
    asyncio.run(play(scene))
