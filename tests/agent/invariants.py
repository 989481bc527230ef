"""What is true of the events and the history of every run, however it went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sloyd.agent.events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    RetryEnd,
    RetryStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnEnd,
    TurnStart,
)
from sloyd.llm.messages import AssistantMessage, Message, ToolResultMessage


def check_history(messages: Sequence[Message]) -> None:
    """Each call of a whole answer has one result, right behind it, in the order of the calls."""
    ids = Counter(
        call.id
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    )
    assert all(count == 1 for count in ids.values()), ids
    expected: list[str] = []
    for message in messages:
        if isinstance(message, ToolResultMessage):
            assert expected, "a result without a call"
            assert message.tool_call_id == expected.pop(0)
            continue
        assert not expected, f"calls without results: {expected}"
        if isinstance(message, AssistantMessage) and message.stop_reason not in (
            "error",
            "aborted",
        ):
            expected = [call.id for call in message.tool_calls]
    assert not expected, f"calls without results at the end: {expected}"


def check_events(events: Sequence[AgentEvent]) -> None:
    """The order that `sloyd.agent.events` draws."""
    assert isinstance(events[0], AgentStart)
    assert isinstance(events[-1], AgentEnd)
    assert sum(isinstance(event, (AgentStart, AgentEnd)) for event in events) == 2
    turns = [event.turn for event in events if isinstance(event, TurnStart)]
    assert turns == [event.turn for event in events if isinstance(event, TurnEnd)]
    assert turns == list(range(1, len(turns) + 1))
    _check_nesting(events)
    _check_tools(events)
    retries = [event for event in events if isinstance(event, (RetryStart, RetryEnd))]
    assert not retries or isinstance(retries[-1], RetryEnd)
    ended = tuple(event.message for event in events if isinstance(event, MessageEnd))
    assert ended == events[-1].messages


def _check_nesting(events: Sequence[AgentEvent]) -> None:
    in_turn = False
    in_message: type | None = None
    for event in events:
        match event:
            case TurnStart():
                assert not in_turn
                in_turn = True
            case TurnEnd():
                assert in_turn
                assert in_message is None
                in_turn = False
            case MessageStart():
                assert in_turn
                assert in_message is None
                in_message = type(event.message)
            case MessageUpdate():
                assert in_message is AssistantMessage
            case MessageEnd():
                assert in_message is type(event.message)
                in_message = None
            case ToolExecutionStart() | ToolExecutionUpdate() | ToolExecutionEnd():
                assert in_turn
                assert in_message is None


def _check_tools(events: Sequence[AgentEvent]) -> None:
    state: dict[str, str] = {}
    for event in events:
        match event:
            case ToolExecutionStart():
                assert event.tool_call_id not in state
                state[event.tool_call_id] = "running"
            case ToolExecutionUpdate():
                assert state[event.tool_call_id] == "running"
            case ToolExecutionEnd():
                assert state[event.tool_call_id] == "running"
                state[event.tool_call_id] = "ended"
            case MessageStart(message=ToolResultMessage() as message):
                assert state[message.tool_call_id] == "ended"
                state[message.tool_call_id] = "recorded"
            case TurnEnd():
                calls = [result.tool_call_id for result in event.tool_results]
                if event.message.stop_reason not in ("error", "aborted"):
                    assert calls == [call.id for call in event.message.tool_calls]
                assert all(state[call_id] == "recorded" for call_id in calls)
    assert all(each == "recorded" for each in state.values())
