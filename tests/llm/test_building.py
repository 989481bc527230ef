"""The message builder: events, ids, surrogates, and work that is linear in the text."""

from __future__ import annotations

import json
import time

from hypothesis import given
from hypothesis import strategies as st

from sloyd.errors import ProviderError
from sloyd.llm.building import MessageBuilder
from sloyd.llm.events import Done, Failed, TextDelta, ToolCallEnd, ToolCallStart
from sloyd.llm.messages import Text, Thinking, Usage
from sloyd.llm.models import ModelInfo, Prices

_INFO = ModelInfo(id="m", provider="p", api="openai-chat", prices=Prices(input=3, output=15))


@given(st.lists(st.text(st.characters(categories=["Cs", "Ll", "So"]), max_size=3), max_size=12))
def test_streamed_text_is_clean_whatever_the_halves(pieces: list[str]) -> None:
    builder = MessageBuilder(_INFO)
    events = [event for piece in pieces for event in builder.text(piece)]
    builder.done("stop")
    text = builder.message.text
    text.encode()
    joined = "".join(pieces)
    expected = joined.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert text == expected
    streamed = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert text in {streamed, f"{streamed}\ufffd"}


def test_blocks_open_and_close_in_the_order_they_came() -> None:
    builder = MessageBuilder(_INFO)
    builder.thinking("hm", "signature")
    builder.text("one")
    builder.text(" two")
    block, _ = builder.open_call("id", " read\n")
    builder.add_arguments(block, '{"path":')
    builder.add_arguments(block, '"a"}')
    events = builder.done("stop")
    message = builder.message
    assert message.content[:2] == (Thinking("hm", "signature"), Text("one two"))
    assert message.tool_calls[0].name == "read"
    assert message.tool_calls[0].arguments == {"path": "a"}
    assert message.stop_reason == "toolUse"
    assert [type(event) for event in events[-2:]] == [ToolCallEnd, Done]


def test_a_call_is_announced_once_its_id_is_known() -> None:
    builder = MessageBuilder(_INFO)
    block, events = builder.open_call("", "read")
    assert events == []
    builder.add_arguments(block, '{"path":')
    start, delta = builder.name_call(block, "late", "")
    assert start == ToolCallStart(0, "late", "read")
    assert getattr(delta, "text", None) == '{"path":'


def test_ids_are_made_unique() -> None:
    builder = MessageBuilder(_INFO, taken_ids=["a"])
    for given_id in ("a", "a", "", ""):
        builder.open_call(given_id, "read")
    builder.done("toolUse")
    ids = [call.id for call in builder.message.tool_calls]
    assert ids[:2] == ["a_2", "a_3"]
    assert len({*ids, "a", ""}) == 6


def test_the_partial_message_is_there_at_any_time() -> None:
    builder = MessageBuilder(_INFO)
    builder.text("half")
    assert builder.message.stop_reason == "aborted"
    assert builder.message.text == "half"
    (failed,) = builder.failed(ProviderError("gone"))
    assert isinstance(failed, Failed)
    assert builder.message.text == "half"
    assert builder.message.error_message == "gone"
    assert builder.done("stop") == []


def test_usage_gets_its_cost() -> None:
    builder = MessageBuilder(_INFO)
    builder.usage = Usage(input=1_000_000, output=100_000)
    builder.done("stop")
    assert builder.message.usage.cost.total == 4.5


def test_five_megabytes_of_arguments_are_linear() -> None:
    text = json.dumps({"path": "big", "content": "line of text\n" * 400_000})
    started = time.process_time()
    builder = MessageBuilder(_INFO)
    block, _ = builder.open_call("id", "write")
    for start in range(0, len(text), 20):
        builder.add_arguments(block, text[start : start + 20])
    builder.done("toolUse")
    assert time.process_time() - started < 1.5
    assert len(builder.message.tool_calls[0].arguments["content"]) == 400_000 * 13
