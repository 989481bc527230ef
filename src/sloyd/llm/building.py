"""One builder for every wire: deltas in, stream events and the message so far out.

A wire names what came; the builder keeps the blocks, joins their pieces once, makes ids unique,
reads the arguments and decides the final stop reason, so that each of these rules exists once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from dataclasses import dataclass, field

from sloyd.errors import ContextOverflow, ProviderError
from sloyd.llm.argument_text import checked_arguments, parse_arguments
from sloyd.llm.events import (
    Done,
    Failed,
    Start,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from sloyd.llm.messages import (
    AssistantContent,
    AssistantMessage,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    Usage,
    now_ms,
)
from sloyd.llm.models import ModelInfo, cost_of
from sloyd.llm.surrogates import clean_text, is_clean

__all__ = ["CallBlock", "MessageBuilder", "TextBlock", "ThinkingBlock"]

_FULL = 0.99
"""Share of the window from which a prompt that got no answer did not fit."""
_LAST_HIGH_SURROGATE = ("\ud800", "\udbff")


@dataclass(slots=True, eq=False)
class _Pieces:
    """Text that comes in pieces. A half character at a piece's end waits for its other half."""

    parts: list[str] = field(default_factory=list)
    half: str = ""

    def add(self, piece: str) -> str:
        """Take a piece; returns what of it is text now."""
        if self.half or not is_clean(piece):
            piece = self.half + piece
            self.half = ""
            low, high = _LAST_HIGH_SURROGATE
            if piece and low <= piece[-1] <= high:
                self.half = piece[-1]
                piece = piece[:-1]
            piece = clean_text(piece)
        if piece:
            self.parts.append(piece)
        return piece

    def joined(self) -> str:
        """All of it; the pieces are joined once and kept joined."""
        if len(self.parts) > 1:
            self.parts = ["".join(self.parts)]
        text = self.parts[0] if self.parts else ""
        return f"{text}\ufffd" if self.half else text


@dataclass(slots=True, eq=False)
class TextBlock:
    """A text block under way."""

    index: int
    pieces: _Pieces = field(default_factory=_Pieces)
    signature: str | None = None


@dataclass(slots=True, eq=False)
class ThinkingBlock:
    """A reasoning block under way. ``signature`` may be set at any time before the end."""

    index: int
    pieces: _Pieces = field(default_factory=_Pieces)
    signature: str | None = None
    redacted: bool = False


@dataclass(slots=True, eq=False)
class CallBlock:
    """A call under way. ``id`` is what the provider gave, until `MessageBuilder` announces it."""

    index: int
    id: str = ""
    name: str = ""
    pieces: _Pieces = field(default_factory=_Pieces)
    signature: str | None = None
    announced: bool = False
    given: dict[str, object] | None = None
    """Arguments that came as an object rather than as text."""
    result: ToolCall | None = None


_Block = TextBlock | ThinkingBlock | CallBlock


class MessageBuilder:
    """Builds one assistant message. Every method returns the events that it caused.

    Args:
        info: the model that answers.
        taken_ids: ids of calls in the conversation so far; a new call gets another one.
    """

    def __init__(self, info: ModelInfo, taken_ids: Collection[str] = ()) -> None:
        self._info = info
        self._blocks: list[_Block] = []
        self._taken = set(taken_ids)
        self._started_at = time.monotonic()
        self._timestamp = now_ms()
        self._message: AssistantMessage | None = None
        self.started = False
        self.usage = Usage()
        self.response_id: str | None = None

    @property
    def finished(self) -> bool:
        """Whether `Done` or `Failed` was given."""
        return self._message is not None

    @property
    def message(self) -> AssistantMessage:
        """The final message, or what came so far, marked as aborted."""
        if self._message is not None:
            return self._message
        return self._assemble("aborted", error="The request was aborted.")

    @property
    def is_empty(self) -> bool:
        """Whether nothing came that belongs into a message."""
        return not self._blocks

    @property
    def has_calls(self) -> bool:
        return any(isinstance(block, CallBlock) for block in self._blocks)

    def last_thinking(self) -> ThinkingBlock | None:
        """The last block, if it is reasoning."""
        last = self._blocks[-1] if self._blocks else None
        return last if isinstance(last, ThinkingBlock) else None

    def start(self) -> list[StreamEvent]:
        """The provider has begun to answer; only the first time makes an event."""
        if self.started:
            return []
        self.started = True
        return [Start()]

    def text(self, piece: str) -> list[StreamEvent]:
        """Text for the last block if that is text, or for a new one."""
        last = self._blocks[-1] if self._blocks else None
        if isinstance(last, TextBlock):
            return self.add_text(last, piece)
        if not piece:
            return []
        return self.add_text(self.open_text(), piece)

    def thinking(self, piece: str, signature: str | None = None) -> list[StreamEvent]:
        """Reasoning for the last block if that is reasoning, or for a new one."""
        last = self._blocks[-1] if self._blocks else None
        if not isinstance(last, ThinkingBlock) or last.redacted:
            if not piece:
                return []
            last = self.open_thinking(signature)
        return self.add_thinking(last, piece)

    def open_text(self) -> TextBlock:
        block = TextBlock(len(self._blocks))
        self._blocks.append(block)
        return block

    def open_thinking(
        self, signature: str | None = None, *, redacted: bool = False
    ) -> ThinkingBlock:
        block = ThinkingBlock(len(self._blocks), signature=signature, redacted=redacted)
        self._blocks.append(block)
        return block

    def open_call(self, call_id: str = "", name: str = "") -> tuple[CallBlock, list[StreamEvent]]:
        """A new call. It is announced when its id and its name are known, or when it ends."""
        block = CallBlock(len(self._blocks))
        self._blocks.append(block)
        return block, self.name_call(block, call_id, name)

    def name_call(self, block: CallBlock, call_id: str, name: str) -> list[StreamEvent]:
        """Set what is not yet known of the call; later and empty values change nothing."""
        block.id = block.id or call_id
        block.name = block.name or clean_text(name).strip()
        return self._announce(block) if block.id and block.name else []

    def add_text(self, block: TextBlock, piece: str) -> list[StreamEvent]:
        piece = block.pieces.add(piece)
        return [TextDelta(block.index, piece)] if piece else []

    def add_thinking(self, block: ThinkingBlock, piece: str) -> list[StreamEvent]:
        piece = block.pieces.add(piece)
        return [ThinkingDelta(block.index, piece)] if piece else []

    def add_arguments(self, block: CallBlock, piece: str) -> list[StreamEvent]:
        """More of the call's argument text."""
        # Not cleaned here: an escape may be cut anywhere, and the parser cleans what it reads.
        if not piece:
            return []
        block.pieces.parts.append(piece)
        return [ToolCallDelta(block.index, piece)] if block.announced else []

    def order_calls(self, calls: list[CallBlock]) -> None:
        """Let these calls, none of which has ended, change places so that they stand like this."""
        places = sorted(call.index for call in calls)
        for place, call in zip(places, calls, strict=True):
            call.index = place
            self._blocks[place] = call

    def end_call(self, block: CallBlock) -> list[StreamEvent]:
        """The call is whole; at the end of the message every call is."""
        if block.result is not None:
            return []
        events = self._announce(block)
        block.result = self._call(block)
        return [*events, ToolCallEnd(block.index, block.result)]

    def done(self, stop_reason: StopReason, *, raw: str | None = None) -> list[StreamEvent]:
        """The answer is complete. Calls make ``stop`` a ``toolUse``, whatever the provider said."""
        if self.finished:
            return []
        events = self.start()
        for block in self._blocks:
            if isinstance(block, CallBlock):
                events.extend(self.end_call(block))
        if stop_reason == "length" and self.is_empty and self._filled_window():
            return self.overflowed("The prompt filled the context window; no answer had room.")
        if self.has_calls and stop_reason == "stop":
            stop_reason = "toolUse"
        elif not self.has_calls and stop_reason == "toolUse":
            stop_reason = "stop"
        self._message = self._assemble(stop_reason, raw=raw)
        return [*events, Done(self._message)]

    def failed(self, error: ProviderError, *, raw: str | None = None) -> list[StreamEvent]:
        """The answer failed; what came is kept."""
        if self.finished:
            return []
        self._message = self._assemble("error", error=str(error), raw=raw)
        return [Failed(self._message, error)]

    def overflowed(self, text: str) -> list[StreamEvent]:
        """The answer failed because the request did not fit into the context window."""
        return self.failed(ContextOverflow(text))

    def _filled_window(self) -> bool:
        used = self.usage.input + self.usage.cache_read + self.usage.cache_write
        return used >= _FULL * self._info.context_window > 0

    def _announce(self, block: CallBlock) -> list[StreamEvent]:
        if block.announced:
            return []
        block.announced = True
        block.id = self._unique_id(block.id)
        events: list[StreamEvent] = [ToolCallStart(block.index, block.id, block.name)]
        so_far = block.pieces.joined()
        if so_far:
            events.append(ToolCallDelta(block.index, so_far))
        return events

    def _unique_id(self, given: str) -> str:
        given = clean_text(given).strip() or f"call_{os.urandom(9).hex()}"
        unique = given
        number = 2
        while unique in self._taken:
            unique = f"{given}_{number}"
            number += 1
        self._taken.add(unique)
        return unique

    def _call(self, block: CallBlock) -> ToolCall:
        if block.given is not None:
            arguments, problem = checked_arguments(block.given)
        else:
            arguments, problem = parse_arguments(block.pieces.joined())
        return ToolCall(
            id=block.id or f"call_{os.urandom(9).hex()}",
            name=block.name,
            arguments=arguments,
            thought_signature=_clean(block.signature),
            arguments_error=clean_text(problem) if problem else None,
        )

    def _assemble(
        self, stop_reason: StopReason, *, error: str | None = None, raw: str | None = None
    ) -> AssistantMessage:
        return AssistantMessage(
            content=tuple(map(self._content, self._blocks)),
            api=self._info.api,
            provider=self._info.provider,
            model=self._info.id,
            response_id=_clean(self.response_id),
            usage=cost_of(self.usage, self._info.prices),
            stop_reason=stop_reason,
            error_message=_clean(error),
            raw_stop_reason=_clean(raw),
            timestamp=self._timestamp,
            duration_ms=int((time.monotonic() - self._started_at) * 1000),
        )

    def _content(self, block: _Block) -> AssistantContent:
        match block:
            case TextBlock():
                return Text(block.pieces.joined(), _clean(block.signature))
            case ThinkingBlock():
                return Thinking(block.pieces.joined(), _clean(block.signature), block.redacted)
            case CallBlock():
                return block.result or self._call(block)


def _clean(text: str | None) -> str | None:
    return clean_text(text) if text else None
