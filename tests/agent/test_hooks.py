"""Where a program steps into a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anyio
import msgspec
import pytest

from sloyd.agent.agent import Agent
from sloyd.agent.hooks import (
    Block,
    CallDecision,
    ChangeArguments,
    FinishedCall,
    Hooks,
    PendingCall,
    Request,
)
from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.errors import AgentBusy, ToolError
from sloyd.llm.messages import UserMessage, text_of
from sloyd.llm.models import Context
from sloyd.tools.definition import ToolDefinition, wrap
from tests.agent.invariants import check_history
from tests.agent.models import PlayedModel, answer, call, results, saying


class EchoParameters(msgspec.Struct):
    text: str


def echo_tool() -> ToolDefinition[EchoParameters]:
    async def execute(context: ToolCallContext, parameters: EchoParameters) -> ToolResult:
        return ToolResult.of(parameters.text, details={"length": len(parameters.text)})

    return ToolDefinition(
        name="echo",
        label="Echo",
        description="Says it again.",
        parameters=EchoParameters,
        execute=execute,
    )


async def _echoed(hooks: Hooks, *texts: str) -> list[str]:
    """Results of calls of echo with these texts, under these hooks."""
    calls = [call("echo", f"id{number}", text=text) for number, text in enumerate(texts)]
    agent = Agent(
        PlayedModel(answer("", *calls), answer("ok")), tools=[wrap(echo_tool())], hooks=hooks
    )
    assert (await agent.prompt("go")).outcome == "done"
    check_history(agent.messages)
    return results(agent)


async def test_a_call_may_be_blocked_and_the_others_run() -> None:
    async def gate(pending: PendingCall) -> CallDecision:
        return Block("not on Sundays") if pending.arguments.text == "b" else None

    assert await _echoed(Hooks(before_tool_call=gate), "a", "b", "c") == [
        "a",
        "not on Sundays",
        "c",
    ]


async def test_arguments_may_be_changed_and_are_validated_again() -> None:
    async def gate(pending: PendingCall) -> CallDecision:
        if pending.call.arguments["text"] == "a":
            return ChangeArguments({"text": "changed"})
        return ChangeArguments({"text": 5})

    changed, refused = await _echoed(Hooks(before_tool_call=gate), "a", "b")
    assert changed == "changed"
    assert "text: expected string, got number" in refused


async def test_a_gate_that_fails_lets_nothing_through(caplog: pytest.LogCaptureFixture) -> None:
    async def gate(pending: PendingCall) -> CallDecision:
        raise LookupError("no rules")

    assert await _echoed(Hooks(before_tool_call=gate), "a") == [
        "echo failed: LookupError: no rules"
    ]
    assert "no rules" in caplog.text


async def test_a_gate_that_is_cancelled_inside_lets_nothing_through() -> None:
    async def gate(pending: PendingCall) -> CallDecision:
        import asyncio

        raise asyncio.CancelledError

    (text,) = await _echoed(Hooks(before_tool_call=gate), "a")
    assert text.startswith("Not run")


async def test_results_may_be_replaced_and_a_failing_hook_spoils_only_its_own() -> None:
    async def look(finished: FinishedCall) -> ToolResult | None:
        text = text_of(finished.result.content)
        if text == "fail":
            raise ToolError("the filter failed")
        return (
            msgspec.structs.replace(finished.result, content=ToolResult.of(text.upper()).content)
            if text == "a"
            else None
        )

    assert await _echoed(Hooks(after_tool_call=look), "a", "fail", "c") == [
        "A",
        "the filter failed",
        "c",
    ]


async def test_a_result_that_was_not_filtered_in_time_is_not_shown() -> None:
    async def look(finished: FinishedCall) -> ToolResult | None:
        await anyio.sleep_forever()
        return None

    agent = Agent(
        PlayedModel(answer("", call("echo", text="secret"))),
        tools=[wrap(echo_tool())],
        hooks=Hooks(after_tool_call=look),
    )
    async with anyio.create_task_group() as group:

        async def later() -> None:
            await anyio.sleep(0.02)
            agent.abort()

        group.start_soon(later)
        await agent.prompt("go")
    (text,) = results(agent)
    assert "secret" not in text
    assert "effects stand" in text


async def test_the_context_may_be_changed_for_one_request_only() -> None:
    async def forget(context: Context) -> Context:
        return msgspec.structs.replace(context, messages=context.messages[-1:])

    model = PlayedModel(answer("one"), answer("two"))
    agent = Agent(model, hooks=Hooks(transform_context=forget))
    await agent.prompt("first")
    await agent.prompt("second")
    assert [len(context.messages) for context in model.contexts] == [1, 1]
    assert len(agent.messages) == 4


async def test_another_model_may_answer_a_request() -> None:
    other = PlayedModel(answer("from the other"))

    async def reroute(request: Request) -> Request:
        return msgspec.structs.replace(request, model=other) if request.turn == 2 else request

    agent = Agent(
        PlayedModel(answer("", call("a"))),
        tools=[saying("a", "1")],
        hooks=Hooks(prepare_request=reroute),
    )
    assert (await agent.prompt("go")).text == "from the other"


async def test_the_history_may_be_compacted_before_a_request_and_at_no_other_time() -> None:
    model = PlayedModel(answer("", call("a")), answer("done"))
    agent = Agent(model, tools=[saying("a", "1")])
    busy: list[AgentBusy] = []

    async def compact(request: Request) -> None:
        if request.turn == 2:
            agent.messages = [UserMessage(content="summary of all that")]

    def meddle(event: Any) -> None:
        try:
            agent.messages = []
        except AgentBusy as error:
            busy.append(error)

    agent.hooks = Hooks(prepare_request=compact)
    agent.subscribe(meddle)
    result = await agent.prompt("go")
    assert busy
    assert [
        text_of(each.content)
        for each in model.contexts[1].messages
        if isinstance(each, UserMessage)
    ] == ["summary of all that"]
    assert len(agent.messages) == 2
    assert len(result.messages) == 4


@dataclass
class Broken:
    """A hook that cannot be used."""

    error: Exception

    async def __call__(self, anything: Any) -> Any:
        raise self.error


@pytest.mark.parametrize("name", ["prepare_request", "transform_context"])
async def test_a_hook_that_fails_before_the_request_ends_the_run(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    model = PlayedModel(answer("again"))
    agent = Agent(model, hooks=Hooks(**{name: Broken(KeyError("x"))}))
    result = await agent.prompt("go")
    assert (result.outcome, model.contexts) == ("error", [])
    assert "hook before the request raised KeyError" in str(result.error_message)
    assert caplog.records
    agent.hooks = Hooks()
    assert (await agent.resume()).text == "again"
