"""The stateful face of an agent: prompt it, steer it, abort it, listen to it.

An agent runs on asyncio. Its methods are for the event loop's own thread; `Agent.abort`,
`Agent.steer` and `Agent.follow_up` never wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import TypeAlias

from anyio import CancelScope

from sloyd.agent.events import AgentEvent
from sloyd.agent.handoff import events_of
from sloyd.agent.hooks import Hooks
from sloyd.agent.limits import Limits
from sloyd.agent.listeners import Listener
from sloyd.agent.loop import Run
from sloyd.agent.queues import QueueMode
from sloyd.agent.result import RunResult
from sloyd.agent.state import AgentState
from sloyd.agent.tool import AgentTool, ExecutionMode
from sloyd.errors import AgentBusy, AgentError, UsageError
from sloyd.llm.messages import AssistantMessage, Message, UserMessage, user_message
from sloyd.llm.models import Model, StreamOptions

__all__ = ["Agent", "Prompt", "RunResult"]

Prompt: TypeAlias = str | UserMessage | Sequence[UserMessage]


class Agent:
    """A model, its tools and the conversation so far.

    Args:
        model: what answers.
        system_prompt: sent with every request.
        tools: what the model may call, in the order in which it is told of them.
        messages: a conversation to go on with.
        options: for every request.
        limits: for every run.
        hooks: see `sloyd.agent.hooks.Hooks`.
        tool_execution: ``sequential`` runs the calls of one answer one by one.
        abort_grace: seconds that an abort waits for a tool that does not stop.

    ``model``, ``system_prompt``, ``options``, ``hooks`` and ``tools`` may be set at any time, also
    during a run, and count from the next request on; ``limits`` from the next run on.
    """

    def __init__(
        self,
        model: Model,
        *,
        system_prompt: str = "",
        tools: Iterable[AgentTool] = (),
        messages: Iterable[Message] = (),
        options: StreamOptions | None = None,
        limits: Limits | None = None,
        hooks: Hooks | None = None,
        tool_execution: ExecutionMode = "parallel",
        abort_grace: float = 5.0,
    ) -> None:
        self._state = AgentState(
            model,
            system_prompt,
            options or StreamOptions(),
            limits or Limits(),
            hooks or Hooks(),
            tool_execution,
            abort_grace,
            list(messages),
        )
        self._run: Run | None = None
        self._task: asyncio.Task[RunResult] | None = None
        self.tools = tuple(tools)

    # What it is made of

    @property
    def model(self) -> Model:
        """What answers."""
        return self._state.model

    @model.setter
    def model(self, model: Model) -> None:
        self._state.model = model

    @property
    def system_prompt(self) -> str:
        """What is sent before the messages."""
        return self._state.system_prompt

    @system_prompt.setter
    def system_prompt(self, text: str) -> None:
        self._state.system_prompt = text

    @property
    def tools(self) -> tuple[AgentTool, ...]:
        """What the model may call. Setting it raises `UsageError` for a name used twice."""
        return tuple(self._state.tools.values())

    @tools.setter
    def tools(self, tools: Iterable[AgentTool]) -> None:
        tools = tuple(tools)
        names = [tool.name for tool in tools]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise UsageError(f"two tools have the same name: {', '.join(twice)}")
        for tool in tools:
            if not hasattr(tool, "validate"):
                raise UsageError(
                    f"{tool.name} is not an agent tool; sloyd.tools.definition.wrap makes one of"
                    " a definition"
                )
        self._state.use_tools(tools)

    @property
    def options(self) -> StreamOptions:
        """How requests are made."""
        return self._state.options

    @options.setter
    def options(self, options: StreamOptions) -> None:
        self._state.options = options

    @property
    def limits(self) -> Limits:
        """How far a run may go."""
        return self._state.limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        self._state.limits = limits

    @property
    def hooks(self) -> Hooks:
        """Where a program steps into a run."""
        return self._state.hooks

    @hooks.setter
    def hooks(self, hooks: Hooks) -> None:
        self._state.hooks = hooks

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far.

        It may be replaced while the agent is idle and inside the `Hooks.prepare_request` hook; at
        any other time that raises `AgentBusy`, because a call could lose its result.
        """
        return tuple(self._state.messages)

    @messages.setter
    def messages(self, messages: Iterable[Message]) -> None:
        if self._run is not None and not self._state.replaceable:
            raise AgentBusy("The messages cannot be replaced while an answer is being worked on.")
        self._state.messages[:] = messages

    # Running

    @property
    def is_running(self) -> bool:
        """Whether a run is under way; False only after its last listener has finished."""
        return self._run is not None

    async def prompt(self, prompt: Prompt) -> RunResult:
        """Say something and run until there is nothing more to do.

        Cancelling the caller aborts the run, which still completes the history before the
        cancellation goes on.

        Raises:
            AgentBusy: when a run is under way. Failures of models and tools are in the result.
        """
        return await self._perform(_messages_of(prompt))

    async def resume(self) -> RunResult:
        """Go on where the conversation stands: after an abort, a limit, an error.

        Raises:
            AgentBusy: when a run is under way.
            AgentError: when the last answer is complete and nothing is queued.
        """
        if self._run is None and not self.can_resume:
            raise AgentError("There is nothing to continue: the last answer is complete.")
        return await self._perform([])

    async def run(self, prompt: Prompt) -> AsyncGenerator[AgentEvent, None]:
        """`prompt`, as an iterator over the events of the run. Leaving it early aborts the run.

        The last event, `AgentEnd`, tells the outcome.
        """
        self._demand_idle()
        events: AsyncGenerator[AgentEvent, None] = events_of(
            lambda: self.prompt(prompt), subscribe=self.subscribe, abort=self.abort
        )
        async with aclosing(events):
            async for event in events:
                yield event

    def abort(self) -> None:
        """Stop the run as soon as its history is complete. Does nothing when idle."""
        if self._run is not None:
            self._run.abort()

    async def wait_until_idle(self) -> None:
        """Wait until no run is under way."""
        if self._task is not None:
            await asyncio.wait([self._task])

    # Saying something meanwhile

    def steer(self, message: str | UserMessage) -> None:
        """Say something to the running agent; it is heard before the next request.

        Raises:
            AgentError: when no run takes it any more. Use `prompt`: nothing is parked silently.
        """
        self._queue(self._state.steering.add, message)

    def follow_up(self, message: str | UserMessage) -> None:
        """Say something that is heard when the running agent would otherwise stop.

        Raises:
            AgentError: when no run takes it any more. Use `prompt`.
        """
        self._queue(self._state.follow_up.add, message)

    @property
    def queued(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The texts that wait: steering, follow-ups.

        What an aborted or failed run leaves here, the next one says: steering before its prompt,
        follow-ups at its end.
        """
        return self._state.steering.texts, self._state.follow_up.texts

    def clear_queue(self) -> tuple[list[UserMessage], list[UserMessage]]:
        """Take back what waits: steering, follow-ups."""
        taken = self._state.steering.clear(), self._state.follow_up.clear()
        if self._run is not None and any(taken):
            self._run.queue_changed()
        return taken

    def set_queue_modes(
        self, *, steering: QueueMode | None = None, follow_up: QueueMode | None = None
    ) -> None:
        """Whether queued messages are said one at a time (the default) or all at once."""
        self._state.steering.mode = steering or self._state.steering.mode
        self._state.follow_up.mode = follow_up or self._state.follow_up.mode

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Hear every event, in order. Returns a function that ends it.

        An async listener is awaited before the run goes on. One that raises is reported in the log.
        """
        return self._state.listeners.subscribe(listener)

    def _queue(self, add: Callable[[UserMessage], None], message: str | UserMessage) -> None:
        if self._run is None or not self._run.open:
            raise AgentError("No run is under way that could take the message; use prompt().")
        add(user_message(message))
        self._run.queue_changed()

    @property
    def can_resume(self) -> bool:
        """Whether `resume` has something to go on with."""
        if any(self.queued):
            return True
        messages = self._state.messages
        last = messages[-1] if messages else None
        if isinstance(last, AssistantMessage):
            return last.stop_reason in ("error", "aborted") and len(messages) > 1
        return last is not None

    async def _perform(self, prompt: list[UserMessage]) -> RunResult:
        self._demand_idle()
        run = self._run = Run(self._state)
        task = self._task = asyncio.create_task(self._supervised(run, prompt))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            # The caller is cancelled, not the run; a run must end with a complete history.
            run.abort()
            with CancelScope(shield=True):
                await asyncio.wait([task])
            raise

    def _demand_idle(self) -> None:
        if self._run is not None:
            raise AgentBusy("The agent is running. Use steer() or follow_up(), or abort() it.")

    async def _supervised(self, run: Run, prompt: list[UserMessage]) -> RunResult:
        try:
            return await run.go(prompt)
        finally:
            self._run = None
            self._task = None


def _messages_of(prompt: Prompt) -> list[UserMessage]:
    if isinstance(prompt, (str, UserMessage)):
        return [user_message(prompt)]
    return list(prompt)
