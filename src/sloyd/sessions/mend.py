"""Messages of old, foreign or hand-made session files, brought into a shape that can be read."""

from __future__ import annotations

from typing import Any

__all__ = ["mend_message"]

_STOP_REASONS = ("stop", "length", "toolUse", "error", "aborted")
_USAGE_KEYS = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
_COST_KEYS = ("input", "output", "cacheRead", "cacheWrite", "total")


def mend_message(data: dict[str, Any], timestamp: int) -> dict[str, Any]:
    """A copy of a message's JSON in which what is known to be odd is put right.

    The role of version 2 (``hookMessage``) gets its present name, null content becomes empty,
    text in the place of blocks becomes a block, blocks that we do not know become a text that
    names them, and a missing ``timestamp`` (milliseconds) is filled in. What cannot be put right
    stays as it is.
    """
    message = dict(data)
    if message.get("role") == "hookMessage":
        message["role"] = "custom"
    stamp = message.get("timestamp")
    number = isinstance(stamp, int | float) and not isinstance(stamp, bool) and stamp - stamp == 0
    message["timestamp"] = int(stamp) if number and stamp is not None else timestamp
    role = message.get("role")
    if role in ("user", "assistant", "toolResult", "custom", "system"):  # may be unhashable
        message["content"] = _content(message.get("content"), text_allowed=_takes_text(role))
    if role == "assistant":
        _mend_assistant(message)
    if role == "toolResult":
        message["isError"] = bool(message.get("isError"))
    for key in ("durationMs", "exitCode", "tokensBefore"):
        value = message.get(key)
        if isinstance(value, float) and value - value == 0:
            message[key] = int(value)
    if not isinstance(message.get("durationMs", 0), int):
        del message["durationMs"]
    return message


def _takes_text(role: object) -> bool:
    return role not in ("assistant", "toolResult")


def _content(content: Any, *, text_allowed: bool) -> Any:
    if content is None:
        return "" if text_allowed else []
    if isinstance(content, str):
        return content if text_allowed else [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return content
    return [_block(block) for block in content]


def _block(block: Any) -> dict[str, Any]:
    if isinstance(block, str):
        return {"type": "text", "text": block}
    if not isinstance(block, dict):
        return {"type": "text", "text": "[content that could not be read]"}
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        return block
    if kind == "thinking":
        return {**block, "thinking": str(block.get("thinking") or "")}
    if kind == "toolCall":
        return _call(block)
    if kind == "image" and isinstance(block.get("data"), str):
        return {**block, "mimeType": str(block.get("mimeType") or "image/png")}
    return {"type": "text", "text": f"[content of the unknown type {kind}]"}


def _call(block: dict[str, Any]) -> dict[str, Any]:
    call = {**block, "id": str(block.get("id") or ""), "name": str(block.get("name") or "")}
    if not isinstance(call.get("arguments"), dict):
        call["arguments"] = {}
        call.setdefault("argumentsError", "the arguments are no JSON object")
    return call


def _mend_assistant(message: dict[str, Any]) -> None:
    reason = message.get("stopReason")
    if reason not in _STOP_REASONS:
        # pi never stores "pending" on purpose; one that is there was cut off by a crash.
        message["stopReason"] = "aborted" if reason == "pending" else "stop"
        if isinstance(reason, str) and not message.get("rawStopReason"):
            message["rawStopReason"] = reason
    for key in ("api", "provider", "model"):
        if not isinstance(message.get(key), str):
            message[key] = ""
    usage = message.get("usage")
    message["usage"] = _usage(usage) if isinstance(usage, dict) else {}


def _usage(usage: dict[str, Any]) -> dict[str, Any]:
    cost = usage.get("cost")
    return {
        **{key: int(_number(usage.get(key))) for key in _USAGE_KEYS},
        "cost": {
            key: _number(cost.get(key)) if isinstance(cost, dict) else 0 for key in _COST_KEYS
        },
    }


def _number(value: Any) -> float:
    finite = isinstance(value, int | float) and value - value == 0
    return value if finite else 0
