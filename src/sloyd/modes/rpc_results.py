"""What the responses to commands carry as ``data``: one struct each, with pi's field names."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from sloyd.agent.queues import QueueMode
from sloyd.llm.messages import Message, Usage
from sloyd.llm.models import InputKind, ModelInfo, ThinkingLevel

__all__ = [
    "BashResult",
    "Cancelled",
    "CommandInfo",
    "Commands",
    "Compacted",
    "ContextUsage",
    "CycledModel",
    "Disposition",
    "Entries",
    "EntryIds",
    "EntryTree",
    "Exported",
    "ForkMessage",
    "ForkMessages",
    "Forked",
    "LastText",
    "Level",
    "Levels",
    "Messages",
    "ModelCost",
    "ModelObject",
    "Models",
    "Queues",
    "State",
    "Stats",
    "TokenCounts",
    "ToolInfo",
    "Tools",
    "TreeNode",
    "model_object",
]


class _Result(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Base of the results; gives them their common JSON form."""


class Disposition(_Result, frozen=True):
    """What became of a message: a run began with it, it waits, or a command took it."""

    disposition: Literal["started", "queued", "handled"]


class Queues(_Result, frozen=True):
    """The texts that waited to be said."""

    steering: tuple[str, ...] = ()
    follow_up: tuple[str, ...] = ()


class Cancelled(_Result, frozen=True):
    """Whether an extension kept the change from being made."""

    cancelled: bool = False


class Forked(_Result, frozen=True):
    """``text`` is the message before which the copy ends, to be changed and sent again."""

    text: str = ""
    cancelled: bool = False


class EntryIds(_Result, frozen=True):
    """The entries that a change touched: a call and its result go together."""

    entry_ids: tuple[str, ...]


class ModelCost(_Result, frozen=True):
    """US dollars for a million tokens."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0


class ModelObject(_Result, frozen=True):
    """A model and what it can do."""

    id: str
    provider: str
    api: str = ""
    name: str = ""
    base_url: str = ""
    reasoning: bool = False
    thinking_levels: tuple[ThinkingLevel, ...] = ()
    input: tuple[InputKind, ...] = ("text",)
    context_window: int = 0
    max_tokens: int = 0
    cost: ModelCost = ModelCost()


class Models(_Result, frozen=True):
    """The models that can be chosen."""

    models: tuple[ModelObject, ...]


class CycledModel(_Result, frozen=True):
    """The model that answers now."""

    model: ModelObject
    thinking_level: ThinkingLevel
    is_scoped: bool


class Level(_Result, frozen=True):
    """The thinking level in force."""

    level: ThinkingLevel


class Levels(_Result, frozen=True):
    """The thinking levels that can be chosen."""

    levels: tuple[ThinkingLevel, ...]


class State(_Result, frozen=True):
    """What the agent is and does."""

    model: ModelObject
    thinking_level: ThinkingLevel
    is_streaming: bool
    is_compacting: bool
    steering_mode: QueueMode
    follow_up_mode: QueueMode
    session_file: str | None
    session_id: str
    session_name: str | None
    auto_compaction_enabled: bool
    auto_retry_enabled: bool
    message_count: int
    pending_message_count: int
    cwd: str
    active_tools: tuple[str, ...]


class Messages(_Result, frozen=True):
    """The messages of the next request, in order."""

    messages: tuple[Message, ...]


class Compacted(_Result, frozen=True):
    """The summary that stands in the place of older messages."""

    summary: str
    first_kept_entry_id: str
    tokens_before: int
    estimated_tokens_after: int
    usage: Usage | None = None
    details: Any = None


class BashResult(_Result, frozen=True):
    """The end of a command's output, and how it ended."""

    output: str
    exit_code: int | None
    cancelled: bool
    truncated: bool
    full_output_path: str | None = None


class TokenCounts(_Result, frozen=True):
    """Tokens of the whole session, all branches and summaries among them."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    total: int


class ContextUsage(_Result, frozen=True):
    """About how full the model's window is."""

    tokens: int
    context_window: int
    percent: float


class Stats(_Result, frozen=True):
    """Counts over the whole session; ``cost`` is in US dollars."""

    session_file: str | None
    session_id: str
    user_messages: int
    assistant_messages: int
    tool_calls: int
    tool_results: int
    total_messages: int
    tokens: TokenCounts
    cost: float
    context_usage: ContextUsage


class Exported(_Result, frozen=True):
    """Where the page is."""

    path: str


class ForkMessage(_Result, frozen=True):
    """A user message and its entry."""

    entry_id: str
    text: str


class ForkMessages(_Result, frozen=True):
    """The messages before which a copy can end."""

    messages: tuple[ForkMessage, ...]


class Entries(_Result, frozen=True):
    """Entries as they are in the session's file; ``leaf_id`` is where it stands."""

    entries: tuple[msgspec.Raw, ...]
    leaf_id: str | None


class TreeNode(_Result, frozen=True, omit_defaults=True):
    """An entry, and its place among the others: ``parent_id`` is in the entry."""

    entry: msgspec.Raw
    children: tuple[str, ...] = ()
    label: str | None = None


class EntryTree(_Result, frozen=True):
    """Every entry by its id, and the entries that follow none.

    The tree is not nested as pi's is: a branch of thousands of entries would be nested as deep,
    deeper than JSON readers go.
    """

    roots: tuple[str, ...]
    nodes: dict[str, TreeNode]
    leaf_id: str | None


class LastText(_Result, frozen=True):
    """The text, or null when there is none."""

    text: str | None


class CommandInfo(_Result, frozen=True):
    """A slash command; ``source`` is what brought it."""

    name: str
    description: str
    source: str
    hint: str = ""


class Commands(_Result, frozen=True):
    """The slash commands, in their order."""

    commands: tuple[CommandInfo, ...]


class ToolInfo(_Result, frozen=True):
    """A tool, and whether the model has it."""

    name: str
    description: str
    active: bool


class Tools(_Result, frozen=True):
    """All tools, in their order."""

    tools: tuple[ToolInfo, ...]


def model_object(info: ModelInfo) -> ModelObject:
    """A model as the protocol shows it."""
    prices = info.prices
    return ModelObject(
        id=info.id,
        provider=info.provider,
        api=info.api,
        name=info.name or info.id,
        base_url=info.base_url,
        reasoning=any(level != "off" for level in info.thinking_levels),
        thinking_levels=info.thinking_levels,
        input=info.inputs,
        context_window=info.context_window,
        max_tokens=info.max_output,
        cost=ModelCost(
            input=prices.input,
            output=prices.output,
            cache_read=prices.cache_read,
            cache_write=prices.cache_write,
        ),
    )
