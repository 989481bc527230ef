"""The scripted model: turns from a file, streamed like a provider's, loud when they are over."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from sloyd.errors import UsageError
from sloyd.llm.events import Done, Failed, Start, TextDelta
from sloyd.llm.messages import Text, Thinking, ToolResultMessage, UserMessage
from sloyd.llm.models import Context
from sloyd.llm.wires.scripted import ScriptedModel
from tests.llm.support import HELLO, Outcome


def _file(directory: Path, turns: Any) -> Path:
    path = directory / "turns.json"
    path.write_text(json.dumps(turns), encoding="utf-8")
    return path


async def _ask(model: ScriptedModel, context: Context = HELLO) -> Outcome:
    async with model.stream(context) as stream:
        return Outcome([event async for event in stream])


async def test_a_file_is_played_turn_by_turn(tmp_path: Path) -> None:
    turns = [
        {
            "thinking": "Let me see.",
            "text": "I read two files at once.",
            "calls": [
                {"name": "read", "arguments": {"path": "a.txt"}},
                {"name": "read", "arguments": {"path": "b.txt"}},
            ],
        },
        {"text": "Done."},
    ]
    model = ScriptedModel(_file(tmp_path, turns))
    first = await _ask(model)
    assert isinstance(first.events[0], Start)
    assert first.message.stop_reason == "toolUse"
    assert first.message.content[:2] == (
        Thinking("Let me see."),
        Text("I read two files at once."),
    )
    assert [call.arguments["path"] for call in first.calls] == ["a.txt", "b.txt"]
    assert len({call.id for call in first.calls}) == 2
    pieces = [event.text for event in first.events if isinstance(event, TextDelta)]
    assert len(pieces) > 1
    assert model.remaining == 1
    second = await _ask(model)
    assert second.message.text == "Done."
    assert second.message.stop_reason == "stop"


async def test_a_request_too_many_is_an_error(tmp_path: Path) -> None:
    model = ScriptedModel(_file(tmp_path, [{"text": "only"}]))
    await _ask(model)
    outcome = await _ask(model)
    assert isinstance(outcome.events[-1], Failed)
    assert outcome.error is not None
    assert outcome.error.problem == "script"
    assert "1 turn" in str(outcome.error)
    assert "turns.json" in str(outcome.error)


async def test_errors_stop_reasons_and_delays() -> None:
    model = ScriptedModel(
        [
            {"text": "so far", "error": "Overloaded, try later"},
            {"text": "cut", "stopReason": "length", "calls": [{"name": "x", "arguments": '{"a'}]},
            {"text": "late", "delayMs": 150},
        ]
    )
    failed = await _ask(model)
    assert failed.message.text == "so far"
    assert failed.error is not None
    assert failed.error.retryable
    cut = await _ask(model)
    assert cut.message.stop_reason == "length"
    assert cut.calls[0].arguments_error is not None
    started = time.monotonic()
    late = await _ask(model)
    assert time.monotonic() - started >= 0.15
    assert isinstance(late.events[-1], Done)


async def test_what_a_turn_expects_must_have_come() -> None:
    turns: list[dict[str, Any]] = [{"expect": ["3 passed"], "text": "good"}] * 2
    model = ScriptedModel(turns)
    result = ToolResultMessage(tool_call_id="a", tool_name="bash", content=(Text("3 passed"),))
    user = UserMessage(content="3 passed")
    met = await _ask(model, Context(messages=(user, result)))
    assert met.message.text == "good"
    missed = await _ask(model, Context(messages=(user,)))
    assert missed.error is not None
    assert missed.error.problem == "script"
    assert "3 passed" in str(missed.error)


async def test_an_abort_keeps_what_was_played() -> None:
    model = ScriptedModel([{"text": "x", "delayMs": 60_000}])
    with anyio.move_on_after(0.05) as scope:
        async with model.stream(HELLO) as stream:
            async for _ in stream:
                pass
    assert scope.cancelled_caught
    assert stream.message.stop_reason == "aborted"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{}", "list of turns"),
        ("[{", "list of turns"),
        ('[{"txt": "typo"}]', "txt"),
        ('[{"calls": [{"arguments": {}}]}]', "name"),
        ('[{"stopReason": "never"}]', "never"),
        ("\udcff", "list of turns"),
    ],
)
def test_a_bad_script_is_named_with_its_place(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=r"bad\.json") as caught:
        ScriptedModel(path)
    assert says in str(caught.value)


def test_a_missing_script_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.json"):
        ScriptedModel(tmp_path / "gone.json")
