"""What the plain conversation writes: the answer as it streams, each tool call, each result.

Only lines are written, top to bottom, and nothing is ever redrawn, so that a screen reader, a dumb
terminal and a log file all get the same.
"""

from __future__ import annotations

import re
import time
from typing import Any

from rich.console import Console

from sloyd.agent.events import (
    AgentEnd,
    LimitWarning,
    MessageEnd,
    MessageUpdate,
    RetryStart,
    ToolExecutionEnd,
    ToolExecutionStart,
)
from sloyd.agent.tool import ToolResult
from sloyd.harness.coding_agent import CodingAgent
from sloyd.harness.events import CompactionEnd, CompactionStart, HarnessEvent, Notice
from sloyd.llm.messages import AssistantMessage
from sloyd.modes.output import Output
from sloyd.modes.summary import call_summary
from sloyd.tools.definition import RenderState, ToolRenderer

__all__ = ["PlainView"]

# Text of a model must not move the cursor, set a title or ring a bell.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class PlainView:
    """A listener that writes the events of an agent to standard output."""

    def __init__(self, agent: CodingAgent, console: Console) -> None:
        self._agent = agent
        self._console = console
        self._out = Output("stdout")
        self._open_line = False
        self._thinking = False
        self._calls: dict[str, tuple[dict[str, Any], float]] = {}
        self._shown_last: str | None = None

    async def show(self, event: HarnessEvent) -> None:
        """Write one event."""
        match event:
            case MessageUpdate(delta=delta) if delta.kind == "text_delta":
                self._end_thinking()
                self.stream(delta.text)
            case MessageUpdate(delta=delta) if delta.kind == "thinking_delta":
                self._begin_thinking()
            case MessageEnd(message=AssistantMessage()):
                self._end_thinking()
                self.end_line()
            case ToolExecutionStart():
                self._calls[event.tool_call_id] = (event.arguments, time.monotonic())
                self._show_call(event)
            case ToolExecutionEnd():
                self._show_result(event)
            case RetryStart():
                self.note(
                    f"{event.error_message}; trying again in {event.delay_ms / 1000:g} s"
                    f" ({event.attempt} of {event.max_attempts})"
                )
            case LimitWarning() | Notice():
                self.note(event.message)
            case CompactionStart():
                self.note("summarising older messages")
            case CompactionEnd(error_message=str(error)):
                self.note(f"the summary failed: {error}")
            case AgentEnd(outcome="error" | "limit"):
                self.note(event.error_message or "the model failed without a reason")
            case AgentEnd(outcome="aborted"):
                self.note("interrupted")
            case _:
                pass

    def note(self, text: str) -> None:
        """A line about the conversation, not from it."""
        self.end_line()
        self._console.print(f"~ {text}", style="dim", markup=False, highlight=False)

    def stream(self, text: str) -> None:
        """Write a piece of text as it comes, without what could move the cursor."""
        clean = _CONTROLS.sub("", text)
        if clean:
            self._out.write(clean)
            self._open_line = not clean.endswith("\n")

    def end_line(self) -> None:
        """Let what comes next begin on a line of its own."""
        if self._open_line:
            self._out.line()
            self._open_line = False

    def _begin_thinking(self) -> None:
        if not self._thinking:
            self._thinking = True
            self.note("thinking")

    def _end_thinking(self) -> None:
        self._thinking = False

    def _state(self, elapsed: float | None = None) -> RenderState:
        return RenderState(
            width=self._console.width, elapsed=elapsed, cwd=self._agent.workspace.cwd
        )

    def _renderer(self, name: str) -> ToolRenderer | None:
        definition = self._agent.registry.get(name)
        return definition.renderer() if definition and definition.renderer else None

    def _show_call(self, event: ToolExecutionStart) -> None:
        self.end_line()
        self._shown_last = event.tool_call_id
        renderer = self._renderer(event.tool_name)
        if renderer is None:
            self.note(call_summary(event.tool_name, event.arguments, self._console.width - 2))
        else:
            self._console.print(renderer.render_call(event.arguments, self._state()))

    def _show_result(self, event: ToolExecutionEnd) -> None:
        self.end_line()
        arguments, started = self._calls.pop(event.tool_call_id, ({}, time.monotonic()))
        if self._shown_last != event.tool_call_id:
            # Calls that run beside each other end in any order: say which one this was.
            self.note(call_summary(event.tool_name, arguments, self._console.width - 2))
        self._shown_last = None
        renderer = self._renderer(event.tool_name)
        if renderer is None:
            self.note(f"{event.tool_name} {'failed' if event.is_error else 'done'}")
            return
        result = ToolResult(event.content, event.details, event.is_error)
        state = self._state(time.monotonic() - started)
        self._console.print(renderer.render_result(arguments, result, state))
