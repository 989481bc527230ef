"""The stream of Google's generateContent: whole parts, and a finish reason on the last chunk."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sloyd.errors import ProviderError
from sloyd.llm.building import TextBlock, ThinkingBlock
from sloyd.llm.events import StreamEvent
from sloyd.llm.messages import Usage
from sloyd.llm.models import ModelInfo
from sloyd.llm.wires.base import Reader
from sloyd.llm.wires.decoding import count, json_text

__all__ = ["GoogleReader"]

_REFUSED = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "ESCALATION",
        "PUP_LIMITED_DISABLED",
        "MODEL_ARMOR",
    }
)
_FAILED = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
        "OTHER",
    }
)
"""The model stumbled; the same request often succeeds."""


class GoogleReader(Reader):
    """Reads ``GenerateContentResponse`` chunks."""

    def __init__(self, info: ModelInfo, taken_ids: Collection[str] = ()) -> None:
        super().__init__(info, taken_ids)
        self._finish: str | None = None
        self._last: TextBlock | ThinkingBlock | None = None

    def read(self, name: str, data: dict[str, Any]) -> list[StreamEvent]:
        if data.get("error"):
            from sloyd.llm.failures import failure_of

            return self.builder.failed(failure_of(None, data))
        if isinstance(data.get("responseId"), str):
            self.builder.response_id = data["responseId"]
        self._read_usage(data.get("usageMetadata"))
        candidate = self._ours(data.get("candidates"))
        if candidate is None:
            return self._blocked(data.get("promptFeedback"))
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        events: list[StreamEvent] = []
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                events += self.builder.start() + self._part(part)
        reason = candidate.get("finishReason")
        if isinstance(reason, str) and reason and reason != "FINISH_REASON_UNSPECIFIED":
            self._finish = reason.upper()
            self.answered = True
        return events

    def _ours(self, candidates: Any) -> dict[str, Any] | None:
        """The first candidate; a server that gives several numbers them from 0."""
        for candidate in candidates if isinstance(candidates, list) else ():
            if isinstance(candidate, dict) and candidate.get("index") in (None, 0):
                return candidate
        return None

    def end(self) -> list[StreamEvent]:
        reason = self._finish
        if reason is None:
            return self.ended_early()
        if reason in _REFUSED:
            return self.builder.failed(
                ProviderError(f"Google stopped the answer: {reason}.", problem="content"),
                raw=reason,
            )
        if reason in _FAILED:
            return self.builder.failed(
                ProviderError(
                    f"The model's answer broke off: {reason}.", problem="server", retryable=True
                ),
                raw=reason,
            )
        if reason == "MAX_TOKENS":
            return self.builder.done("length")
        if self.builder.is_empty:
            # A known stumble of these models; taken as an answer it would end the run.
            return self.builder.failed(
                ProviderError(
                    "The model answered with nothing.", problem="broken-stream", retryable=True
                ),
                raw=reason,
            )
        return self.builder.done("stop", raw=None if reason == "STOP" else reason)

    def _blocked(self, feedback: Any) -> list[StreamEvent]:
        reason = feedback.get("blockReason") if isinstance(feedback, dict) else None
        if not isinstance(reason, str) or reason == "BLOCK_REASON_UNSPECIFIED":
            return []
        return self.builder.failed(
            ProviderError(f"Google blocked the prompt: {reason}.", problem="content"), raw=reason
        )

    def _part(self, part: dict[str, Any]) -> list[StreamEvent]:
        signature = part.get("thoughtSignature")
        signature = signature if isinstance(signature, str) and signature else None
        call = part.get("functionCall")
        if isinstance(call, dict):
            self._last = None
            call_id, name = call.get("id"), call.get("name")
            block, events = self.builder.open_call(
                call_id if isinstance(call_id, str) else "", name if isinstance(name, str) else ""
            )
            block.signature = signature
            arguments = call.get("args")
            if isinstance(arguments, dict):
                block.given = arguments
            elif arguments is not None:
                raw = arguments if isinstance(arguments, str) else json_text(arguments)
                events += self.builder.add_arguments(block, raw)
            return events + self.builder.end_call(block)
        text = part.get("text")
        if not isinstance(text, str) or not (text or signature):
            return []
        kind = ThinkingBlock if part.get("thought") is True else TextBlock
        if not isinstance(self._last, kind):
            thinks = kind is ThinkingBlock
            self._last = self.builder.open_thinking() if thinks else self.builder.open_text()
        self._last.signature = signature or self._last.signature
        if isinstance(self._last, ThinkingBlock):
            return self.builder.add_thinking(self._last, text)
        return self.builder.add_text(self._last, text)

    def _read_usage(self, usage: Any) -> None:
        if not isinstance(usage, dict):
            return
        prompt = count(usage, "promptTokenCount") + count(usage, "toolUsePromptTokenCount")
        cached = count(usage, "cachedContentTokenCount")
        output = count(usage, "candidatesTokenCount") + count(usage, "thoughtsTokenCount")
        self.builder.usage = Usage(
            input=max(0, prompt - cached),
            output=output,
            cache_read=cached,
            total_tokens=prompt + output,
        )
