"""A provider of your own: here one that needs no network and repeats what it is told.

    sloyd -e examples/provider.py --model echo/plain -p "hello"

A server that speaks a known API needs no class at all: give `register_provider` a `Provider` with
its `base_url` and `api`, or write [providers.NAME] into config.toml.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sloyd import AssistantMessage, Context, ExtensionApi, ModelInfo, Provider, StreamOptions, Text
from sloyd.llm.events import Done, Start, StreamEvent, TextDelta
from sloyd.llm.messages import UserMessage, text_of
from sloyd.llm.models import ModelStream

ECHO = Provider(
    name="echo", title="Echo", api="echo", base_url="", default_model="plain", needs_key=False
)
MODELS = [
    ModelInfo(id="plain", provider="echo", api="echo", thinking_levels=("off",)),
    ModelInfo(id="loud", provider="echo", api="echo", thinking_levels=("off",)),
]


class EchoStream:
    """One answer: its events as they come, and the message as far as it has come."""

    def __init__(self, info: ModelInfo, text: str) -> None:
        self._text = text
        self.message = AssistantMessage(provider=info.provider, model=info.id, api=info.api)

    async def __aiter__(self) -> AsyncIterator[StreamEvent]:
        yield Start()
        yield TextDelta(0, self._text)
        self.message = AssistantMessage(
            content=(Text(self._text),),
            provider=self.message.provider,
            model=self.message.model,
            api=self.message.api,
            stop_reason="stop",
        )
        yield Done(self.message)


class EchoModel:
    """Answers with the last thing that the user said."""

    def __init__(self, info: ModelInfo) -> None:
        self.info = info

    @asynccontextmanager
    async def stream(
        self, context: Context, options: StreamOptions | None = None
    ) -> AsyncIterator[ModelStream]:
        said = [message for message in context.messages if isinstance(message, UserMessage)]
        text = text_of(said[-1].content) if said else ""
        yield EchoStream(self.info, text.upper() if self.info.id == "loud" else text)


def setup(api: ExtensionApi) -> None:
    """Register the provider, its models, and what makes them."""
    api.register_provider(ECHO, MODELS, open=EchoModel)
