"""Whatever a provider sends, a reader ends with one message that can be stored and sent on."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.llm.events import Done, Failed
from sloyd.llm.messages import AssistantMessage, ToolResultMessage, UserMessage
from sloyd.llm.models import Context, ModelInfo, StreamOptions
from sloyd.llm.sse import SseEvent
from sloyd.llm.wires import wire_for
from sloyd.llm.wires.base import encode_body
from tests.llm.support import APIS, Outcome
from tests.provider_streams import (
    anthropic_events,
    chat_events,
    google_events,
    responses_events,
)

_STREAMS: dict[str, Callable[..., list[Any]]] = {
    "openai-chat": chat_events,
    "openai-responses": responses_events,
    "anthropic-messages": anthropic_events,
    "google-generate": google_events,
}
_CALLS: list[Any] = [("read", {"path": "a"}), ("write", {"path": "b", "content": "c"}), ("ls", {})]
_ODD: list[Any] = [
    *(None, True, 0, 5, -1, 1.5, 1e300, 10**30, "", "0", "x", "null", "\ud800"),
    *([], {}, [None], [{}], ["x"], {"a": 1}, '{"path": "a"}'),
]


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in pairs:
        yield from _places(item, (*path, key))


def _mutated(events: list[Any], luck: random.Random) -> list[Any]:
    """The stream with events lost, doubled or swapped, and fields lost or of another kind."""
    events = copy.deepcopy(events)
    for _ in range(luck.randint(1, 4)):
        place, other = luck.randrange(len(events)), luck.randrange(len(events))
        match luck.randrange(8):
            case 0 if len(events) > 1:
                del events[place]
            case 1:
                events.insert(other, copy.deepcopy(events[place]))
            case 2:
                events[place], events[other] = events[other], events[place]
            case _ if isinstance(events[place], dict) and events[place]:
                *way, last = luck.choice(list(_places(events[place])))
                holder = events[place]
                for key in way:
                    holder = holder[key]
                if isinstance(holder, dict) and luck.random() < 0.3:
                    del holder[last]
                else:
                    holder[last] = copy.deepcopy(luck.choice(_ODD))
    return events


def _name(event: Any) -> str:
    kind = event.get("type") if isinstance(event, dict) else ""
    return kind if isinstance(kind, str) else ""


@pytest.mark.parametrize("api", APIS)
@given(seed=st.integers(0, 2**32), calls=st.integers(0, 3), text=st.sampled_from(["", "Hi there"]))
def test_every_stream_ends_in_a_message(api: str, seed: int, calls: int, text: str) -> None:
    events = _mutated(_STREAMS[api](text, "hm", _CALLS[:calls]), random.Random(seed))
    reader = wire_for(api).reader(ModelInfo(id="m", provider="p", api=api))
    made = []
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event)
        made += reader.feed(SseEvent(_name(event), data))
    outcome = Outcome([*made, *reader.finish()])
    assert sum(isinstance(event, (Done, Failed)) for event in outcome.events) == 1
    stored = msgspec.json.encode(outcome.message)
    assert msgspec.json.decode(stored, type=AssistantMessage) == outcome.message
    results = tuple(
        ToolResultMessage(tool_call_id=call.id, tool_name=call.name, timestamp=1)
        for call in outcome.message.tool_calls
    )
    first, last = (UserMessage(content=words, timestamp=1) for words in ("go", "on"))
    context = Context("", (first, outcome.message, *results, last))
    for target in APIS:
        info = ModelInfo(id="m", provider="p", api=target)
        body = encode_body(wire_for(target).payload(info, context, StreamOptions()).body)
        json.loads(body)
