"""What is said to an agent while it works."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sloyd.agent.agent import Agent
from sloyd.agent.events import (
    AgentEnd,
    AgentEvent,
    QueueUpdate,
    ToolExecutionStart,
    TurnEnd,
)
from sloyd.errors import AgentBusy, AgentError
from sloyd.llm.messages import Message, UserMessage, text_of
from tests.agent.invariants import check_events, check_history
from tests.agent.models import PlayedModel, answer, call, saying


def spoken(messages: tuple[Message, ...]) -> list[str]:
    """Who said what, in short."""
    return [
        text_of(each.content) if isinstance(each, UserMessage) else type(each).__name__[:4].lower()
        for each in messages
    ]


def once(kind: type[AgentEvent], action: Callable[[], object]) -> Callable[[AgentEvent], None]:
    """A listener that acts on the first event of a kind."""
    done: list[bool] = []

    def listener(event: AgentEvent) -> None:
        if isinstance(event, kind) and not done:
            done.append(True)
            action()

    return listener


async def test_steering_waits_for_the_calls_and_comes_before_the_next_request() -> None:
    agent = Agent(
        PlayedModel(answer("", call("a"), call("b")), answer("done")),
        tools=[saying("a", "1"), saying("b", "2")],
    )
    agent.subscribe(once(ToolExecutionStart, lambda: agent.steer("stop it")))
    await agent.prompt("go")
    assert spoken(agent.messages) == ["go", "assi", "tool", "tool", "stop it", "assi"]


async def test_steering_keeps_a_run_going_that_would_stop() -> None:
    agent = Agent(PlayedModel(answer("first"), answer("second")))
    agent.subscribe(once(TurnEnd, lambda: agent.steer("and now?")))
    result = await agent.prompt("go")
    assert spoken(agent.messages) == ["go", "assi", "and now?", "assi"]
    assert result.text == "second"


async def test_follow_ups_wait_until_it_would_stop() -> None:
    agent = Agent(
        PlayedModel(answer("", call("a")), answer("done"), answer("really")),
        tools=[saying("a", "1")],
    )
    agent.subscribe(once(ToolExecutionStart, lambda: agent.follow_up("sure?")))
    await agent.prompt("go")
    assert spoken(agent.messages) == ["go", "assi", "tool", "assi", "sure?", "assi"]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("one-at-a-time", ["go", "assi", "1", "assi", "2", "assi"]),
        ("all", ["go", "assi", "1", "2", "assi"]),
    ],
)
@pytest.mark.parametrize("queue", ["steer", "follow_up"])
async def test_modes(mode: str, expected: list[str], queue: str) -> None:
    agent = Agent(PlayedModel())
    agent.set_queue_modes(steering=mode, follow_up=mode)  # type: ignore[arg-type]

    def say() -> None:
        getattr(agent, queue)("1")
        getattr(agent, queue)("2")

    agent.subscribe(once(TurnEnd, say))
    await agent.prompt("go")
    assert spoken(agent.messages) == expected


async def test_nothing_is_parked_when_no_run_takes_it() -> None:
    agent = Agent(PlayedModel(answer("done")))
    for say in (agent.steer, agent.follow_up):
        with pytest.raises(AgentError, match="prompt"):
            say("hello")
    refused: list[AgentError] = []

    def too_late() -> None:
        try:
            agent.steer("one more thing")
        except AgentError as error:
            refused.append(error)

    agent.subscribe(once(AgentEnd, too_late))
    await agent.prompt("go")
    assert len(refused) == 1
    assert agent.queued == ((), ())


async def test_what_an_aborted_run_left_is_said_first_in_the_next() -> None:
    agent = Agent(
        PlayedModel(answer("", call("a")), answer("ok")), tools=[saying("a", "1", after=60)]
    )

    def leave() -> None:
        agent.steer("older")
        agent.abort()

    agent.subscribe(once(ToolExecutionStart, leave))
    assert (await agent.prompt("go")).outcome == "aborted"
    assert agent.queued == (("older",), ())
    await agent.prompt("newer")
    assert spoken(agent.messages) == ["go", "assi", "tool", "older", "newer", "assi"]


async def test_what_waits_can_be_taken_back() -> None:
    agent = Agent(PlayedModel(answer("", call("a")), answer("ok")), tools=[saying("a", "1")])
    taken: list[list[str]] = []

    def change_of_mind() -> None:
        agent.steer("s")
        agent.follow_up("f")
        taken.extend([text_of(each.content) for each in queue] for queue in agent.clear_queue())

    agent.subscribe(once(ToolExecutionStart, change_of_mind))
    await agent.prompt("go")
    assert taken == [["s"], ["f"]]
    assert spoken(agent.messages) == ["go", "assi", "tool", "assi"]


async def test_listeners_learn_what_waits_while_a_tool_runs() -> None:
    agent = Agent(
        PlayedModel(answer("", call("a")), answer("ok")), tools=[saying("a", "1", after=0.05)]
    )
    events: list[AgentEvent] = []
    agent.subscribe(events.append)
    agent.subscribe(once(ToolExecutionStart, lambda: agent.steer("hurry")))
    await agent.prompt("go")
    check_events(events)
    check_history(agent.messages)
    updates = [each for each in events if isinstance(each, QueueUpdate)]
    assert [each.steering for each in updates] == [("hurry",), ()]
    names = [type(each).__name__ for each in events]
    assert names.index("QueueUpdate") < names.index("ToolExecutionEnd")


async def test_prompt_during_a_run_is_refused() -> None:
    agent = Agent(PlayedModel(answer("done")))
    errors: list[AgentBusy] = []

    async def listener(event: AgentEvent) -> None:
        if isinstance(event, (TurnEnd, AgentEnd)):
            try:
                await agent.prompt("again")
            except AgentBusy as error:
                errors.append(error)

    agent.subscribe(listener)
    await agent.prompt("go")
    assert len(errors) == 2
    assert "steer" in str(errors[0])
    assert (await agent.prompt("again")).outcome == "done"
