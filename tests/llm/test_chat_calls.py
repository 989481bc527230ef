"""How the pieces of calls find each other, in every way in which servers number and name them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sloyd.llm.messages import AssistantMessage
from sloyd.llm.models import ModelInfo
from sloyd.llm.sse import SseEvent
from sloyd.llm.wires import wire_for

_A, _B = '{"path":"a"}', '{"path":"b"}'
_CALL_A, _CALL_B = ("read", {"path": "a"}), ("read", {"path": "b"})
_EMPTY: tuple[str, dict[str, Any]] = ("ls", {})


def _piece(arguments: Any = None, name: Any = None, **entry: Any) -> dict[str, Any]:
    return {**entry, "function": {"name": name, "arguments": arguments}}


def _read(*pieces: dict[str, Any], finish: str = "tool_calls") -> AssistantMessage:
    """The message of a stream with one piece in each chunk."""
    reader = wire_for("openai-chat").reader(ModelInfo(id="m", provider="p", api="openai-chat"))
    for piece in pieces:
        choice = {"index": 0, "delta": {"tool_calls": [piece]}}
        reader.feed(SseEvent("", json.dumps({"choices": [choice]})))
    end = {"index": 0, "delta": {}, "finish_reason": finish}
    reader.feed(SseEvent("", json.dumps({"choices": [end]})))
    reader.finish()
    return reader.message


_BOTH = {
    "all are number 0, heads first": [
        _piece("", "read", id="x", index=0),
        _piece(_A, index=0),
        _piece("", "read", id="y", index=0),
        _piece(_B, index=0),
    ],
    "all are number 0, nobody has an id": [
        _piece(_A, "read", index=0),
        _piece(_B, "read", index=0),
    ],
    "all are number 0, no id, heads first": [
        _piece("", "read", index=0),
        _piece(_A, index=0),
        _piece("", "read", index=0),
        _piece(_B, index=0),
    ],
    "one id for both": [
        _piece(_A, "read", id="call_0", index=0),
        _piece(_B, "read", id="call_0", index=1),
    ],
    "one id and one number for both": [
        _piece(_A, "read", id="call_0", index=0),
        _piece(_B, "read", id="call_0", index=0),
    ],
    "one id, no number": [_piece(_A, "read", id="call_0"), _piece(_B, "read", id="call_0")],
    "blank ids, no number": [_piece(_A, "read", id=" "), _piece(_B, "read", id="")],
    "ids are numbers": [_piece(_A, "read", id=7, index=0), _piece(_B, "read", id=8, index=0)],
    "numbers are texts": [
        _piece("", "read", id="x", index="0"),
        _piece("", "read", id="y", index="1"),
        _piece(_A, index="0"),
        _piece(_B, index="1"),
    ],
    "numbers are fractions": [
        _piece("", "read", id="x", index=0.0),
        _piece("", "read", id="y", index=1.0),
        _piece(_A, index=0.0),
        _piece(_B, index=1.0),
    ],
    "numbers come late": [
        _piece("", "read", id="x"),
        _piece("", "read", id="y"),
        _piece(_A, index=0),
        _piece(_B, index=1),
    ],
    "by id alone": [
        _piece("", "read", id="x"),
        _piece("", "read", id="y"),
        _piece(_A[:5], id="x"),
        _piece(_B[:5], id="y"),
        _piece(_A[5:], id="x"),
        _piece(_B[5:], id="y"),
    ],
    "arguments are objects": [
        _piece({"path": "a"}, "read", id="x", index=0),
        _piece({"path": "b"}, "read", id="y", index=0),
    ],
}


@pytest.mark.parametrize("pieces", _BOTH.values(), ids=_BOTH)
def test_two_calls_stay_two(pieces: list[dict[str, Any]]) -> None:
    message = _read(*pieces)
    assert [(call.name, call.arguments) for call in message.tool_calls] == [_CALL_A, _CALL_B]
    assert len({call.id for call in message.tool_calls}) == 2


_ONE = {
    "the id changes": [
        _piece("", "read", id="x", index=0),
        _piece(_A[:5], id="y", index=0),
        _piece(_A[5:], id="z", index=0),
    ],
    "the name is repeated": [
        _piece(_A[:5], "read", id="x", index=0),
        _piece(_A[5:], "read", id="x", index=0),
        _piece("", "read", id="x", index=0),
    ],
    "the name is repeated, no id": [
        _piece(_A[:5], "read", index=0),
        _piece(_A[5:], "read", index=0),
        _piece("", "read", index=0),
    ],
    "names of nothing": [
        _piece("", "read", id="x", index=0),
        _piece(_A[:5], "None", index=0),
        _piece(_A[5:], "null", index=0),
    ],
    "all of it once more": [
        _piece(_A[:5], "read", id="x", index=0),
        _piece(_A[5:], index=0),
        _piece(_A, "read", id="x", index=0),
    ],
    "an empty object first": [_piece("{}", "read", id="x", index=0), _piece(_A, index=0)],
    "an empty object first, as an object": [
        _piece({}, "read", id="x", index=0),
        _piece(_A, index=0),
    ],
    "the object grows": [
        _piece({"path": ""}, "read", id="x", index=0),
        _piece({"path": "a"}, "read", id="x", index=0),
    ],
    "the head comes last": [
        _piece(_A[:5], index=0),
        _piece(_A[5:], index=0),
        _piece(None, "read", id="x", index=0),
    ],
    "the number comes late": [_piece("", "read", id="x"), _piece(_A, index=0)],
    "the number goes away": [_piece("", "read", id="x", index=0), _piece(_A)],
}


@pytest.mark.parametrize("pieces", _ONE.values(), ids=_ONE)
def test_one_call_stays_one(pieces: list[dict[str, Any]]) -> None:
    (call,) = _read(*pieces).tool_calls
    assert (call.name, call.arguments, call.arguments_error) == (*_CALL_A, None)


def test_calls_stand_in_the_order_of_their_numbers() -> None:
    heads = [_piece("", "read", id="y", index=1), _piece("", "read", id="x", index=0)]
    message = _read(*heads, _piece(_A, index=0), _piece(_B, index=1))
    assert [(call.id, call.arguments["path"]) for call in message.tool_calls] == [
        ("x", "a"),
        ("y", "b"),
    ]


def test_calls_without_arguments_are_told_apart_by_their_ids() -> None:
    message = _read(_piece("", "ls", id="x", index=0), _piece("", "ls", id="y", index=0))
    assert [(call.name, call.arguments) for call in message.tool_calls] == [_EMPTY, _EMPTY]


def test_other_names_are_other_calls() -> None:
    message = _read(_piece("", "ls", index=0), _piece(_A, "read", index=0))
    assert [(call.name, call.arguments) for call in message.tool_calls] == [_EMPTY, _CALL_A]


@pytest.mark.parametrize("finish", ["length", "MAX_TOKENS", " max_tokens "])
def test_the_words_for_a_cut_answer_count_in_any_case(finish: str) -> None:
    assert _read(_piece(_A, "read", id="x", index=0), finish=finish).stop_reason == "length"
