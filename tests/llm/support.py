"""What the tests of this floor share: a model at a test server, and its events in a list."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sloyd.errors import ProviderError
from sloyd.llm.events import Done, Failed, Retrying, StreamEvent
from sloyd.llm.http_model import HttpModel
from sloyd.llm.messages import AssistantMessage, Message, ToolCall, UserMessage
from sloyd.llm.models import Context, ModelInfo, StreamOptions, ToolSchema
from sloyd.llm.retry import RetryPolicy
from tests.servers import ProviderServer

CASES = Path(__file__).parent.parent / "cases"
APIS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate")
PROVIDERS = {
    "openai-chat": "openai",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic",
    "google-generate": "google",
}
ONCE = StreamOptions(max_retries=0)
QUICK = RetryPolicy(base=0.01, cap=0.5)
HELLO = Context(messages=(UserMessage(content="hello", timestamp=1),))
READ = ToolSchema(
    "read",
    "Read a file.",
    {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "the path"}},
        "required": ["path"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True)
class Outcome:
    """All that one stream gave."""

    events: list[StreamEvent]

    @property
    def message(self) -> AssistantMessage:
        last = self.events[-1]
        assert isinstance(last, (Done, Failed))
        return last.message

    @property
    def error(self) -> ProviderError | None:
        last = self.events[-1]
        return last.error if isinstance(last, Failed) else None

    @property
    def retries(self) -> list[Retrying]:
        return [event for event in self.events if isinstance(event, Retrying)]

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return self.message.tool_calls


def info_at(server: ProviderServer, api: str, model: str = "m", **changes: Any) -> ModelInfo:
    """A model of that API at the test server."""
    return ModelInfo(
        id=model, provider=PROVIDERS[api], api=api, base_url=server.base_url(api), **changes
    )


async def ask(
    info: ModelInfo,
    context: Context = HELLO,
    options: StreamOptions = ONCE,
    *,
    api_key: str | None = "key",
    retries: RetryPolicy = QUICK,
) -> Outcome:
    """One answer, to its end."""
    async with (
        HttpModel(info, api_key=api_key, retries=retries) as model,
        model.stream(context, options) as stream,
    ):
        outcome = Outcome([event async for event in stream])
        assert stream.message == outcome.message
        return outcome


def conversation(*messages: Message, system: str = "", tools: bool = False) -> Context:
    """A context of these messages."""
    return Context(system, messages, (READ,) if tools else ())
