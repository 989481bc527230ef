"""A model that plays raw stream events, and tools with a will of their own.

`sloyd.llm.wires.scripted.ScriptedModel` plays what decent providers send. These tests also need the
rest: repeated ids, streams without an end, models that raise, that hang, that ignore an abort.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import anyio
import msgspec

from sloyd.agent.agent import Agent
from sloyd.agent.events import (
    AgentEvent,
    LimitWarning,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    QueueUpdate,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from sloyd.agent.tool import ExecutionMode, ToolCallContext, ToolResult
from sloyd.errors import ProviderError
from sloyd.llm.events import (
    Done,
    Failed,
    Start,
    StreamEvent,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from sloyd.llm.messages import (
    AssistantContent,
    AssistantMessage,
    Cost,
    StopReason,
    Text,
    ToolCall,
    ToolResultMessage,
    Usage,
    text_of,
)
from sloyd.llm.models import Context, ModelInfo, ModelStream, StreamOptions

OPTIONS = StreamOptions()
INFO = ModelInfo(id="played", provider="tests", api="played")

Step: TypeAlias = StreamEvent | Exception | Callable[[], Awaitable[object]]


def call(name: str, call_id: str = "", **arguments: Any) -> ToolCall:
    """A call; without an id it gets one from its name, as a careless server would send."""
    return ToolCall(id=call_id or f"call_{name}", name=name, arguments=arguments)


def answer(
    text: str = "",
    *calls: ToolCall,
    stop_reason: StopReason = "stop",
    cost: float = 0.0,
) -> list[Step]:
    """The events of one whole answer."""
    content: list[AssistantContent] = [*([Text(text)] if text else []), *calls]
    message = AssistantMessage(
        content=tuple(content),
        model="played",
        stop_reason=stop_reason,
        usage=Usage(input=10, output=5, total_tokens=15, cost=Cost(total=cost)),
    )
    steps: list[Step] = [Start()]
    if text:
        steps += [TextDelta(0, text[: len(text) // 2]), TextDelta(0, text[len(text) // 2 :])]
    for index, block in enumerate(content):
        if isinstance(block, ToolCall):
            steps += [ToolCallStart(index, block.id, block.name), ToolCallEnd(index, block)]
    return [*steps, Done(message)]


def failing(text: str = "overloaded") -> list[Step]:
    """The events of an answer that fails after its first words."""
    message = AssistantMessage(
        content=(Text("par"),), model="played", stop_reason="error", error_message=text
    )
    return [Start(), TextDelta(0, "par"), Failed(message, ProviderError(text))]


@dataclass
class PlayedStream:
    """Plays steps and builds the partial message as a wire does."""

    steps: Sequence[Step]
    message: AssistantMessage = field(default_factory=AssistantMessage)

    async def __aiter__(self) -> AsyncIterator[StreamEvent]:
        for step in self.steps:
            if isinstance(step, Exception):
                raise step
            if isinstance(step, (Done, Failed)):
                self.message = step.message
            elif isinstance(step, TextDelta):
                text = self.message.text + step.text
                self.message = msgspec.structs.replace(self.message, content=(Text(text),))
            elif callable(step):
                await step()
                continue
            yield step


class PlayedModel:
    """Answers each request with the next list of steps; keeps the contexts that it was sent."""

    def __init__(self, *turns: Sequence[Step], info: ModelInfo = INFO) -> None:
        self.info = info
        self.turns = list(turns)
        self.contexts: list[Context] = []

    @asynccontextmanager
    async def stream(
        self, context: Context, options: StreamOptions = OPTIONS
    ) -> AsyncIterator[ModelStream]:
        self.contexts.append(context)
        steps = self.turns.pop(0) if self.turns else answer("nothing more to say")
        yield PlayedStream(steps)


class CannedStream:
    """Yields events as they are; builds nothing, so that it costs nothing."""

    def __init__(self, events: Sequence[StreamEvent]) -> None:
        self.events = events
        self.message = AssistantMessage()

    async def __aiter__(self) -> AsyncIterator[StreamEvent]:
        for event in self.events:
            yield event


class CannedModel:
    """Answers every request with the same events, at no cost of its own."""

    info = INFO

    def __init__(self, events: Sequence[StreamEvent]) -> None:
        self.events = events

    @asynccontextmanager
    async def stream(
        self, context: Context, options: StreamOptions = OPTIONS
    ) -> AsyncIterator[ModelStream]:
        yield CannedStream(self.events)


class EndlessModel(PlayedModel):
    """Asks for the same calls in every turn."""

    def __init__(self, *calls: ToolCall, cost: float = 0.0) -> None:
        super().__init__()
        self.calls = calls
        self.cost = cost

    @asynccontextmanager
    async def stream(
        self, context: Context, options: StreamOptions = OPTIONS
    ) -> AsyncIterator[ModelStream]:
        self.contexts.append(context)
        yield PlayedStream(answer("", *self.calls, cost=self.cost))


Body: TypeAlias = Callable[[ToolCallContext, dict[str, Any]], Awaitable[ToolResult]]


@dataclass
class SmallTool:
    """A tool whose work is a function of the test; takes any arguments."""

    name: str
    body: Body
    mode: ExecutionMode = "parallel"
    description: str = "for a test"
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object"})
    ran: int = 0

    def prepare(self, raw: object) -> object:
        return raw

    def validate(self, prepared: object) -> Any:
        return prepared

    async def execute(self, call: ToolCallContext, arguments: Any) -> ToolResult:
        self.ran += 1
        return await self.body(call, arguments)


def saying(
    name: str, text: str, *, after: float = 0.0, mode: ExecutionMode = "parallel"
) -> SmallTool:
    """A tool that answers ``text`` after some seconds."""

    async def body(call: ToolCallContext, arguments: dict[str, Any]) -> ToolResult:
        await anyio.sleep(after)
        return ToolResult.of(text)

    return SmallTool(name, body, mode)


def raising(name: str, error: BaseException) -> SmallTool:
    """A tool that always raises ``error``."""

    async def body(call: ToolCallContext, arguments: dict[str, Any]) -> ToolResult:
        raise error

    return SmallTool(name, body)


def drawn(events: Iterable[AgentEvent]) -> list[str]:
    """Events in short, for comparing orders; updates of text and of queues are left out."""
    lines: list[str] = []
    for event in events:
        match event:
            case MessageUpdate() | QueueUpdate() | LimitWarning():
                continue
            case MessageStart() | MessageEnd():
                name = "start" if isinstance(event, MessageStart) else "end"
                message = event.message
                who = getattr(message, "tool_name", None) or type(message).__name__[:4].lower()
                lines.append(f"message_{name} {who}")
            case ToolExecutionStart() | ToolExecutionUpdate() | ToolExecutionEnd():
                kind = type(event).__name__.removeprefix("ToolExecution").lower()
                lines.append(f"tool_{kind} {event.tool_name}")
            case _:
                lines.append(type(event).__name__)
    return lines


def results(agent: Agent) -> list[str]:
    """The texts of the tool results in the conversation."""
    return [text_of(each.content) for each in agent.messages if isinstance(each, ToolResultMessage)]
