"""From the events of a run to blocks of the transcript that come and grow."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from sloyd.agent.events import (
    AgentEnd,
    Delta,
    LimitWarning,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    RetryStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from sloyd.harness.door import NoticeLevel
from sloyd.harness.events import AgentSettled, CompactionEnd, HarnessEvent, Notice
from sloyd.llm.messages import AssistantMessage, Text, Thinking, ToolCall, UserMessage
from sloyd.modes.tui.answer_blocks import TextBlock, ThinkingBlock
from sloyd.modes.tui.block import Block
from sloyd.modes.tui.blocks import NoticeBlock, SummaryBlock, UserBlock
from sloyd.modes.tui.tool_block import ToolBlock
from sloyd.modes.tui.transcript import Transcript

__all__ = ["Feed"]

GrowingPart = TypeVar("GrowingPart", TextBlock, ThinkingBlock)

_NEXT = "Send anything to go on from here."


class Feed:
    """Puts what happens into a transcript.

    ``summary_of`` gives the text of a compaction, by the id of its entry.
    """

    def __init__(
        self,
        transcript: Transcript,
        summary_of: Callable[[str], str],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transcript = transcript
        self._summary_of = summary_of
        self._clock = clock
        self._parts: dict[int, Block] = {}
        self._calls: dict[str, ToolBlock] = {}

    @property
    def last_answer(self) -> str:
        """The newest text of a model in the transcript."""
        for block in reversed(self._transcript.blocks):
            if isinstance(block, TextBlock) and block.text.strip():
                return block.text.strip()
        return ""

    def forget(self) -> None:
        """The transcript was emptied."""
        self._parts.clear()
        self._calls.clear()

    def tick(self) -> None:
        """Time passes: calls that run show for how long."""
        running = [block for block in self._calls.values() if block.state == "running"]
        for block in running:
            block.tick()
        if running:
            self._transcript.changed()

    def hear(self, event: HarnessEvent) -> None:
        """Take in one event."""
        match event:
            case MessageUpdate():
                self._grow(event.delta)
            case MessageStart(message=UserMessage(content=content)):
                self._add(UserBlock(content))
            case MessageStart(message=AssistantMessage()):
                self._parts = {}
            case MessageEnd(message=AssistantMessage() as message):
                self._finish(message)
            case ToolExecutionStart():
                self._call(event.tool_call_id, event.tool_name).start(event.arguments)
            case ToolExecutionUpdate():
                call = self._call(event.tool_call_id, event.tool_name)
                call.progress(event.content, event.details)
            case ToolExecutionEnd():
                self._call(event.tool_call_id, event.tool_name).end(
                    event.content,
                    event.details,
                    is_error=event.is_error,
                    duration_ms=event.duration_ms,
                )
                del self._calls[event.tool_call_id]
            case _:
                self._tell(event)
        self._transcript.changed()

    def _tell(self, event: HarnessEvent) -> None:
        match event:
            case RetryStart():
                self._note(event.error_message, "warning")
            case LimitWarning():
                self._note(event.message, "warning")
            case Notice():
                self._note(event.message, event.level)
            case CompactionEnd(entry_id=str(entry_id)):
                title = f"{event.tokens_before:,} tokens summarised"
                self._add(SummaryBlock(title, self._summary_of(entry_id)))
            case CompactionEnd(error_message=str(error)):
                self._note(f"nothing was summarised: {error}", "warning")
            case CompactionEnd(reason="manual"):
                self._note("there is nothing to summarise yet")
            case AgentEnd():
                for call in self._calls.values():
                    call.stop()
                self._calls.clear()
            case AgentSettled(outcome="error" | "limit"):
                text = event.error_message or "the model failed without a reason"
                self._add(NoticeBlock(text, "error", _NEXT))
            case AgentSettled(outcome="aborted"):
                self._add(NoticeBlock("interrupted", "warning", _NEXT))
            case _:
                pass

    def _note(self, text: str, level: NoticeLevel = "info") -> None:
        self._add(NoticeBlock(text, level))

    def _add(self, block: Block) -> None:
        self._transcript.add(block)

    # The model's answer

    def _grow(self, delta: Delta) -> None:
        index = delta.content_index
        block = self._parts.get(index)
        match delta.kind:
            case "text_delta":
                if not isinstance(block, TextBlock):
                    block = self._part(index, TextBlock(done=False))
                block.add(delta.text)
            case "thinking_delta":
                if not isinstance(block, ThinkingBlock):
                    block = self._part(index, ThinkingBlock(done=False))
                block.add(delta.text)
            case "toolcall_start":
                call = self._call(delta.id or "", delta.tool_name or "")
                self._parts[index] = call
            case "toolcall_delta" if isinstance(block, ToolBlock):
                block.write(delta.text)
            case "toolcall_end" if isinstance(block, ToolBlock):
                block.set_arguments(delta.arguments or {})
            case _:
                pass

    def _part(self, index: int, block: GrowingPart) -> GrowingPart:
        # Whatever came before is complete: a model writes its blocks one after the other.
        for earlier in self._parts.values():
            if isinstance(earlier, TextBlock | ThinkingBlock) and not earlier.done:
                earlier.finish()
        self._parts[index] = block
        self._add(block)
        return block

    def _finish(self, message: AssistantMessage) -> None:
        for index, content in enumerate(message.content):
            block = self._parts.get(index)
            match content:
                case Text(text=text):
                    if not isinstance(block, TextBlock):
                        block = self._part(index, TextBlock(done=False))
                    block.finish(text)
                case Thinking(thinking=text):
                    if not isinstance(block, ThinkingBlock):
                        block = self._part(index, ThinkingBlock(done=False))
                    block.finish(text)
                case ToolCall():
                    self._call(content.id, content.name).set_arguments(content.arguments)
        if message.stop_reason in ("error", "aborted"):
            for part in self._parts.values():
                if isinstance(part, ToolBlock):
                    part.stop()
                elif isinstance(part, TextBlock | ThinkingBlock):
                    part.finish()
        self._parts = {}

    def _call(self, call_id: str, name: str) -> ToolBlock:
        call = self._calls.get(call_id)
        if call is None:
            call = self._calls[call_id] = ToolBlock(name, clock=self._clock)
            self._add(call)
        return call
