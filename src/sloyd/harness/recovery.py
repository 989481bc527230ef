"""A run that goes on after what can be mended: a full window, an answer that broke off."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from sloyd.agent.agent import Agent, Prompt
from sloyd.agent.events import AgentEvent, AgentStart, RetryEnd, RetryStart
from sloyd.agent.result import RunResult, total_usage
from sloyd.errors import AgentBusy, AgentError, ContextOverflow, ProviderError
from sloyd.harness.conversation import Conversation
from sloyd.harness.events import HarnessEvent
from sloyd.harness.settings import RetrySettings
from sloyd.llm.messages import AssistantMessage, Message, ToolResultMessage, UserMessage

__all__ = ["Recovery"]

_FIRST_DELAY = 2.0
_LONGEST_DELAY = 60.0


class Recovery:
    """Runs prompts to their end, over faults of the provider and a context that grew too large.

    Requests that fail before their answer begins are retried by the transport. Here an answer that
    broke off in the middle is asked for again; the failed one stays in the session's file.
    """

    def __init__(
        self,
        agent: Agent,
        conversation: Conversation,
        retry: RetrySettings,
        emit: Callable[[HarnessEvent], Awaitable[None]],
    ) -> None:
        self._agent = agent
        self._conversation = conversation
        self._retry = retry
        self._emit = emit
        self._waiting: anyio.CancelScope | None = None
        self._stopped = False
        self._active = False
        self._late: list[tuple[Callable[[UserMessage], None], UserMessage]] = []
        self.enabled = True
        agent.subscribe(self._deliver)

    @property
    def is_active(self) -> bool:
        """Whether a prompt is being worked on, also between two attempts."""
        return self._active

    def steer(self, message: UserMessage) -> None:
        """Like `Agent.steer`; between two attempts the message waits for the next one."""
        self._say(self._agent.steer, message)

    def follow_up(self, message: UserMessage) -> None:
        """Like `Agent.follow_up`, likewise."""
        self._say(self._agent.follow_up, message)

    def _say(self, say: Callable[[UserMessage], None], message: UserMessage) -> None:
        try:
            say(message)
        except AgentError:
            # Between two attempts, or while the end of a run is told, no run takes a message; but
            # whoever said it saw the agent at work, and must not lose it.
            if not self._active:
                raise
            self._late.append((say, message))

    def _deliver(self, event: AgentEvent) -> None:
        if isinstance(event, AgentStart):
            late, self._late = self._late, []
            for say, message in late:
                say(message)

    def stop_waiting(self) -> None:
        """Give up a retry that has not begun."""
        self._stopped = True
        if self._waiting is not None:
            self._waiting.cancel()

    async def prompt(self, prompt: Prompt) -> RunResult:
        """Like `Agent.prompt`, with recovery."""
        return await self._attempted(lambda: self._agent.prompt(prompt))

    async def resume(self) -> RunResult:
        """Like `Agent.resume`, with recovery."""
        return await self._attempted(self._agent.resume)

    async def _attempted(self, attempt: Callable[[], Awaitable[RunResult]]) -> RunResult:
        if self._active:
            raise AgentBusy("The agent is running. Use steer() or follow_up(), or abort() it.")
        self._stopped = False
        self._active = True
        try:
            result = await self._recovered(await attempt())
            while self._late and result.outcome == "done" and not self._stopped:
                said = [message for _, message in self._late]
                self._late = []
                after = await self._recovered(await self._agent.prompt(said))
                result = _joined(result, after)
            return result
        finally:
            self._active = False

    async def _recovered(self, result: RunResult) -> RunResult:
        compacted = False
        attempt = 0
        while result.outcome == "error" and not self._stopped:
            error = result.error
            if isinstance(error, ContextOverflow) and not compacted:
                compacted = True
                if not await self._made_room():
                    break
            elif self._is_transient(error) and attempt < self._retry.attempts:
                attempt += 1
                if not await self._waited(attempt, error):
                    break
            else:
                break
            self._conversation.hide_failed_answer()
            before = result
            result = _joined(before, await self._agent.resume())
            if attempt:
                done = result.outcome != "error"
                await self._emit(RetryEnd(success=done, attempt=attempt))
                attempt = 0 if done else attempt
        return result

    async def _made_room(self) -> bool:
        # What the user just said is all there is: no summary makes that fit.
        if not self._conversation.auto_compaction or not any(map(_is_past, self._agent.messages)):
            return False
        end = await self._conversation.compact(reason="overflow")
        return end.entry_id is not None

    def _is_transient(self, error: object) -> bool:
        # A fault before the answer began has been retried already, as often as it may be.
        return (
            self.enabled
            and isinstance(error, ProviderError)
            and error.retryable
            and self._broke_off()
        )

    def _broke_off(self) -> bool:
        """Whether the last answer had begun when it failed."""
        messages = self._agent.messages
        return bool(messages) and bool(getattr(messages[-1], "content", ()))

    async def _waited(self, attempt: int, error: object) -> bool:
        delay = min(_FIRST_DELAY * 2 ** (attempt - 1), _LONGEST_DELAY)
        asked = getattr(error, "retry_after", None)
        delay = max(delay, asked) if isinstance(asked, int | float) else delay
        await self._emit(
            RetryStart(
                attempt=attempt,
                max_attempts=self._retry.attempts,
                delay_ms=round(delay * 1000),
                error_message=str(error),
            )
        )
        with anyio.CancelScope() as self._waiting:
            await anyio.sleep(delay)
        self._waiting = None
        return not self._stopped


def _is_past(message: Message) -> bool:
    """Whether the message is something that came of earlier requests."""
    if isinstance(message, AssistantMessage):
        return message.stop_reason not in ("error", "aborted")
    return isinstance(message, ToolResultMessage)


def _joined(first: RunResult, second: RunResult) -> RunResult:
    """Two parts of a run as one."""
    messages = (*first.messages, *second.messages)
    return RunResult(
        messages=messages,
        outcome=second.outcome,
        error=second.error,
        usage=total_usage(messages),
        turns=first.turns + second.turns,
    )
