"""Between a line of a session file and its typed entry.

Decoding is lenient, because the files were written by many versions of two programs, and some were
mended by hand: content that is null, stop reasons and blocks that we do not know, missing
timestamps, lone surrogates, bytes that are not UTF-8. What cannot be read at all is kept as
`UnknownEntry` or `UnknownMessage`. Encoding gives one line of JSON without its line end.
"""

from __future__ import annotations

import time
from typing import Any

import msgspec

from sloyd.errors import SessionError
from sloyd.llm.messages import AssistantMessage, ToolResultMessage, UserMessage
from sloyd.sessions import entries
from sloyd.sessions.entries import (
    Entry,
    MessageEntry,
    SessionHeader,
    SessionMessage,
    UnknownEntry,
    UnknownMessage,
)
from sloyd.sessions.mend import mend_message

__all__ = [
    "decode_entry",
    "decode_message",
    "encode_entry",
    "encode_header",
    "encode_json",
    "iso_from_ms",
    "load_object",
    "message_from_object",
    "ms_from_iso",
    "patch_line",
]

_ENTRIES: dict[str, type[Entry]] = {
    "model_change": entries.ModelChangeEntry,
    "thinking_level_change": entries.ThinkingLevelChangeEntry,
    "compaction": entries.CompactionEntry,
    "branch_summary": entries.BranchSummaryEntry,
    "context_edit": entries.ContextEditEntry,
    "custom": entries.CustomEntry,
    "custom_message": entries.CustomMessageEntry,
    "usage": entries.UsageEntry,
    "label": entries.LabelEntry,
    "session_info": entries.SessionInfoEntry,
}
_MESSAGES: dict[str, type[Any]] = {
    "user": UserMessage,
    "assistant": AssistantMessage,
    "toolResult": ToolResultMessage,
    "system": entries.SystemMessage,
    "bashExecution": entries.BashExecution,
    "custom": entries.CustomMessage,
    "branchSummary": entries.BranchSummary,
    "compactionSummary": entries.CompactionSummary,
}
# A reader that takes these for granted must find them, although they have a default here.
_ASSISTANT_ALWAYS = {
    "content": (),
    "api": "",
    "provider": "",
    "model": "",
    "stopReason": "stop",
}
_ZERO_USAGE = {
    "input": 0,
    "output": 0,
    "cacheRead": 0,
    "cacheWrite": 0,
    "totalTokens": 0,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
}
_KINDS = {list: "array", str: "string", int: "number", float: "number", bool: "boolean"}
# null means something in these, so they are written even then.
_NULLABLE = {"parentId", "replacement", "data", "fromId"}


class _Outline(msgspec.Struct):
    """Only the type of a line."""

    type: str


class _RawMessageEntry(msgspec.Struct, rename="camel"):
    id: str
    timestamp: str = ""
    parent_id: str | None = None
    message: msgspec.Raw = msgspec.Raw(b"null")


class _MessageOutline(msgspec.Struct):
    role: str
    timestamp: int | None = None
    """Asked for because a struct would fill a missing one with the present time."""


_DECODERS: dict[type[Any], msgspec.json.Decoder[Any]] = {}


def _decoder(target: type[Any]) -> msgspec.json.Decoder[Any]:
    """The decoder of a type, built when it is first needed: they cost start-up time."""
    decoder = _DECODERS.get(target)
    if decoder is None:
        decoder = _DECODERS[target] = msgspec.json.Decoder(target)
    return decoder


def load_object(line: bytes) -> dict[str, Any]:
    """The JSON object of a line, with everything that JSON readers disagree about let through.

    Raises `SessionError` with the reason when there is no object.
    """
    import json

    try:
        value = json.loads(line.decode("utf-8", "replace").removeprefix("\ufeff"))
    except RecursionError:
        raise SessionError("nested too deeply") from None
    except ValueError as error:
        raise SessionError(f"not JSON ({error})") from None
    if not isinstance(value, dict):
        raise SessionError(f"a JSON {_KINDS.get(type(value), 'value')} and not an object")
    return value


def decode_entry(line: bytes) -> Entry:
    """The typed entry of a line. Never raises for a line that holds a JSON object.

    Raises `SessionError` when the line holds no JSON object.
    """
    try:
        kind = _decoder(_Outline).decode(line).type
        if kind == "message":
            raw = _decoder(_RawMessageEntry).decode(line)
            message = decode_message(bytes(raw.message), raw.timestamp)
            return MessageEntry(
                id=raw.id, parent_id=raw.parent_id, timestamp=raw.timestamp, message=message
            )
        target = _ENTRIES.get(kind)
        if target is not None:
            decoded: Entry = _decoder(target).decode(line)
            return decoded
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, SessionError):
        pass
    return _entry_from_object(load_object(line))


def _entry_from_object(data: dict[str, Any]) -> Entry:
    """The typed entry of a JSON object, as well as it can be read."""
    kind = str(data.get("type", ""))
    common: dict[str, Any] = {
        "id": str(data.get("id", "")),
        "parent_id": data["parentId"] if isinstance(data.get("parentId"), str) else None,
        "timestamp": str(data.get("timestamp", "")),
    }
    message = data.get("message")
    if kind == "message" and isinstance(message, dict):
        return MessageEntry(message=message_from_object(message, common["timestamp"]), **common)
    target = _ENTRIES.get(kind)
    if target is not None:
        mended = {**data, "id": common["id"], "parentId": common["parent_id"]}
        mended["timestamp"] = common["timestamp"]
        if mended.get("content", "") is None:
            mended["content"] = ""
        try:
            return msgspec.convert(mended, target, strict=False)
        except (msgspec.ValidationError, UnicodeEncodeError):
            # The second: a key with a lone surrogate cannot be compared with a field's name.
            pass
    return UnknownEntry(kind=kind, data=data, **common)


def decode_message(raw: bytes, timestamp: str) -> SessionMessage:
    """The typed message of an entry's ``message``; ``timestamp`` is the entry's, to fall back on.

    Raises `SessionError` when it is no JSON object.
    """
    try:
        outline = _decoder(_MessageOutline).decode(raw)
        target = _MESSAGES.get(outline.role)
        if target is not None and outline.timestamp is not None:
            message: SessionMessage = _decoder(target).decode(raw)
            return message
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    return message_from_object(load_object(raw), timestamp)


def message_from_object(data: dict[str, Any], timestamp: str) -> SessionMessage:
    """The typed message of a JSON object, mended as far as that is safe."""
    mended = mend_message(data, ms_from_iso(timestamp))
    target = _MESSAGES.get(str(mended.get("role")))
    if target is None:
        return UnknownMessage(role=str(data.get("role", "")), data=data)
    try:
        message: SessionMessage = msgspec.convert(mended, target, strict=False)
    except (msgspec.ValidationError, UnicodeEncodeError):
        return UnknownMessage(role=str(data.get("role", "")), data=data)
    return message


def encode_entry(entry: Entry) -> bytes:
    """The line of an entry, without its line end."""
    if isinstance(entry, UnknownEntry):
        data = {**entry.data, "type": entry.kind, "id": entry.id, "parentId": entry.parent_id}
        return encode_json({**data, "timestamp": entry.timestamp})
    data = _builtins(entry)
    if isinstance(entry, MessageEntry):
        data["message"] = _message_builtins(entry.message)
    return encode_json(
        {key: value for key, value in data.items() if value is not None or key in _NULLABLE}
    )


def encode_header(header: SessionHeader) -> bytes:
    """The line of a header, without its line end."""
    data = _builtins(header)
    return encode_json({key: value for key, value in data.items() if value is not None})


def patch_line(line: bytes, **changes: Any) -> bytes:
    """The line with some of its top-level keys (camelCase) changed and all others kept.

    Raises `SessionError` when the line holds no JSON object.
    """
    return encode_json({**load_object(line), **changes})


def encode_json(data: Any) -> bytes:
    """One line of JSON. Lone surrogates are written as escapes, which every reader takes."""
    try:
        return msgspec.json.encode(data)
    except UnicodeEncodeError:
        import json

        return json.dumps(_finite(data), ensure_ascii=True, separators=(",", ":")).encode()


def _message_builtins(message: SessionMessage) -> dict[str, Any]:
    if isinstance(message, UnknownMessage):
        return message.data
    data = {key: value for key, value in _builtins(message).items() if value is not None}
    if isinstance(message, AssistantMessage):
        data = {"role": "assistant", **_ASSISTANT_ALWAYS, "usage": _ZERO_USAGE, **data}
    return data


def _builtins(value: Any) -> dict[str, Any]:
    built: dict[str, Any] = msgspec.to_builtins(value, str_keys=True, enc_hook=str)
    return built


def _finite(value: Any) -> Any:
    """The same JSON value with NaN and the infinities as null, as msgspec writes them."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def ms_from_iso(timestamp: str) -> int:
    """Milliseconds since the epoch of an ISO 8601 time; 0 when it cannot be read."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return 0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp() * 1000)


def iso_from_ms(milliseconds: int) -> str:
    """ISO 8601 in UTC with milliseconds and a ``Z``, as pi writes it."""
    seconds, rest = divmod(milliseconds, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(seconds)) + f"{rest:03d}Z"
