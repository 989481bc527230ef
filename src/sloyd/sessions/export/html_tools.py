"""A tool call and its result as one card."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from sloyd.llm.messages import Image, ToolCall, ToolResultMessage, UserContent
from sloyd.sessions.export.html_text import code_html, diff_html, text_html
from sloyd.sessions.plain import indented_json
from sloyd.text.terminal import plain_text

__all__ = ["content_html", "fold", "tool_card"]

_OPEN_LINES = 14
"""Lines that a result may have to be shown unfolded."""
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp")
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]*={0,2}\s*")


def tool_card(call: ToolCall, result: ToolResultMessage | None, badges: str = "") -> str:
    """One call with what came of it; ``badges`` is HTML about the result's entry."""
    details = msgspec.to_builtins(result.details, enc_hook=str) if result is not None else None
    facts: Mapping[str, Any] = details if isinstance(details, dict) else {}
    failed = result is not None and result.is_error
    state = "failed" if failed else "ran" if result is not None else "unanswered"
    note = {"failed": "failed", "ran": "", "unanswered": "no result"}[state]
    if result is not None and result.duration_ms is not None and not failed:
        note = _duration(result.duration_ms)
    anchor = "" if result is None else badges
    return (
        f'<section class="tool {state}"><header><b>{text_html(call.name)}</b> '
        f"<span>{_headline(call)}</span><small>{note}</small>{anchor}</header>"
        f"{_arguments(call, facts)}{_result(call, result, facts)}</section>"
    )


def content_html(content: str | tuple[UserContent, ...]) -> str:
    """Text as it is, and images inline."""
    if isinstance(content, str):
        return f'<div class="plain">{text_html(content)}</div>' if content else ""
    parts = []
    for block in content:
        if isinstance(block, Image):
            parts.append(_image(block))
        elif block.text:
            parts.append(f'<div class="plain">{text_html(block.text)}</div>')
    return "".join(parts)


def fold(label: str, body: str, *, opened: bool = False) -> str:
    """Something to unfold; ``label`` is plain text, ``body`` HTML."""
    attribute = " open" if opened else ""
    return f"<details{attribute}><summary>{text_html(label)}</summary>{body}</details>"


def _headline(call: ToolCall) -> str:
    arguments = call.arguments
    command = arguments.get("command")
    if isinstance(command, str):
        first, _, more = command.strip().partition("\n")
        return f"<code>{text_html(first)}{' …' if more else ''}</code>"
    for key in ("path", "pattern", "query", "url"):
        value = arguments.get(key)
        if isinstance(value, str):
            return f"<code>{text_html(value)}</code>"
    return ""


def _arguments(call: ToolCall, facts: Mapping[str, Any]) -> str:
    arguments = dict(call.arguments)
    if call.arguments_error:
        return f'<p class="error">{text_html(call.arguments_error)}</p>'
    parts = []
    command = arguments.pop("command", None)
    if isinstance(command, str) and "\n" in command.strip():
        parts.append(code_html(command, "bash"))
    elif command is not None and not isinstance(command, str):
        arguments["command"] = command
    path = arguments.pop("path", None)
    if path is not None and not isinstance(path, str):
        arguments["path"] = path
    content = arguments.get("content")
    if isinstance(content, str):
        del arguments["content"]
        name = path if isinstance(path, str) else ""
        lines = content.count("\n") + 1
        parts.append(_folded(f"{lines} lines", code_html(content, filename=name), lines))
    if isinstance(facts.get("diff"), str):
        arguments.pop("edits", None)
    if arguments:
        text = indented_json(arguments)
        label = ", ".join(str(key) for key in arguments)
        parts.append(_folded(label, code_html(text, "json"), text.count("\n") + 8))
    return "".join(parts)


def _result(call: ToolCall, result: ToolResultMessage | None, facts: Mapping[str, Any]) -> str:
    diff = facts.get("diff")
    shown = diff_html(diff) if isinstance(diff, str) and diff else ""
    if result is None:
        return shown
    for block in result.content:
        if isinstance(block, Image):
            shown += _image(block)
            continue
        text = plain_text(block.text).rstrip("\n")
        if not text:
            continue
        lines = text.count("\n") + 1
        name = call.arguments.get("path")
        coloured = call.name == "read" and isinstance(name, str) and not result.is_error
        body = code_html(text, filename=str(name) if coloured else "")
        if diff and not result.is_error:
            body = f"<p>{text_html(text)}</p>"
        shown += _folded(f"{lines} lines", body, lines)
    return shown


def _folded(label: str, body: str, lines: int) -> str:
    return body if lines <= _OPEN_LINES else fold(label, body)


def _image(image: Image) -> str:
    if image.mime_type not in _PICTURES or not _BASE64.fullmatch(image.data):
        return f"<p>[image of the type {text_html(image.mime_type)}]</p>"
    data = "".join(image.data.split())
    return f'<img alt="image" src="data:{image.mime_type};base64,{data}">'


def _duration(milliseconds: int) -> str:
    return f"{milliseconds} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"
