"""A model that plays turns from a file: the offline demo, and the tests of everything above.

The file is a JSON list of turns. Every field of a turn may be left out:

    {"text": "...", "thinking": "...", "calls": [{"name": "read", "arguments": {"path": "a"}}],
     "stopReason": "stop", "error": "...", "delayMs": 100, "expect": "...", "usage": {...}}

``delayMs`` is waited before the answer starts. ``error`` ends the answer with that failure, after
its text. ``expect`` is text (or a list of texts) that the newest tool results must hold; a script
whose world is not what it needs fails loudly. Each request plays the next turn; one more request
than there are turns is an error.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Self

import anyio
import anyio.lowlevel
import msgspec

from sloyd.errors import ProviderError, UsageError
from sloyd.llm.building import MessageBuilder
from sloyd.llm.events import StreamEvent
from sloyd.llm.messages import (
    AssistantMessage,
    Message,
    StopReason,
    ToolResultMessage,
    Usage,
    text_of,
)
from sloyd.llm.models import Context, ModelInfo, StreamOptions
from sloyd.llm.surrogates import clean_text

__all__ = ["ScriptedCall", "ScriptedModel", "ScriptedTurn", "load_turns"]

_DEFAULT_OPTIONS = StreamOptions()
_DELTA = 12
"""Characters of one delta: about what a provider sends at a time."""


class ScriptedCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call of a turn. ``arguments`` may be text, to play a model that writes bad JSON."""

    name: str
    arguments: dict[str, Any] | str = msgspec.field(default_factory=dict)
    id: str = ""


class ScriptedTurn(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What the model answers to one request. See the module for the fields."""

    text: str = ""
    thinking: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    stop_reason: StopReason | None = None
    error: str | dict[str, Any] | None = None
    delay_ms: Annotated[float, msgspec.Meta(ge=0)] = 0
    expect: str | tuple[str, ...] = ()
    usage: Usage | None = None


def load_turns(path: str | Path) -> tuple[ScriptedTurn, ...]:
    """The turns of a file. Raises `UsageError` that names the file and the place in it."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"The script `{path}` cannot be read: {reason}.") from error
    try:
        return msgspec.json.decode(data, type=tuple[ScriptedTurn, ...])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UsageError(f"The script `{path}` is not a JSON list of turns: {error}.") from error


class ScriptedModel:
    """Plays turns, one a request.

    Args:
        source: the path of a script, or the turns themselves (structs, or objects of that shape).
        info: what the model pretends to be.
    """

    def __init__(
        self,
        source: str | Path | Sequence[ScriptedTurn | dict[str, Any]],
        *,
        info: ModelInfo | None = None,
    ) -> None:
        if isinstance(source, (str, Path)):
            self._turns = load_turns(source)
            name = str(source)
        else:
            try:
                self._turns = tuple(_turn(turn) for turn in source)
            except msgspec.ValidationError as error:
                raise UsageError(f"The script is not a list of turns: {error}.") from error
            name = "script"
        self._name = name
        self._next = 0
        self._info = info or ModelInfo(
            id=name, provider="scripted", api="scripted", context_window=200_000
        )

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def remaining(self) -> int:
        """How many turns have not been played."""
        return len(self._turns) - self._next

    def stream(self, context: Context, options: StreamOptions = _DEFAULT_OPTIONS) -> _Playing:
        """Play the next turn."""
        number = self._next
        turn = self._turns[number] if number < len(self._turns) else None
        if turn is not None:
            self._next += 1
        taken = [
            call.id
            for message in context.messages
            if isinstance(message, AssistantMessage)
            for call in message.tool_calls
        ]
        builder = MessageBuilder(self._info, taken)
        if turn is None:
            count = f"{number} turn" if number == 1 else f"{number} turns"
            problem = (
                f"The script `{self._name}` is over: it has {count}, and one more was asked for."
            )
            return _Playing(builder, None, problem)
        missing = _missing(turn, context.messages)
        if missing is not None:
            problem = (
                f"Turn {number + 1} of the script `{self._name}` expects `{missing}` in the newest"
                " tool results, and it is not there."
            )
            return _Playing(builder, None, problem)
        builder.usage = turn.usage or _estimate(turn, context)
        return _Playing(builder, turn, "", number + 1)

    async def aclose(self) -> None:
        """Nothing is held open; here so that every model can be closed alike."""


class _Playing:
    def __init__(
        self, builder: MessageBuilder, turn: ScriptedTurn | None, problem: str, number: int = 0
    ) -> None:
        self._builder = builder
        self._turn = turn
        self._problem = problem
        self._number = number

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None

    @property
    def message(self) -> AssistantMessage:
        return self._builder.message

    async def __aiter__(self) -> AsyncIterator[StreamEvent]:
        builder, turn = self._builder, self._turn
        if turn is None:
            for event in builder.failed(ProviderError(self._problem, problem="script")):
                yield event
            return
        if turn.delay_ms:
            await anyio.sleep(turn.delay_ms / 1000)
        for event in builder.start():
            yield event
        for piece in _pieces(turn.thinking):
            for event in builder.thinking(piece):
                yield event
            await anyio.lowlevel.checkpoint()
        for piece in _pieces(turn.text):
            for event in builder.text(piece):
                yield event
            await anyio.lowlevel.checkpoint()
        for place, call in enumerate(turn.calls, 1):
            call_id = call.id or f"call_{self._number}_{place}"
            block, events = builder.open_call(call_id, call.name)
            for piece in _pieces(_argument_text(call)):
                events += builder.add_arguments(block, piece)
                for event in events:
                    yield event
                events = []
                await anyio.lowlevel.checkpoint()
            for event in events:
                yield event
        for event in _ending(builder, turn):
            yield event


def _ending(builder: MessageBuilder, turn: ScriptedTurn) -> list[StreamEvent]:
    if turn.error is not None or turn.stop_reason in {"error", "aborted"}:
        from sloyd.llm.failures import failure_of

        return builder.failed(failure_of(None, turn.error or "The script says that it failed."))
    return builder.done(turn.stop_reason or ("toolUse" if turn.calls else "stop"))


def _turn(turn: ScriptedTurn | dict[str, Any]) -> ScriptedTurn:
    return turn if isinstance(turn, ScriptedTurn) else msgspec.convert(turn, ScriptedTurn)


def _argument_text(call: ScriptedCall) -> str:
    if isinstance(call.arguments, str):
        return call.arguments
    return json.dumps(call.arguments, ensure_ascii=False, separators=(",", ":"))


def _pieces(text: str) -> list[str]:
    return [text[start : start + _DELTA] for start in range(0, len(text), _DELTA)]


def _missing(turn: ScriptedTurn, messages: tuple[Message, ...]) -> str | None:
    expected = (turn.expect,) if isinstance(turn.expect, str) else turn.expect
    if not expected:
        return None
    results: list[str] = []
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            break
        if isinstance(message, ToolResultMessage):
            results.append(text_of(message.content))
    everything = clean_text("\n".join(reversed(results)))
    return next((text for text in expected if text not in everything), None)


def _estimate(turn: ScriptedTurn, context: Context) -> Usage:
    """Four characters a token: good enough to see counters move in a demo."""
    read = len(context.system_prompt)
    for message in context.messages:
        read += len(
            message.text if isinstance(message, AssistantMessage) else text_of(message.content)
        )
    written = len(turn.text) + len(turn.thinking)
    written += sum(len(_argument_text(call)) for call in turn.calls)
    tokens_in, tokens_out = read // 4, written // 4
    return Usage(input=tokens_in, output=tokens_out, total_tokens=tokens_in + tokens_out)
