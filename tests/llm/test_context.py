"""Histories mended for a provider: every call one result, no orphan, nothing blank."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from sloyd.llm.context import NO_OUTPUT, NO_RESULT, IdRule, Turn, mend
from sloyd.llm.messages import (
    AssistantMessage,
    Image,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from sloyd.llm.models import ModelInfo

_INFO = ModelInfo(id="m", provider="p", api="openai-chat")
_BLIND = ModelInfo(id="m", provider="p", api="openai-chat", inputs=("text",))
_IDS = st.sampled_from(["a", "b", "call_0", "functions.read:0", "call_1|fc_1", "", "x" * 446, "é"])
_TEXTS = st.sampled_from(["", "  \n", "text", "more"])
_IMAGES = st.just(Image("aGk=", "image/png"))
_STOPS: tuple[StopReason, ...] = ("stop", "toolUse", "length", "error", "aborted")
_CALLS = st.builds(ToolCall, id=_IDS, name=st.just("read"), arguments=st.just({"path": "a"}))
_ANSWERS = st.builds(
    AssistantMessage,
    content=st.lists(
        st.builds(Text, _TEXTS) | st.builds(Thinking, _TEXTS) | _CALLS, max_size=4
    ).map(tuple),
    api=st.just("openai-chat"),
    provider=st.just("p"),
    model=st.sampled_from(["m", "other"]),
    stop_reason=st.sampled_from(_STOPS),
    timestamp=st.just(1),
)
_RESULTS = st.builds(
    ToolResultMessage,
    tool_call_id=_IDS,
    tool_name=st.just("read"),
    content=st.lists(st.builds(Text, _TEXTS) | _IMAGES, max_size=3).map(tuple),
    timestamp=st.just(1),
)
_USERS = st.builds(
    UserMessage,
    content=_TEXTS | st.lists(st.builds(Text, _TEXTS) | _IMAGES, max_size=3).map(tuple),
    timestamp=st.just(1),
)
_HISTORIES = st.lists(_USERS | _ANSWERS | _RESULTS, max_size=14)
_RULE = IdRule(allowed="[a-zA-Z0-9_-]", longest=40)
_NINE = IdRule(allowed="[A-Za-z0-9]", longest=9, exact=True)


@given(_HISTORIES, st.sampled_from([_INFO, _BLIND]), st.sampled_from([_RULE, _NINE]))
def test_any_history_becomes_one_that_every_api_takes(
    history: list[Message], info: ModelInfo, rule: IdRule
) -> None:
    before = msgspec.json.encode(history)
    mended = mend(history, info, rule)
    assert mended == mend(history, info, rule)
    assert msgspec.json.encode(history) == before
    ids: list[str] = []
    for previous, item in zip([None, *mended], mended, strict=False):
        if isinstance(item, UserMessage):
            assert not isinstance(previous, UserMessage)
            _check_blocks(item.content, info)
            continue
        assert item.answer.stop_reason not in {"error", "aborted"}
        assert item.answer.content
        calls = item.answer.tool_calls
        assert [call.id for call in calls] == [result.tool_call_id for result in item.results]
        ids += [call.id for call in calls]
        for result in item.results:
            _check_blocks(result.content, info)
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", spelt) for spelt in ids)
    if rule.exact:
        assert all(len(spelt) == 9 for spelt in ids)


def _check_blocks(content: Any, info: ModelInfo) -> None:
    assert content
    for block in content:
        if isinstance(block, Text):
            assert block.text.strip()
        else:
            assert "image" in info.inputs


@given(_HISTORIES)
def test_a_longer_history_keeps_its_beginning(history: list[Message]) -> None:
    """A provider's cache lives from requests that share their prefix."""
    user = UserMessage(content="end", timestamp=1)
    done = AssistantMessage(content=(Text("done"),), timestamp=1)
    shorter = mend([*history, user], _INFO, _RULE)
    longer = mend([*history, user, done, user], _INFO, _RULE)
    assert longer[: len(shorter)] == shorter


def _answer(*content: Text | Thinking | ToolCall, **changes: Any) -> AssistantMessage:
    fields: dict[str, Any] = {"api": "openai-chat", "provider": "p", "model": "m", "timestamp": 1}
    return AssistantMessage(content=content, **{**fields, **changes})


def _result(call_id: str, text: str) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=call_id, tool_name="read", content=(Text(text),), timestamp=1
    )


def test_results_go_to_the_call_they_stand_behind() -> None:
    """Some servers call every first call call_0."""
    call = ToolCall("call_0", "read", {})
    user = UserMessage(content="go", timestamp=1)
    mended = mend([user, _answer(call), _answer(call), _result("call_0", "second")], _INFO)
    first, second = (item for item in mended if isinstance(item, Turn))
    assert first.results[0].is_error
    assert first.results[0].content == (Text(NO_RESULT),)
    assert second.results[0].content == (Text("second"),)
    assert first.results[0].tool_call_id != second.results[0].tool_call_id


def test_results_out_of_order_are_put_in_order() -> None:
    calls = (ToolCall("a", "read", {}), ToolCall("b", "read", {}))
    steer = UserMessage(content="wait", timestamp=1)
    mended = mend([_answer(*calls), _result("b", "B"), steer, _result("a", "A")], _INFO)
    turn, last = mended
    assert isinstance(turn, Turn)
    assert [result.content for result in turn.results] == [(Text("A"),), (Text("B"),)]
    assert isinstance(last, UserMessage)


def test_an_aborted_answer_takes_its_results_along() -> None:
    call = ToolCall("a", "read", {})
    user = UserMessage(content="go", timestamp=1)
    aborted = _answer(Text("half"), call, stop_reason="aborted")
    assert len(mend([user, aborted, _result("a", "A")], _INFO)) == 1


def test_thinking_and_signatures_stay_with_their_model() -> None:
    content = (Thinking("deep", "sig"), Text("hi", "sig"), ToolCall("a", "read", {}, "sig"))
    (own,) = mend([_answer(*content)], _INFO)
    (foreign,) = mend([_answer(*content, model="other")], _INFO)
    assert isinstance(own, Turn)
    assert isinstance(foreign, Turn)
    assert own.answer.content == content
    assert foreign.answer.content == (Text("hi"), ToolCall("a", "read", {}))


def test_images_become_one_note_for_a_model_that_cannot_see() -> None:
    image = Image("aGk=", "image/png")
    result = ToolResultMessage(
        tool_call_id="a", tool_name="read", content=(image, image), timestamp=1
    )
    (turn,) = mend([_answer(ToolCall("a", "read", {})), result], _BLIND)
    assert isinstance(turn, Turn)
    (note,) = turn.results[0].content
    assert isinstance(note, Text)
    assert "image omitted" in note.text
    assert result.content == (image, image)


def test_an_empty_result_says_so() -> None:
    empty = ToolResultMessage(tool_call_id="a", tool_name="bash", timestamp=1)
    (turn,) = mend([_answer(ToolCall("a", "bash", {})), empty], _INFO)
    assert isinstance(turn, Turn)
    assert turn.results[0].content == (Text(NO_OUTPUT),)


def test_short_good_ids_are_left_alone() -> None:
    assert _RULE.spell("call_abc", set()) == "call_abc"
    assert _RULE.spell("call_1|fc_2", set()) == "call_1"
    long = _RULE.spell("x" * 446, set())
    assert len(long) == 40
    assert _RULE.spell("functions.read:0", set()) != _RULE.spell("functions_read_0", set())
