"""Runs that go on: a message said at the last moment, an answer that broke off, a full window."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sloyd.agent.events import AgentEnd, RetryStart
from sloyd.errors import AgentError
from sloyd.harness.coding_agent import CodingAgent
from sloyd.harness.events import CompactionEnd, HarnessEvent
from sloyd.harness.model_choice import ModelChoice
from sloyd.harness.session_choice import SessionChoice
from sloyd.harness.settings import RetrySettings, Settings
from sloyd.llm.messages import UserMessage, text_of
from sloyd.llm.wires.scripted import ScriptedModel
from tests.servers import ProviderServer, chat, error


def said(agent: CodingAgent) -> list[str]:
    messages = (each for each in agent.messages if isinstance(each, UserMessage))
    return [text_of(message.content) for message in messages]


async def test_a_message_said_while_the_end_is_told_is_answered(tmp_path: Path) -> None:
    model = ScriptedModel([{"text": "One."}, {"text": "Two."}])
    async with CodingAgent.open(model=model, cwd=tmp_path) as agent:

        def late(event: HarnessEvent) -> None:
            if isinstance(event, AgentEnd) and len(said(agent)) == 1:
                agent.steer("and this")

        agent.subscribe(late)
        result = await agent.prompt("first")
        assert said(agent) == ["first", "and this"]
        assert result.text == "Two."
        assert result.turns == 2
        with pytest.raises(AgentError):
            agent.steer("to nobody")


def choice(server: ProviderServer) -> ModelChoice:
    return ModelChoice(
        provider="openai", base_url=server.base_url("openai-chat"), api_key="k", model="m"
    )


async def test_an_answer_that_broke_off_is_asked_for_again(tmp_path: Path) -> None:
    whole = chat(text="The whole answer, word for word.")
    with ProviderServer(replace(whole, chunks=whole.chunks[:2]), whole) as server:
        heard: list[HarnessEvent] = []
        settings = Settings(retry=RetrySettings(attempts=1))
        async with CodingAgent.open(model=choice(server), cwd=tmp_path, settings=settings) as agent:
            agent.subscribe(heard.append)
            result = await agent.prompt("go")
            assert result.outcome == "done"
            assert result.text == "The whole answer, word for word."
            assert [event.attempt for event in heard if isinstance(event, RetryStart)] == [1]
            kept = [type(message).__name__ for message in agent.messages]
            assert kept == ["UserMessage", "AssistantMessage"]


async def test_a_window_that_is_full_is_compacted_and_the_run_goes_on(tmp_path: Path) -> None:
    too_long = {"error": {"message": "prompt is too long: 213462 tokens > 200000 maximum"}}
    with ProviderServer(
        chat(text="First answer."),
        error(400, too_long),
        chat(text="## Goal\nA summary."),
        chat(text="Second answer."),
    ) as server:
        heard: list[HarnessEvent] = []
        async with CodingAgent.open(
            model=choice(server), cwd=tmp_path, session=SessionChoice(kind="memory")
        ) as agent:
            await agent.prompt("x" * 80_000)
            agent.subscribe(heard.append)
            result = await agent.prompt("second")
            assert result.outcome == "done", result.error_message
            assert result.text == "Second answer."
            (end,) = [event for event in heard if isinstance(event, CompactionEnd)]
            assert end.entry_id is not None
            first = agent.messages[0]
            assert isinstance(first, UserMessage)
            assert "A summary." in text_of(first.content)
