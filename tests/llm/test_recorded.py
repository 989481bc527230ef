"""Cassettes: what is recorded is played again, nothing private is kept, a difference is loud."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.errors import UsageError
from sloyd.llm.cassettes import RecordedRequest, decoded_chunk, differences, encoded_chunk
from sloyd.llm.events import Done
from sloyd.llm.http_model import HttpModel
from sloyd.llm.messages import AssistantMessage, Text, ToolCall, ToolResultMessage, UserMessage
from sloyd.llm.models import Context, StreamOptions
from sloyd.llm.recorded import RecordedModel, record
from tests.llm.support import APIS, HELLO, QUICK, Outcome, conversation, info_at
from tests.servers import ProviderServer, Reply, chat, error, stream

KEY = "sk-very-secret-key"


async def asked(model: HttpModel, context: Context = HELLO, **options: Any) -> Outcome:
    async with model.stream(context, StreamOptions(**options)) as answer:
        return Outcome([event async for event in answer])


async def recorded(
    server: ProviderServer, file: Path, *contexts: Context, api: str = "openai-chat"
) -> list[Outcome]:
    """Ask the server through a recorder."""
    info = info_at(server, api, headers={"x-team": "private-team"})
    original = HttpModel(info, api_key=KEY, retries=QUICK)
    async with record(original, file) as model:
        return [await asked(model, context) for context in contexts]


def stable(message: AssistantMessage) -> AssistantMessage:
    """Without time, and without the ids that we make where an API has none."""
    content = [
        msgspec.structs.replace(block, id="") if isinstance(block, ToolCall) else block
        for block in message.content
    ]
    return msgspec.structs.replace(message, content=content, timestamp=0, duration_ms=None)


@pytest.mark.parametrize("api", APIS)
async def test_an_answer_is_played_as_it_came(api: str, tmp_path: Path) -> None:
    file = tmp_path / "cassette.jsonl"
    reply = stream(api, "Some text: é.", "Deep thought.", [("read", {"path": "a"})])
    with ProviderServer(reply) as server:
        (first,) = await recorded(server, file, HELLO, api=api)
    model = RecordedModel(file)
    again = await asked(model)
    assert isinstance(again.events[-1], Done)
    assert stable(again.message) == stable(first.message)
    assert [type(event) for event in again.events] == [type(event) for event in first.events]
    assert model.remaining == 0


@pytest.mark.parametrize("api", APIS)
async def test_ids_that_are_made_anew_do_not_count(api: str, tmp_path: Path) -> None:
    file = tmp_path / "cassette.jsonl"
    replies = (stream(api, calls=[("read", {"path": "a"})]), stream(api, "Done."))
    with ProviderServer(*replies) as server:
        model = HttpModel(info_at(server, api, "gemini-3-pro"), api_key=KEY)
        async with record(model, file) as kept:
            await two_turns(kept, "call-number-one")
    model = RecordedModel(file)
    assert await two_turns(model, "call-number-two") == "Done."
    assert model.remaining == 0


async def two_turns(model: HttpModel, call_id: str) -> str:
    """A call and its result, the call under another id than the provider gave it."""
    first = (await asked(model)).message
    call = msgspec.structs.replace(first.tool_calls[0], id=call_id)
    answer = msgspec.structs.replace(first, content=(call,))
    result = ToolResultMessage(
        tool_call_id=call_id, tool_name="read", content=(Text(text="a file"),), timestamp=2
    )
    context = conversation(*HELLO.messages, answer, result)
    outcome = await asked(model, context)
    assert outcome.error is None
    return outcome.message.text


async def test_nothing_private_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "cassette.jsonl"
    body = {"error": {"message": f"Incorrect API key provided: {KEY}."}}
    private = {"set-cookie": "session=abc", "openai-organization": "my-organization"}
    with ProviderServer(error(401, body, private)) as server:
        await recorded(server, file, conversation(UserMessage(content=f"my key is {KEY}")))
    text = file.read_text()
    for secret in (KEY, "private-team", "session=abc", "my-organization"):
        assert secret not in text
    assert "Incorrect API key provided: <secret>." in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_words_of_harmless_headers_are_no_secrets(tmp_path: Path) -> None:
    file = tmp_path / "cassette.jsonl"
    with ProviderServer(chat("an identity of applications")) as server:
        await recorded(server, file, conversation(UserMessage(content="identity")))
    assert "<secret>" not in file.read_text()
    assert (await asked(RecordedModel(file), HELLO)).error is not None


async def test_failures_and_retries_are_played_without_waiting(tmp_path: Path) -> None:
    file = tmp_path / "cassette.jsonl"
    busy = error(429, {"error": {"message": "slow down"}}, {"retry-after": "0.1"})
    with ProviderServer(busy, Reply(before="reset"), chat("hi")) as server:
        (first,) = await recorded(server, file, HELLO)
    again = await asked(RecordedModel(file))
    assert again.message.text == first.message.text == "hi"
    assert [retry.error.problem for retry in again.retries] == [
        retry.error.problem for retry in first.retries
    ]
    assert {retry.delay for retry in again.retries} == {0.0}


async def test_a_broken_stream_breaks_again(tmp_path: Path) -> None:
    file = tmp_path / "cassette.jsonl"
    whole = chat("some words")
    with ProviderServer(Reply(whole.chunks[:2], ending="reset")) as server:
        (first,) = await recorded(server, file, HELLO)
    again = await asked(RecordedModel(file))
    assert first.error is not None
    assert again.error is not None
    assert (again.error.problem, str(again.error)) == (first.error.problem, str(first.error))
    assert again.message.content == first.message.content


async def test_a_different_request_says_where_it_differs(tmp_path: Path) -> None:
    file = tmp_path / "cassette.jsonl"
    with ProviderServer(chat("hi")) as server:
        await recorded(server, file, conversation(UserMessage(content="a" * 500 + "one")))
    model = RecordedModel(file)
    other = conversation(UserMessage(content="a" * 500 + "two"), tools=True)
    outcome = await asked(model, other, temperature=0.5)
    assert outcome.error is not None
    assert (outcome.error.problem, outcome.error.retryable) == ("script", False)
    words = str(outcome.error)
    assert f"{file}: the request differs from recorded exchange 1" in words
    assert "temperature: not recorded, sent 0.5" in words
    assert "tools: not recorded" in words
    assert '"...' not in words
    assert 'aaone", sent' in words
    assert 'aatwo"' in words
    assert model.remaining == 1


async def test_one_request_too_many_is_told(tmp_path: Path) -> None:
    file = tmp_path / "cassette.jsonl"
    with ProviderServer(chat("hi")) as server:
        await recorded(server, file, HELLO)
    model = RecordedModel(file)
    await asked(model)
    outcome = await asked(model)
    assert outcome.error is not None
    assert "all 1 recorded exchanges have been played" in str(outcome.error)


async def test_the_order_of_different_requests_does_not_matter(tmp_path: Path) -> None:
    file = tmp_path / "cassette.jsonl"
    one, two = (conversation(UserMessage(content=word)) for word in ("one", "two"))
    with ProviderServer(chat("first"), chat("second")) as server:
        await recorded(server, file, one, two)
    model = RecordedModel(file)
    assert (await asked(model, two)).message.text == "second"
    assert (await asked(model, one)).message.text == "first"


async def test_places_and_ids_of_the_conversation_do_not_count(tmp_path: Path) -> None:
    file = tmp_path / "cassette.jsonl"
    here, there = tmp_path / "here", tmp_path / "there"
    with ProviderServer(chat("hi")) as server:
        model = HttpModel(info_at(server, "openai-chat", quirks={"cache_key": True}), api_key=KEY)
        async with record(model, file, cwd=here) as kept:
            context = conversation(UserMessage(content="x"), system=f"You work in {here}.")
            await asked(kept, context, session_id="one")
    assert "You work in <cwd>." in file.read_text()
    context = conversation(UserMessage(content="x"), system=f"You work in {there}.")
    played = RecordedModel(file, cwd=there)
    assert (await asked(played, context, session_id="two")).message.text == "hi"


async def test_the_pace_is_kept_if_wanted(tmp_path: Path) -> None:
    file = tmp_path / "cassette.jsonl"
    whole = chat("some words of an answer")
    with ProviderServer(Reply(whole.chunks, pause=0.03)) as server:
        (first,) = await recorded(server, file, HELLO)
    slow = await asked(RecordedModel(file, timing=True))
    fast = await asked(RecordedModel(file))
    assert slow.message.text == fast.message.text == first.message.text
    chunks = json.loads(file.read_text().splitlines()[1])["answer"]["chunks"]
    assert chunks[-1][0] >= 25 * (len(whole.chunks) - 1)


async def test_a_recording_is_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "cassette.jsonl"
    file.write_text("precious")
    with ProviderServer() as server:
        model = HttpModel(info_at(server, "openai-chat"))
        with pytest.raises(UsageError, match="exists already"):
            record(model, file)
        with pytest.raises(UsageError, match="cannot record to"):
            record(model, tmp_path / "missing" / "cassette.jsonl")
    assert file.read_text() == "precious"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "nothing was recorded"),
        ("hello\n", "no line of a cassette"),
        ('{"type":"exchange"}\n', "no line of a cassette"),
    ],
)
def test_a_file_that_is_no_cassette_says_so(content: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "cassette.jsonl"
    file.write_text(content)
    with pytest.raises(UsageError, match=words):
        RecordedModel(file)
    with pytest.raises(UsageError, match="cannot read"):
        RecordedModel(tmp_path / "none.jsonl")


@given(st.binary(max_size=40) | st.just(b"base64:x"))
def test_any_bytes_survive_the_file(data: bytes) -> None:
    assert decoded_chunk(json.loads(json.dumps(encoded_chunk(data)))) == data


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)


@given(VALUES, VALUES)
def test_requests_are_equal_exactly_when_no_difference_is_named(old: Any, new: Any) -> None:
    named = differences(
        RecordedRequest("POST", "/", {}, old), RecordedRequest("POST", "/", {}, new)
    )
    same = json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)
    assert (named == []) == same
