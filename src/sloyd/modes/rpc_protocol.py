"""The records of the RPC protocol beside commands and events, and how a line becomes a command."""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

import msgspec

from sloyd.errors import SloydError
from sloyd.modes.rpc_commands import COMMANDS, AnyCommand, Command, CommandId
from sloyd.text.suggestion import suggestion

__all__ = [
    "BadLine",
    "BashExecutionUpdate",
    "Incoming",
    "Response",
    "UiRequest",
    "UiResponse",
    "decode_line",
]


class Response(msgspec.Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """The one answer to a command: ``data`` where the command has some, ``error`` for people.

    A line that holds no command is answered with ``command`` set to ``parse``.
    """

    id: CommandId | None = None
    type: Literal["response"] = msgspec.field(default_factory=lambda: "response")
    command: str
    success: bool
    data: Any = msgspec.UNSET
    error: str | None = None


class BashExecutionUpdate(
    msgspec.Struct, frozen=True, tag="bash_execution_update", rename="camel", omit_defaults=True
):
    """Output of a running ``bash`` command; ``id`` is the command's."""

    delta: str
    id: CommandId | None = None


class UiRequest(
    msgspec.Struct,
    frozen=True,
    tag="extension_ui_request",
    rename="camel",
    kw_only=True,
    omit_defaults=True,
):
    """Something to ask or to tell the person at the client, for a command or an extension.

    ``select``, ``confirm`` and ``input`` wait for an answer with the same id; the others do not.
    """

    id: str
    method: Literal["select", "confirm", "input", "notify", "set_editor_text"]
    title: str | None = None
    message: str | None = None
    options: tuple[str, ...] | None = None
    placeholder: str | None = None
    notify_type: Literal["info", "warning", "error"] | None = None
    text: str | None = None


class UiResponse(
    msgspec.Struct,
    frozen=True,
    tag="extension_ui_response",
    rename="camel",
    kw_only=True,
    omit_defaults=True,
):
    """A person's answer. It is not answered itself."""

    id: str
    value: str | None = None
    confirmed: bool | None = None
    cancelled: bool = False


Incoming: TypeAlias = AnyCommand | UiResponse

_decoder = msgspec.json.Decoder(Incoming)


class BadLine(SloydError):
    """Raised for a line that holds no command that we know; answer it with ``response``."""

    def __init__(self, message: str, command: str = "parse", id: CommandId | None = None) -> None:  # noqa: A002
        super().__init__(message)
        self.response = Response(id=id, command=command, success=False, error=message)


def decode_line(line: bytes) -> Incoming:
    """The command, or the person's answer, in a line. Raises `BadLine`."""
    try:
        return _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return _decode_again(line, error)


def _decode_again(line: bytes, first: Exception) -> Incoming:
    """The slow way: for lone surrogates, which Python's own decoder accepts, and for errors."""
    try:
        value = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadLine(f"The line is not UTF-8: {error}") from None
    except (ValueError, RecursionError) as error:
        raise BadLine(f"The line is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadLine('A command is an object such as {"type": "get_state"}')
    name, given = value.get("type"), value.get("id")
    identity = given if isinstance(given, str | int) and not isinstance(given, bool) else None
    if not isinstance(name, str):
        raise BadLine('The object has no "type" that names a command', id=identity)
    if name not in COMMANDS and name != "extension_ui_response":
        raise BadLine(f"Unknown command: {name}{suggestion(name, COMMANDS)}", name, identity)
    try:
        kind: type[Command | UiResponse] = COMMANDS.get(name, UiResponse)
        return msgspec.convert(value, kind)  # type: ignore[return-value]  # one of the two
    except msgspec.ValidationError as error:
        raise BadLine(str(error), name, identity) from first
