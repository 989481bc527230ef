"""What a built-in tool acts in: a workspace, a queue for changes, a record of them, and settings.

Tools are created with one `ToolEnvironment` and keep no other state. An extension's tool gets the
same thing; nothing here is a privilege of the built-in ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

import msgspec

from sloyd.workspace.base import Workspace
from sloyd.workspace.mutations import MutationQueue

__all__ = [
    "ChangeRecorder",
    "PlannedChange",
    "ShellCall",
    "SpawnHook",
    "ToolEnvironment",
    "ToolSettings",
]


class PlannedChange(msgspec.Struct, frozen=True):
    """A change to one file that is about to be made.

    ``before`` is the whole old content, or None for a file that does not exist yet; ``after`` is
    the new one. Pieces are as `Workspace.replace` takes them.
    """

    path: str
    tool: str
    call_id: str
    before: bytes | None
    after: Sequence[bytes]


class ChangeRecorder(Protocol):
    """Records the pre-image of each file change, so that it can be undone.

    A tool calls `begin` before the change and, when it has been made, `commit`; when it was not
    made, `discard`. A process killed in between leaves an entry that still tells the truth: it
    knows both contents by their digests. `sloyd.sessions.journal` implements it.
    """

    async def begin(self, change: PlannedChange) -> str:
        """Keep the pre-image and give the change an id."""

    async def commit(self, change_id: str) -> None:
        """The change has been made."""

    async def discard(self, change_id: str) -> None:
        """The change was not made."""


class ShellCall(msgspec.Struct, frozen=True):
    """A command that is about to start, as a spawn hook sees it."""

    command: str
    cwd: str
    environment: Mapping[str, str]


SpawnHook: TypeAlias = Callable[[ShellCall], ShellCall]


class ToolSettings(msgspec.Struct, frozen=True):
    """What a user may set about the built-in tools.

    Attributes:
        shell_path: the shell to use; None means bash, else sh.
        command_prefix: shell text put on a line of its own before every command.
        spawn_hook: may change command, directory and environment; runs last.
        default_timeout: seconds for commands that name none; None means no limit.
        log_limit: most bytes of one command's full log on disk; head and tail are kept.
        hidden_variables: names (or ``*`` patterns) removed from a command's environment.
        passed_variables: names let through although they are hidden by default.
        output_directory: where full outputs go; private. None means the default.
        image_box: most pixels of each side of an image.
        image_bytes: most bytes of an image's base64 text.
        search_program: an ``rg`` to use instead of the bundled one, or ``python`` for none.
        extra_environment: variables set for every command.
        journal_bytes: most bytes of old contents that the journal of changes keeps.
    """

    shell_path: str | None = None
    command_prefix: str | None = None
    spawn_hook: SpawnHook | None = None
    default_timeout: float | None = None
    log_limit: int = 256 * 1024 * 1024
    hidden_variables: tuple[str, ...] = ()
    passed_variables: tuple[str, ...] = ()
    output_directory: str | None = None
    image_box: int = 2000
    image_bytes: int = 4_718_592
    search_program: str | None = None
    extra_environment: Mapping[str, str] = msgspec.field(default_factory=dict)
    journal_bytes: int = 512 * 1024 * 1024


class ToolEnvironment(msgspec.Struct, frozen=True):
    """Everything a built-in tool needs. ``changes`` None means that nothing is recorded."""

    workspace: Workspace
    mutations: MutationQueue = msgspec.field(default_factory=MutationQueue)
    changes: ChangeRecorder | None = None
    settings: ToolSettings = msgspec.field(default_factory=ToolSettings)
