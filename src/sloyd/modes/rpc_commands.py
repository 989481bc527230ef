"""The commands that a client may send: one struct each, told apart by ``type``.

Names and fields are pi's where they mean the same. Ours beside them are ``resume``, ``navigate``,
``drop``, ``restore``, ``get_tools`` and ``set_active_tools``. ``Command.result`` names the type of
the ``data`` in the response; None means that there is none.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

import msgspec

from sloyd.agent.queues import QueueMode
from sloyd.llm.messages import Image
from sloyd.llm.models import ThinkingLevel
from sloyd.modes import rpc_results as results

__all__ = [
    "COMMANDS",
    "Abort",
    "AbortBash",
    "AbortRetry",
    "AnyCommand",
    "Bash",
    "ClearQueue",
    "Clone",
    "Command",
    "CommandId",
    "Compact",
    "CycleModel",
    "CycleThinkingLevel",
    "Drop",
    "ExportHtml",
    "FollowUp",
    "Fork",
    "GetAvailableModels",
    "GetAvailableThinkingLevels",
    "GetCommands",
    "GetEntries",
    "GetForkMessages",
    "GetLastAssistantText",
    "GetMessages",
    "GetSessionStats",
    "GetState",
    "GetTools",
    "GetTree",
    "Navigate",
    "NewSession",
    "Prompt",
    "Restore",
    "Resume",
    "SetActiveTools",
    "SetAutoCompaction",
    "SetAutoRetry",
    "SetFollowUpMode",
    "SetModel",
    "SetSessionName",
    "SetSteeringMode",
    "SetThinkingLevel",
    "Steer",
    "SwitchSession",
]

CommandId: TypeAlias = str | int


class Command(
    msgspec.Struct,
    frozen=True,
    tag_field="type",
    rename="camel",
    kw_only=True,
    omit_defaults=True,
):
    """Base of the commands. ``id`` comes back in the response."""

    result: ClassVar[Any] = None

    id: CommandId | None = None


class Prompt(Command, frozen=True, tag="prompt"):
    """Say something to the model, or run a slash command.

    During a run ``streamingBehavior`` must say how the message waits: ``steer`` is heard before the
    next request to the model, ``followUp`` when the run would end.
    """

    result: ClassVar[Any] = results.Disposition

    message: str
    images: tuple[Image, ...] = ()
    streaming_behavior: Literal["steer", "followUp"] | None = None


class Steer(Command, frozen=True, tag="steer"):
    """Say something to the running model before its next request; an error when nothing runs."""

    result: ClassVar[Any] = results.Disposition

    message: str
    images: tuple[Image, ...] = ()


class FollowUp(Command, frozen=True, tag="follow_up"):
    """Say something when the run would end; an error when nothing runs."""

    result: ClassVar[Any] = results.Disposition

    message: str
    images: tuple[Image, ...] = ()


class Resume(Command, frozen=True, tag="resume"):
    """Go on where the conversation stands: after an abort, a limit, an error."""

    result: ClassVar[Any] = results.Disposition


class Abort(Command, frozen=True, tag="abort"):
    """Stop the run or the compaction under way; answered when it has ended."""


class ClearQueue(Command, frozen=True, tag="clear_queue"):
    """Take back what waits to be said."""

    result: ClassVar[Any] = results.Queues


class NewSession(Command, frozen=True, tag="new_session"):
    """Begin a fresh session."""

    result: ClassVar[Any] = results.Cancelled


class SwitchSession(Command, frozen=True, tag="switch_session"):
    """Go on in another session: a path, an id, the beginning of one, or a name."""

    result: ClassVar[Any] = results.Cancelled

    session_path: str


class Fork(Command, frozen=True, tag="fork"):
    """Go on in a copy that ends before a user message."""

    result: ClassVar[Any] = results.Forked

    entry_id: str


class Clone(Command, frozen=True, tag="clone"):
    """Go on in a copy of the active branch."""

    result: ClassVar[Any] = results.Cancelled


class Navigate(Command, frozen=True, tag="navigate"):
    """Go on from another entry of the tree; null is before the first one."""

    result: ClassVar[Any] = results.Cancelled

    entry_id: str | None
    summarise: bool = False


class Drop(Command, frozen=True, tag="drop"):
    """Take a message out of the context."""

    result: ClassVar[Any] = results.EntryIds

    entry_id: str


class Restore(Command, frozen=True, tag="restore"):
    """Put a dropped message back into the context."""

    result: ClassVar[Any] = results.EntryIds

    entry_id: str


class GetState(Command, frozen=True, tag="get_state"):
    """What the agent is and does now."""

    result: ClassVar[Any] = results.State


class GetMessages(Command, frozen=True, tag="get_messages"):
    """The messages that the next request carries."""

    result: ClassVar[Any] = results.Messages


class SetModel(Command, frozen=True, tag="set_model"):
    """Let another model answer from the next request on."""

    result: ClassVar[Any] = results.ModelObject

    model_id: str
    provider: str | None = None


class CycleModel(Command, frozen=True, tag="cycle_model"):
    """Let the next of the favourite models answer; no data when there is no other."""

    result: ClassVar[Any] = results.CycledModel | None


class GetAvailableModels(Command, frozen=True, tag="get_available_models"):
    """The known models of providers that there is a key for."""

    result: ClassVar[Any] = results.Models


class SetThinkingLevel(Command, frozen=True, tag="set_thinking_level"):
    """Let the model reason more or less."""

    level: ThinkingLevel


class CycleThinkingLevel(Command, frozen=True, tag="cycle_thinking_level"):
    """The next level that the model knows; no data when it knows one only."""

    result: ClassVar[Any] = results.Level | None


class GetAvailableThinkingLevels(Command, frozen=True, tag="get_available_thinking_levels"):
    """The levels that the model knows."""

    result: ClassVar[Any] = results.Levels


class SetSteeringMode(Command, frozen=True, tag="set_steering_mode"):
    """How many waiting messages are said after a turn."""

    mode: QueueMode


class SetFollowUpMode(Command, frozen=True, tag="set_follow_up_mode"):
    """How many waiting messages are said when a run would end."""

    mode: QueueMode


class Compact(Command, frozen=True, tag="compact"):
    """Summarise older messages."""

    result: ClassVar[Any] = results.Compacted

    custom_instructions: str | None = None


class SetAutoCompaction(Command, frozen=True, tag="set_auto_compaction"):
    """Whether older messages are summarised before the window is full."""

    enabled: bool


class SetAutoRetry(Command, frozen=True, tag="set_auto_retry"):
    """Whether an answer that broke off is asked for again."""

    enabled: bool


class AbortRetry(Command, frozen=True, tag="abort_retry"):
    """Give up a retry that has not begun."""


class Bash(Command, frozen=True, tag="bash"):
    """Run a shell command beside the conversation; the model hears of it with the next prompt."""

    result: ClassVar[Any] = results.BashResult

    command: str
    exclude_from_context: bool = False


class AbortBash(Command, frozen=True, tag="abort_bash"):
    """Stop the command that `Bash` runs."""


class GetSessionStats(Command, frozen=True, tag="get_session_stats"):
    """Messages, calls, tokens and money of the whole session."""

    result: ClassVar[Any] = results.Stats


class ExportHtml(Command, frozen=True, tag="export_html"):
    """Write the session as a page."""

    result: ClassVar[Any] = results.Exported

    output_path: str | None = None


class GetForkMessages(Command, frozen=True, tag="get_fork_messages"):
    """The user messages of the active branch."""

    result: ClassVar[Any] = results.ForkMessages


class GetEntries(Command, frozen=True, tag="get_entries"):
    """The session's entries in the order of the file; with ``since``, those after that entry."""

    result: ClassVar[Any] = results.Entries

    since: str | None = None


class GetTree(Command, frozen=True, tag="get_tree"):
    """The session's entries as a tree."""

    result: ClassVar[Any] = results.EntryTree


class GetLastAssistantText(Command, frozen=True, tag="get_last_assistant_text"):
    """The text of the last whole answer."""

    result: ClassVar[Any] = results.LastText


class SetSessionName(Command, frozen=True, tag="set_session_name"):
    """Name the session; an empty name takes it away."""

    name: str


class GetCommands(Command, frozen=True, tag="get_commands"):
    """The slash commands that a prompt may hold."""

    result: ClassVar[Any] = results.Commands


class GetTools(Command, frozen=True, tag="get_tools"):
    """All tools, and which of them the model has."""

    result: ClassVar[Any] = results.Tools


class SetActiveTools(Command, frozen=True, tag="set_active_tools"):
    """Let the model have exactly these tools."""

    names: tuple[str, ...]


AnyCommand: TypeAlias = (
    Prompt
    | Steer
    | FollowUp
    | Resume
    | Abort
    | ClearQueue
    | NewSession
    | SwitchSession
    | Fork
    | Clone
    | Navigate
    | Drop
    | Restore
    | GetState
    | GetMessages
    | SetModel
    | CycleModel
    | GetAvailableModels
    | SetThinkingLevel
    | CycleThinkingLevel
    | GetAvailableThinkingLevels
    | SetSteeringMode
    | SetFollowUpMode
    | Compact
    | SetAutoCompaction
    | SetAutoRetry
    | AbortRetry
    | Bash
    | AbortBash
    | GetSessionStats
    | ExportHtml
    | GetForkMessages
    | GetEntries
    | GetTree
    | GetLastAssistantText
    | SetSessionName
    | GetCommands
    | GetTools
    | SetActiveTools
)

COMMANDS: dict[str, type[Command]] = {
    str(command.__struct_config__.tag): command for command in AnyCommand.__args__
}
"""Every command by its ``type``."""
