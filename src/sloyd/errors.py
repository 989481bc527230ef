"""Every error that Sloyd raises, in one tree.

    SloydError
    |-- UsageError              a command line, or a call of the SDK, that cannot mean anything
    |-- SettingsError           a configuration file or value that cannot be used
    |-- EncodingError           text that a file's encoding cannot hold, or the reverse
    |-- WorkspaceError          a file or process operation that failed; knows its path and reason
    |   `-- FileChanged         the file is not what it was when it was read
    |-- ToolError               a tool call that failed; its text is for the model
    |-- ProviderError           a model request that failed; knows whether to try again
    |   `-- ContextOverflow     the request did not fit into the model's context window
    |-- AgentError              an agent used in a way its state does not allow
    |   |-- AgentBusy           prompt() while a run is under way
    |   `-- LimitReached        a limit on turns, time or money stopped the run
    |-- SessionError            a session file that cannot be opened, read or appended to
    `-- RpcError                a command that the process behind an RpcClient refused

``str(error)`` is for people: it names the cause and, where there is one, the fix. What a model
reads is `ToolError.for_model`. Nothing outside this tree is a user's mistake: any other exception
that reaches a door is a fault of Sloyd.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = [
    "AgentBusy",
    "AgentError",
    "ContextOverflow",
    "EncodingError",
    "FileChanged",
    "FileProblem",
    "LimitReached",
    "ProviderError",
    "ProviderProblem",
    "RpcError",
    "SessionError",
    "SettingsError",
    "SloydError",
    "ToolError",
    "UsageError",
    "WorkspaceError",
]

FileProblem: TypeAlias = Literal[
    "missing",  # nothing is there
    "exists",  # something is there that must not be
    "is-directory",  # a file was needed
    "not-directory",  # a directory was needed, or a parent is a file
    "not-regular",  # a FIFO, socket or device where a regular file was needed
    "permission",
    "read-only",  # the file system, or the file's own mode
    "link-cycle",
    "name-too-long",
    "invalid-path",  # NUL, or a URL of another host
    "no-space",  # disk full or quota used up
    "too-large",  # over a size limit of the process or the file system
    "changed",
    "busy",  # locked by another process for too long
    "unsupported",  # this workspace cannot do it
    "io",  # anything else that the operating system says
]

ProviderProblem: TypeAlias = Literal[
    "no-key",
    "wrong-key",
    "no-credit",
    "forbidden",  # region or permission
    "unknown-model",
    "bad-request",
    "overflow",
    "rate-limit",
    "overloaded",
    "server",  # 5xx
    "connection",  # refused, reset, unknown host, TLS
    "timeout",  # connect, read, or a stream that stays silent
    "not-a-stream",  # HTML or JSON where events were expected
    "broken-stream",  # ended early, or a line that cannot be read
    "content",  # refused or filtered by the provider
    "script",  # a scripted or recorded model has nothing to say
    "other",
]


class SloydError(Exception):
    """Base of all errors of Sloyd. Catch it where anything Sloyd does may fail."""


class UsageError(SloydError):
    """Raised for a command line or an SDK call that cannot mean anything. Correct the call."""


class SettingsError(SloydError):
    """Raised for a configuration file or value that cannot be used; names file, line and key."""


class EncodingError(SloydError):
    """Raised by `sloyd.text.encoding` when text and bytes do not map to each other exactly."""


class WorkspaceError(SloydError):
    """Raised by a workspace when a file or process operation failed; the target is as it was.

    Attributes:
        path: the path as the operating system was asked for it.
        reason: what kind of failure it is; decide on this, not on the text.
    """

    def __init__(self, message: str, *, path: str, reason: FileProblem) -> None:
        super().__init__(message)
        self.path = path
        self.reason: FileProblem = reason


class FileChanged(WorkspaceError):
    """Raised by `Workspace.replace` when the file is not what ``expect`` saw. Read it again."""

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(message, path=path, reason="changed")


class ToolError(SloydError):
    """Raised by a tool to fail: the only way a tool fails on purpose.

    Attributes:
        for_model: what the model reads: what happened and the next useful call.
        details: what people and programs get beside it (a failed command keeps its details).
    """

    def __init__(self, for_model: str, *, details: object = None) -> None:
        super().__init__(for_model)
        self.for_model = for_model
        self.details = details


class ProviderError(SloydError):
    """A model request that failed. Wires never raise it; it ends the stream inside `Failed`.

    Attributes:
        problem: what kind of failure it is.
        status: the HTTP status, where there was one.
        retryable: whether the same request may succeed later.
        retry_after: seconds that the provider asked to wait, where it did.
    """

    def __init__(
        self,
        message: str,
        *,
        problem: ProviderProblem = "other",
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.problem: ProviderProblem = problem
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after


class ContextOverflow(ProviderError):
    """The request was larger than the model's context window. Compact, then ask again."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message, problem="overflow", status=status)


class AgentError(SloydError):
    """Raised when an agent is used in a way that its state does not allow."""


class AgentBusy(AgentError):
    """Raised by `Agent.prompt` during a run. Use `Agent.steer` or `Agent.follow_up` instead."""


class LimitReached(AgentError):
    """A limit on turns, time or money ended the run cleanly. Raise the limit and continue."""


class SessionError(SloydError):
    """Raised when a session cannot be opened, read, locked or appended to; names file and line."""


class RpcError(SloydError):
    """Raised by `sloyd.RpcClient` when the process refuses a command, or is gone.

    Attributes:
        command: the ``type`` of the command; empty when the process could not be started.
    """

    def __init__(self, message: str, *, command: str = "") -> None:
        super().__init__(message)
        self.command = command
