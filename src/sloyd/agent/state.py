"""What an agent is made of, shared by its face (`sloyd.agent.agent`) and its loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from sloyd.agent.events import AgentEvent
from sloyd.agent.hooks import Hooks
from sloyd.agent.limits import Limits
from sloyd.agent.listeners import Emit, Listeners
from sloyd.agent.queues import MessageQueue
from sloyd.agent.supervision import Job, Supervisor
from sloyd.agent.tool import AgentTool, ExecutionMode
from sloyd.llm.messages import Message
from sloyd.llm.models import Model, StreamOptions, ToolSchema

__all__ = ["AgentState", "Desk"]


class AgentState(msgspec.Struct, eq=False):
    """The parts of an agent; a run reads them anew for each request.

    Attributes:
        schemas: made once from ``tools``; `use_tools` keeps the two together.
        replaceable: whether a run allows its history to be replaced: no call is open, and no
            answer is being made from it.
        left_behind: jobs of aborted runs that still have not ended.
    """

    model: Model
    system_prompt: str = ""
    options: StreamOptions = msgspec.field(default_factory=StreamOptions)
    limits: Limits = msgspec.field(default_factory=Limits)
    hooks: Hooks = msgspec.field(default_factory=Hooks)
    tool_execution: ExecutionMode = "parallel"
    abort_grace: float = 5.0
    messages: list[Message] = msgspec.field(default_factory=list)
    tools: dict[str, AgentTool] = msgspec.field(default_factory=dict)
    schemas: tuple[ToolSchema, ...] = ()
    steering: MessageQueue = msgspec.field(default_factory=MessageQueue)
    follow_up: MessageQueue = msgspec.field(default_factory=MessageQueue)
    listeners: Listeners[AgentEvent] = msgspec.field(default_factory=Listeners)
    replaceable: bool = False
    left_behind: set[Job[Any]] = msgspec.field(default_factory=set)

    def use_tools(self, tools: tuple[AgentTool, ...]) -> None:
        """Offer these tools, in this order, from the next request on."""
        self.tools = {tool.name: tool for tool in tools}
        self.schemas = tuple(
            ToolSchema(tool.name, tool.description, tool.parameters) for tool in self.tools.values()
        )


class Desk(msgspec.Struct, frozen=True, eq=False):
    """What the parts of one run work with."""

    state: AgentState
    supervisor: Supervisor
    emit: Emit
    append: Callable[[Message], None]
    taken_ids: set[str]
