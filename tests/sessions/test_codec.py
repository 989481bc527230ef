"""Lines and entries: a round trip loses nothing, and no line brings the reader down."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.errors import SessionError
from sloyd.llm.messages import (
    AssistantMessage,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from sloyd.sessions.codec import decode_entry, encode_entry, patch_line
from sloyd.sessions.entries import (
    BashExecution,
    BranchSummaryEntry,
    CompactionEntry,
    ContextEditEntry,
    CustomEntry,
    CustomMessageEntry,
    Entry,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    Replacement,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
    UnknownEntry,
    UnknownMessage,
    UsageEntry,
)

_text = st.text(st.characters(codec=None), max_size=20)  # lone surrogates included
_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=8,
)
_stamp = st.integers(0, 2**45)
_block = st.builds(Text, _text) | st.builds(Image, st.just("QUJD"), st.just("image/png"))
_messages = (
    st.builds(
        UserMessage, content=_text | st.lists(_block, max_size=3).map(tuple), timestamp=_stamp
    )
    | st.builds(
        AssistantMessage,
        content=st.lists(
            st.builds(Text, _text)
            | st.builds(Thinking, _text, st.none() | _text, st.booleans())
            | st.builds(ToolCall, _text, _text, st.dictionaries(_text, _json, max_size=3)),
            max_size=3,
        ).map(tuple),
        usage=st.builds(Usage, st.integers(0, 9**9), st.integers(0, 9**9)),
        stop_reason=st.sampled_from(["stop", "length", "toolUse", "error", "aborted"]),
        error_message=st.none() | _text,
        timestamp=_stamp,
    )
    | st.builds(
        ToolResultMessage,
        tool_call_id=_text,
        tool_name=_text,
        content=st.lists(_block, max_size=3).map(tuple),
        details=_json,
        is_error=st.booleans(),
        timestamp=_stamp,
    )
    | st.builds(BashExecution, command=_text, output=_text, timestamp=_stamp)
)
_place = {
    "id": st.text("0123456789abcdef", min_size=8, max_size=8),
    "parent_id": st.none() | st.just("00000000"),
    "timestamp": st.just("2026-01-01T00:00:00.000Z"),
}
_entries: st.SearchStrategy[Entry] = st.one_of(
    st.builds(MessageEntry, message=_messages, **_place),
    st.builds(ModelChangeEntry, provider=_text, model_id=_text, **_place),
    st.builds(ThinkingLevelChangeEntry, thinking_level=_text, **_place),
    st.builds(CompactionEntry, summary=_text, first_kept_entry_id=_text, details=_json, **_place),
    st.builds(BranchSummaryEntry, summary=_text, from_id=st.none() | _text, **_place),
    st.builds(
        ContextEditEntry,
        target_id=_text,
        replacement=st.none() | st.builds(Replacement, _json),
        **_place,
    ),
    st.builds(CustomEntry, custom_type=_text, data=_json, **_place),
    st.builds(CustomMessageEntry, custom_type=_text, content=_text, **_place),
    st.builds(UsageEntry, kind=_text, usage=st.builds(Usage), **_place),
    st.builds(LabelEntry, target_id=_text, label=st.none() | _text, **_place),
    st.builds(SessionInfoEntry, name=st.none() | _text, **_place),
)


@given(_entries)
def test_an_entry_survives_its_line(entry: Entry) -> None:
    line = encode_entry(entry)
    assert b"\n" not in line
    assert decode_entry(line) == entry
    json.loads(line.decode("utf-8"))


@given(st.dictionaries(_text, _json, max_size=5), st.sampled_from(["future", "message", "label"]))
def test_any_object_is_read_and_an_unknown_one_is_kept(data: dict[str, Any], kind: str) -> None:
    data |= {"type": kind, "id": "00000001", "parentId": None, "timestamp": ""}
    line = json.dumps(data).encode()
    entry = decode_entry(line)
    assert entry.id == "00000001"
    if kind == "future":
        assert isinstance(entry, UnknownEntry)
        assert json.loads(encode_entry(entry)) == json.loads(line)


@given(st.dictionaries(_text, _json, max_size=5))
def test_a_patched_line_keeps_every_other_field(data: dict[str, Any]) -> None:
    line = json.dumps({**data, "parentId": "a"}).encode()
    assert json.loads(patch_line(line, parentId="b")) == {**data, "parentId": "b"}


@given(
    st.dictionaries(
        st.sampled_from(
            ["content", "usage", "stopReason", "timestamp", "details", "isError", "model", "api"]
        ),
        _json,
    ),
    st.sampled_from(["user", "assistant", "toolResult", "custom", "bashExecution", "alien"]),
)
def test_no_message_brings_the_reader_down(message: dict[str, Any], role: str) -> None:
    line = json.dumps({"type": "message", "id": "1", "message": {**message, "role": role}})
    assert isinstance(decode_entry(line.encode()), MessageEntry)


def _message(line: bytes) -> Any:
    entry = decode_entry(line)
    assert isinstance(entry, MessageEntry)
    return entry.message


def test_a_missing_timestamp_is_the_entry_s() -> None:
    line = (
        b'{"type":"message","id":"1","parentId":null,"timestamp":"2026-01-01T00:00:01.500Z",'
        b'"message":{"role":"user","content":"x"}}'
    )
    assert _message(line).timestamp == 1767225601500


def test_odd_answers_are_mended() -> None:
    line = (
        b'{"type":"message","id":"1","timestamp":"","message":{"role":"assistant","content":['
        b'{"type":"text","text":"a"},{"type":"hologram"},{"type":"toolCall","id":1,"name":"read",'
        b'"arguments":"{}"}],"stopReason":"deferred","usage":{"input":2.0,"cost":null}}}'
    )
    message = _message(line)
    assert [type(block) for block in message.content] == [Text, Text, ToolCall]
    assert "hologram" in message.content[1].text
    assert message.content[2].arguments_error is not None
    assert (message.stop_reason, message.raw_stop_reason) == ("stop", "deferred")
    assert message.usage.input == 2


def test_bytes_that_are_not_utf_8_are_shown_as_replaced() -> None:
    line = b'{"type":"message","id":"1","message":{"role":"user","content":"a\xff","timestamp":1}}'
    assert _message(line).content == "a\ufffd"


def test_an_unknown_role_is_kept_whole() -> None:
    data = {"role": "oracle", "omen": [1, 2]}
    line = json.dumps({"type": "message", "id": "1", "parentId": None, "message": data}).encode()
    message = _message(line)
    assert message == UnknownMessage(role="oracle", data=data)
    assert json.loads(encode_entry(decode_entry(line)))["message"] == data


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[1]", "array"),
        (b'"x"', "string"),
        (b"null", "object"),
        (b"{", "not JSON"),
        (b"[" * 200_000, "deeply"),
    ],
)
def test_what_is_no_object_is_named(line: bytes, reason: str) -> None:
    with pytest.raises(SessionError, match=reason):
        decode_entry(line)


def test_numbers_that_json_lacks_become_null() -> None:
    entry = CustomEntry(custom_type="\ud800", data=[float("nan"), float("inf"), 1.5])
    assert json.loads(encode_entry(entry))["data"] == [None, None, 1.5]
