"""The blocks of a conversation that is there already, from the entries of its branch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sloyd.llm.messages import (
    AssistantMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from sloyd.modes.tui.answer_blocks import TextBlock, ThinkingBlock
from sloyd.modes.tui.block import Block
from sloyd.modes.tui.blocks import NoticeBlock, ShellBlock, SummaryBlock, UserBlock
from sloyd.modes.tui.tool_block import ToolBlock
from sloyd.sessions.entries import (
    BashExecution,
    BranchSummary,
    BranchSummaryEntry,
    CompactionEntry,
    CompactionSummary,
    CustomMessage,
    CustomMessageEntry,
    Entry,
    MessageEntry,
    SessionMessage,
)

__all__ = ["blocks_of"]


def blocks_of(entries: Iterable[Entry]) -> list[Block]:
    """The blocks of a branch, from its beginning. What is no part of the talk gives none."""
    return list(_Reader().read(entries))


class _Reader:
    def __init__(self) -> None:
        self._calls: dict[str, ToolBlock] = {}

    def read(self, entries: Iterable[Entry]) -> Iterator[Block]:
        for entry in entries:
            match entry:
                case MessageEntry(message=message):
                    yield from self._message(message)
                case CompactionEntry():
                    yield SummaryBlock(f"{entry.tokens_before:,} tokens summarised", entry.summary)
                case BranchSummaryEntry():
                    yield SummaryBlock("another branch, summarised", entry.summary)
                case CustomMessageEntry(display=True):
                    yield NoticeBlock(text_of(entry.content))
                case _:
                    pass

    def _message(self, message: SessionMessage) -> Iterator[Block]:
        match message:
            case UserMessage(content=content):
                yield UserBlock(content)
            case AssistantMessage():
                yield from self._answer(message)
            case ToolResultMessage():
                yield from self._result(message)
            case BashExecution():
                yield ShellBlock(
                    message.command,
                    message.output,
                    exit_code=message.exit_code,
                    shared=not message.exclude_from_context,
                )
            case BranchSummary(summary=summary):
                yield SummaryBlock("another branch, summarised", summary)
            case CompactionSummary(summary=summary):
                yield SummaryBlock(f"{message.tokens_before:,} tokens summarised", summary)
            case CustomMessage(display=True):
                yield NoticeBlock(text_of(message.content))
            case _:
                pass

    def _answer(self, message: AssistantMessage) -> Iterator[Block]:
        for content in message.content:
            match content:
                case Text(text=text):
                    yield TextBlock(text)
                case Thinking(thinking=text):
                    yield ThinkingBlock(text)
                case ToolCall():
                    call = ToolBlock(content.name, content.arguments, state="stopped")
                    self._calls[content.id] = call
                    yield call
        if message.stop_reason == "aborted":
            yield NoticeBlock("interrupted", "warning")
        elif message.stop_reason == "error":
            yield NoticeBlock(message.error_message or "the model failed", "error")

    def _result(self, message: ToolResultMessage) -> Iterator[Block]:
        call = self._calls.pop(message.tool_call_id, None)
        if call is None:
            call = ToolBlock(message.tool_name, state="stopped")
            yield call
        call.end(
            message.content,
            message.details,
            is_error=message.is_error,
            duration_ms=message.duration_ms,
        )
