"""The order of a run, from a prompt to its end."""

from __future__ import annotations

import time
from typing import Any

import anyio
import msgspec
import pytest

from sloyd.agent.agent import Agent
from sloyd.agent.events import (
    AgentEnd,
    AgentEvent,
    MessageUpdate,
    RetryEnd,
    RetryStart,
    ToolExecutionEnd,
)
from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.errors import AgentError, ProviderError, ToolError
from sloyd.llm.events import Done, Failed, Retrying, Start, TextDelta
from sloyd.llm.messages import AssistantMessage, Text, ToolCall, ToolResultMessage, text_of
from sloyd.llm.wires.scripted import ScriptedModel
from tests.agent.invariants import check_events, check_history
from tests.agent.models import (
    CannedModel,
    PlayedModel,
    SmallTool,
    answer,
    call,
    drawn,
    failing,
    raising,
    results,
    saying,
)


async def heard(agent: Agent, prompt: str = "go") -> list[AgentEvent]:
    """All events of a run, with what always holds already checked."""
    events: list[AgentEvent] = []
    unsubscribe = agent.subscribe(events.append)
    await agent.prompt(prompt)
    unsubscribe()
    check_events(events)
    check_history(agent.messages)
    return events


async def test_slow_and_fast_call_run_together_and_are_recorded_in_order() -> None:
    model = PlayedModel(answer("", call("slow"), call("fast")), answer("done"))
    agent = Agent(model, tools=[saying("slow", "s", after=0.05), saying("fast", "f")])
    assert drawn(await heard(agent)) == [
        "AgentStart",
        "TurnStart",
        "message_start user",
        "message_end user",
        "message_start assi",
        "message_end assi",
        "tool_start slow",
        "tool_start fast",
        "tool_end fast",
        "tool_end slow",
        "message_start slow",
        "message_end slow",
        "message_start fast",
        "message_end fast",
        "TurnEnd",
        "TurnStart",
        "message_start assi",
        "message_end assi",
        "TurnEnd",
        "AgentEnd",
    ]


@pytest.mark.parametrize("who", ["agent", "tool"])
async def test_sequential_calls_finish_one_before_the_next(who: str) -> None:
    model = PlayedModel(answer("", call("slow"), call("fast")), answer("done"))
    fast = saying("fast", "f", mode="sequential" if who == "tool" else "parallel")
    agent = Agent(
        model,
        tools=[saying("slow", "s", after=0.02), fast],
        tool_execution="sequential" if who == "agent" else "parallel",
    )
    order = [line for line in drawn(await heard(agent)) if "slow" in line or "fast" in line]
    assert order == [
        f"{kind} {name}"
        for name in ("slow", "fast")
        for kind in ("tool_start", "tool_end", "message_start", "message_end")
    ]


async def test_result_tells_text_usage_and_turns() -> None:
    model = PlayedModel(answer("first", call("echo"), cost=0.5), answer("second", cost=0.25))
    agent = Agent(model, tools=[saying("echo", "e")], system_prompt="be good")
    result = await agent.prompt("go")
    assert (result.outcome, result.text, result.turns) == ("done", "second", 2)
    assert result.usage.total_tokens == 30
    assert result.usage.cost.total == pytest.approx(0.75)
    assert result.messages == agent.messages
    assert [len(context.messages) for context in model.contexts] == [1, 3]
    assert {context.system_prompt for context in model.contexts} == {"be good"}
    assert [tool.name for tool in model.contexts[0].tools] == ["echo"]


async def test_calls_run_whatever_the_stop_reason_says() -> None:
    model = PlayedModel(answer("", call("echo"), stop_reason="toolUse"), answer("done"))
    agent = Agent(model, tools=[saying("echo", "e")])
    await heard(agent)
    assert results(agent) == ["e"]


async def test_cut_off_calls_are_not_run() -> None:
    model = PlayedModel(
        answer("", call("echo"), call("echo", "b"), stop_reason="length"), answer("ok")
    )
    tool = saying("echo", "e")
    agent = Agent(model, tools=[tool])
    await heard(agent)
    assert tool.ran == 0
    assert len(results(agent)) == 2
    assert all("output limit" in text and "smaller pieces" in text for text in results(agent))


async def test_unknown_tool_names_those_there_are_nearest_first() -> None:
    model = PlayedModel(answer("", call("raed")), answer("ok"))
    agent = Agent(model, tools=[saying("bash", ""), saying("edit", ""), saying("read", "")])
    events = await heard(agent)
    assert results(agent) == ['There is no tool "raed". The tools are: read, edit, bash.']
    assert [each.duration_ms for each in events if isinstance(each, ToolExecutionEnd)] == [None]


@pytest.mark.parametrize("name", [" read", "read\n", "\tread "])
async def test_names_are_trimmed_in_the_history_too(name: str) -> None:
    agent = Agent(PlayedModel(answer("", call(name)), answer("ok")), tools=[saying("read", "r")])
    await heard(agent)
    assert results(agent) == ["r"]
    assert [each.name for each in _calls(agent)] == ["read"]


async def test_a_name_with_a_prefix_is_another_name() -> None:
    model = PlayedModel(answer("", call("functions.read")), answer("ok"))
    agent = Agent(model, tools=[saying("read", "r")])
    await heard(agent)
    assert results(agent) == ['There is no tool "functions.read". The tools are: read.']


async def test_a_nameless_call_is_answered_and_can_be_sent_back() -> None:
    agent = Agent(PlayedModel(answer("", call("", "x")), answer("ok")), tools=[saying("read", "r")])
    await heard(agent)
    assert _calls(agent)[0].name
    assert "The tools are: read." in results(agent)[0]


async def test_ids_are_unique_across_the_conversation() -> None:
    twice = answer("", call("echo", "call_0"), call("echo", "call_0"), call("echo", " "))
    model = PlayedModel(twice, answer("", call("echo", "call_0")), answer("ok"))
    tool = saying("echo", "e")
    agent = Agent(model, tools=[tool])
    events = await heard(agent)
    assert tool.ran == 4
    assert [each.id for each in _calls(agent)] == ["call_0", "call_0_2", "call", "call_0_3"]
    told = [
        event.delta.id
        for event in events
        if isinstance(event, MessageUpdate) and event.delta.kind == "toolcall_start"
    ]
    assert told == ["call_0", "call_0_2", "call", "call_0_3"]
    model.turns = [answer("", call("echo", "call_0")), answer("ok")]
    await heard(agent)
    assert _calls(agent)[-1].id == "call_0_4"


async def test_broken_arguments_are_told_with_the_parsers_words() -> None:
    broken = ToolCall(
        id="1", name="echo", arguments={}, arguments_error='not valid JSON: `{"path":"a`'
    )
    tool = saying("echo", "e")
    agent = Agent(PlayedModel(answer("", broken), answer("ok")), tools=[tool])
    await heard(agent)
    assert tool.ran == 0
    assert results(agent) == ['Invalid arguments for tool "echo": not valid JSON: `{"path":"a`']


async def test_a_tool_error_keeps_its_text_and_details() -> None:
    failing_tool = raising("echo", ToolError("exit code 3", details={"code": 3}))
    agent = Agent(PlayedModel(answer("", call("echo")), answer("ok")), tools=[failing_tool])
    await heard(agent)
    (result,) = (each for each in agent.messages if isinstance(each, ToolResultMessage))
    assert (text_of(result.content), result.details, result.is_error) == (
        "exit code 3",
        {"code": 3},
        True,
    )
    assert result.duration_ms is not None


async def test_a_tool_error_inside_a_task_group_is_still_that_error() -> None:
    group = ExceptionGroup("from a task group", [ToolError("gone")])
    agent = Agent(PlayedModel(answer("", call("x")), answer("ok")), tools=[raising("x", group)])
    await heard(agent)
    assert results(agent) == ["gone"]


async def test_any_other_exception_is_one_line_and_goes_to_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tools = [raising("boom", ValueError("two\nlines")), saying("echo", "e")]
    agent = Agent(PlayedModel(answer("", call("boom"), call("echo")), answer("ok")), tools=tools)
    await heard(agent)
    assert results(agent) == ["boom failed: ValueError: two lines", "e"]
    assert "boom raised" in caplog.text


async def test_a_tool_whose_attributes_raise_does_not_cost_the_others_their_results(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Crooked(SmallTool):
        @property
        def mode(self) -> Any:
            raise OSError("no mode")

        @mode.setter
        def mode(self, value: object) -> None:
            """Accepts what the dataclass sets, and forgets it."""

    async def body(context: ToolCallContext, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult.of("never")

    agent = Agent(
        PlayedModel(answer("", call("crooked"), call("echo")), answer("ok")),
        tools=[Crooked("crooked", body), saying("echo", "e")],
    )
    await heard(agent)
    assert len(results(agent)) == 2
    assert "no mode" in results(agent)[0]
    assert caplog.records


async def test_a_tool_that_exits_does_not_take_the_agent_along(
    caplog: pytest.LogCaptureFixture,
) -> None:
    agent = Agent(
        PlayedModel(answer("", call("x")), answer("ok")), tools=[raising("x", SystemExit(2))]
    )
    await heard(agent)
    assert results(agent) == ["x failed: SystemExit: 2"]
    assert caplog.records


async def test_a_failure_is_never_taken_for_a_whole_answer() -> None:
    message = AssistantMessage(content=(call("x"),), stop_reason="toolUse")
    agent = Agent(
        PlayedModel([Start(), Failed(message, ProviderError("cut"))]), tools=[saying("x", "1")]
    )
    await heard(agent)
    assert results(agent) == []
    assert agent.messages[-1] == msgspec.structs.replace(
        message, stop_reason="error", error_message="cut"
    )


async def test_what_is_no_result_is_an_error_result(caplog: pytest.LogCaptureFixture) -> None:
    async def body(context: ToolCallContext, arguments: dict[str, Any]) -> ToolResult:
        return "just text"  # type: ignore[return-value]

    agent = Agent(PlayedModel(answer("", call("x")), answer("ok")), tools=[SmallTool("x", body)])
    await heard(agent)
    assert results(agent) == ["x returned str instead of a result"]
    assert caplog.records


async def test_progress_is_told_until_the_call_ends_and_not_after() -> None:
    kept: list[ToolCallContext] = []

    async def body(context: ToolCallContext, arguments: dict[str, Any]) -> ToolResult:
        kept.append(context)
        await context.update(ToolResult.of("half"))
        return ToolResult.of("all")

    async def late(context: ToolCallContext, arguments: dict[str, Any]) -> ToolResult:
        await anyio.sleep(0.01)
        await kept[0].update(ToolResult.of("too late"))
        return ToolResult.of("late")

    agent = Agent(
        PlayedModel(answer("", call("x"), call("late")), answer("ok")),
        tools=[SmallTool("x", body), SmallTool("late", late)],
    )
    lines = [line for line in drawn(await heard(agent)) if line.startswith("tool_")]
    assert lines == [
        "tool_start x",
        "tool_start late",
        "tool_update x",
        "tool_end x",
        "tool_end late",
    ]


@pytest.mark.parametrize(("flags", "turns"), [((True, True), 1), ((True, False), 2)])
async def test_the_run_ends_early_when_every_result_asks_for_it(
    flags: tuple[bool, ...], turns: int
) -> None:
    def ending(name: str, flag: bool) -> SmallTool:
        async def body(context: ToolCallContext, arguments: dict[str, Any]) -> ToolResult:
            return ToolResult((Text("bye"),), terminate=flag)

        return SmallTool(name, body)

    tools = [ending(f"t{number}", flag) for number, flag in enumerate(flags)]
    model = PlayedModel(answer("", *(call(tool.name) for tool in tools)), answer("ok"))
    result = await Agent(model, tools=tools).prompt("go")
    assert (result.outcome, result.turns) == ("done", turns)


async def test_a_failed_request_ends_the_run_and_keeps_what_came() -> None:
    agent = Agent(PlayedModel(failing("overloaded")))
    result = await agent.prompt("go")
    assert (result.outcome, result.text, result.error_message) == ("error", "par", "overloaded")
    assert isinstance(result.error, ProviderError)
    check_history(agent.messages)


async def test_a_failure_before_the_start_still_has_its_message() -> None:
    message = AssistantMessage(stop_reason="error", error_message="no key")
    agent = Agent(PlayedModel([Failed(message, ProviderError("no key", problem="no-key"))]))
    events = await heard(agent)
    assert drawn(events)[-5:] == [
        "message_end user",
        "message_start assi",
        "message_end assi",
        "TurnEnd",
        "AgentEnd",
    ]
    assert isinstance(events[-1], AgentEnd)
    assert (events[-1].outcome, events[-1].error_message) == ("error", "no key")


@pytest.mark.parametrize(
    "steps",
    [
        [RuntimeError("broken wire")],
        [Start(), TextDelta(0, "half"), RuntimeError("broken wire")],
        [Start(), TextDelta(0, "half")],
    ],
)
async def test_a_model_that_breaks_its_promises_ends_the_run_in_order(
    steps: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    agent = Agent(PlayedModel(steps, answer("again")))
    events = await heard(agent)
    assert isinstance(events[-1], AgentEnd)
    assert events[-1].outcome == "error"
    assert "stream ended" in str(events[-1].error_message) or "broken wire" in caplog.text
    assert (await agent.resume()).text == "again"


async def test_retries_are_told() -> None:
    error = ProviderError("429", retryable=True)
    steps: list[Any] = [Retrying(error, 1, 3, 0.5), Retrying(error, 2, 3, 1.0), *answer("ok")]
    events = await heard(Agent(PlayedModel(steps)))
    assert [each for each in events if isinstance(each, (RetryStart, RetryEnd))] == [
        RetryStart(attempt=1, max_attempts=3, delay_ms=500, error_message="429"),
        RetryStart(attempt=2, max_attempts=3, delay_ms=1000, error_message="429"),
        RetryEnd(success=True, attempt=2),
    ]


async def test_retries_that_were_given_up_are_told() -> None:
    error = ProviderError("429", retryable=True)
    message = AssistantMessage(stop_reason="error", error_message="429")
    events = await heard(Agent(PlayedModel([Retrying(error, 1, 1, 0.5), Failed(message, error)])))
    assert RetryEnd(success=False, attempt=1) in events


async def test_resume_needs_something_to_continue() -> None:
    agent = Agent(PlayedModel(answer("all said")))
    with pytest.raises(AgentError, match="nothing to continue"):
        await agent.resume()
    await agent.prompt("go")
    with pytest.raises(AgentError, match="complete"):
        await agent.resume()


async def test_the_scripted_model_drives_a_run() -> None:
    model = ScriptedModel(
        [{"text": "looking", "calls": [{"name": "echo"}]}, {"text": "done", "expect": "e"}]
    )
    result = await Agent(model, tools=[saying("echo", "e")]).prompt("go")
    assert (result.outcome, result.text) == ("done", "done")


async def test_many_small_deltas_cost_little() -> None:
    steps: list[Any] = [Start(), *[TextDelta(0, "x")] * 100_000]
    message = AssistantMessage(content=(Text("x"),))
    count = 0

    def listener(event: AgentEvent) -> None:
        nonlocal count
        count += isinstance(event, MessageUpdate)

    agent = Agent(CannedModel([*steps, Done(message)]))
    agent.subscribe(listener)
    began = time.process_time()
    await agent.prompt("go")
    assert count == 100_000
    assert time.process_time() - began < 1.5


def _calls(agent: Agent) -> list[ToolCall]:
    return [
        call
        for message in agent.messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    ]
