"""What a wire is: the translation between our messages and one provider API, without any I/O.

A request goes out through `Wire.payload`, the events of the answer come in through a `Reader`.
Everything between, which is HTTP, is `sloyd.llm.http_model`'s and the same for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec

from sloyd.errors import ProviderError
from sloyd.llm.building import MessageBuilder
from sloyd.llm.events import StreamEvent
from sloyd.llm.messages import AssistantMessage
from sloyd.llm.models import Context, ModelInfo, StreamOptions
from sloyd.llm.sse import SseEvent
from sloyd.llm.surrogates import clean
from sloyd.llm.wires.decoding import KEEP_ALIVE, lines_in, objects_in

__all__ = [
    "Reader",
    "Wire",
    "WireRequest",
    "encode_body",
    "host_of",
]


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One HTTP POST. ``path`` is appended to the base URL; ``body`` is what becomes the JSON."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


class Wire(Protocol):
    """One API. Stateless; one instance serves all requests."""

    @property
    def api(self) -> str: ...

    def payload(self, info: ModelInfo, context: Context, options: StreamOptions) -> WireRequest:
        """The request for one answer, without its key."""

    def authorization(self, info: ModelInfo, key: str) -> Mapping[str, str]:
        """The headers that carry the key."""

    def reader(self, info: ModelInfo, taken_ids: Collection[str] = ()) -> Reader:
        """A new reader, for one answer."""


class Reader(ABC):
    """Turns the events of one answer into ours. It never raises for what a provider sent.

    Attributes:
        builder: holds the message as far as it has come.
        answered: the stop reason is known; what may still come is usage and the end mark.
        done_seen: the end mark came.
        heard: how many events came that were more than a sign of life.
    """

    def __init__(self, info: ModelInfo, taken_ids: Collection[str] = ()) -> None:
        self.info = info
        self.builder = MessageBuilder(info, taken_ids)
        self.answered = False
        self.done_seen = False
        self.heard = 0

    @property
    def finished(self) -> bool:
        """Whether `Done` or `Failed` was given. Later events are ignored."""
        return self.builder.finished

    @property
    def message(self) -> AssistantMessage:
        return self.builder.message

    def feed(self, event: SseEvent) -> list[StreamEvent]:
        """The events that one event of the provider means."""
        if self.finished:
            return []
        text = event.data
        if event.name in KEEP_ALIVE:
            return []
        if text[:1] != "{":
            text = text.strip()
            if text.strip('"').upper() == "[DONE]":
                self.done_seen = True
                return self.finish()
            if text in {"", "null"}:
                return []
        objects = objects_in(text)
        if isinstance(objects, ProviderError):
            # Behind the stop reason nothing comes that the answer could not do without.
            return self.finish() if self.answered else self.builder.failed(objects)
        events: list[StreamEvent] = []
        for data in objects:
            kind = data.get("type")
            if not (isinstance(kind, str) and kind in KEEP_ALIVE) and not self.finished:
                self.heard += 1
                events += self.read(event.name, data)
        return events

    def finish(self) -> list[StreamEvent]:
        """The stream ended. Exactly one `Done` or `Failed` has been given after this."""
        if self.finished:
            return []
        return self.end()

    def whole(self, body: bytes) -> list[StreamEvent] | None:
        """The events of a body that is no event stream: an error, or the answer in one piece.

        None means that it is neither.
        """
        try:
            value = msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError):
            # Some servers stream one object a line, without the words of event streams.
            value = lines_in(body.decode("utf-8", "replace")) or None
        if isinstance(value, list) and value and isinstance(value[0], dict):
            parts = [part for part in value if isinstance(part, dict)]
        elif isinstance(value, dict):
            parts = self.unfold(value)
        else:
            return None
        events: list[StreamEvent] = []
        for part in parts:
            if not self.finished:
                events += self.read(str(part.get("type") or ""), part)
        return events + self.finish()

    def unfold(self, answer: dict[str, Any]) -> list[dict[str, Any]]:
        """An answer in one piece, as the events of a stream would bring it."""
        return [answer]

    def fail(self, error: ProviderError) -> list[StreamEvent]:
        """The stream broke."""
        return self.builder.failed(error)

    @abstractmethod
    def read(self, name: str, data: dict[str, Any]) -> list[StreamEvent]:
        """The events that one JSON object of the provider means."""

    @abstractmethod
    def end(self) -> list[StreamEvent]:
        """The end of the body, when nothing has finished the message before."""

    def ended_early(self) -> list[StreamEvent]:
        """The body ended before the answer did."""
        return self.builder.failed(
            ProviderError(
                "The provider's answer ended before it was complete.",
                problem="broken-stream",
                retryable=True,
            )
        )


def encode_body(body: dict[str, Any]) -> bytes:
    """The JSON of a request: strict UTF-8, no lone surrogate, keys in the order of the body."""
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        return msgspec.json.encode(clean(body))


def host_of(url: str) -> str:
    """The host of a URL in lower case, or the empty string."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
