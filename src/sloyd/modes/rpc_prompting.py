"""RPC commands that talk to the model, and those that stop or shape its runs."""

from __future__ import annotations

from sloyd.errors import AgentBusy, AgentError, SessionError
from sloyd.harness.commands import expand_prompt, submit
from sloyd.llm.messages import UserMessage
from sloyd.modes import rpc_commands as commands
from sloyd.modes.rpc_context import Handling, RpcContext, user_message
from sloyd.modes.rpc_results import Compacted, Disposition, Queues
from sloyd.sessions.entries import CompactionEntry

__all__ = ["HANDLERS"]


async def _prompt(context: RpcContext, command: commands.Prompt) -> Disposition:
    text = await submit(context.agent, command.message, context.door)
    if text is None:
        return Disposition(disposition="handled")
    message = user_message(text, command.images)
    if context.busy:
        if command.streaming_behavior is None:
            raise AgentBusy(
                'The agent is running; say how the message waits: "streamingBehavior": "steer"'
                ' or "followUp"'
            )
        if context.queue(message, steer=command.streaming_behavior == "steer"):
            return Disposition(disposition="queued")
        # The run has heard its last message; this one begins the next.
        await context.wait_until_idle()
    context.accept(message)
    return Disposition(disposition="started")


async def _steer(context: RpcContext, command: commands.Steer) -> Disposition:
    return await _queued(context, command.message, command, steer=True)


async def _follow_up(context: RpcContext, command: commands.FollowUp) -> Disposition:
    return await _queued(context, command.message, command, steer=False)


async def _queued(
    context: RpcContext, text: str, command: commands.Steer | commands.FollowUp, *, steer: bool
) -> Disposition:
    expanded = await expand_prompt(context.agent, text)
    message: UserMessage = user_message(expanded, command.images)
    if not context.busy or not context.queue(message, steer=steer):
        raise AgentError("No run is under way that could hear this; send prompt instead")
    return Disposition(disposition="queued")


async def _resume(context: RpcContext, _command: commands.Resume) -> Disposition:
    context.demand_idle()
    if not context.agent.agent.can_resume:
        raise AgentError("There is nothing to go on with: the last answer is complete")
    context.accept(None)
    return Disposition(disposition="started")


async def _abort(context: RpcContext, _command: commands.Abort) -> None:
    await context.abort()


async def _clear_queue(context: RpcContext, _command: commands.ClearQueue) -> Queues:
    steering, follow_up = context.agent.agent.queued
    context.agent.agent.clear_queue()
    return Queues(steering=steering, follow_up=follow_up)


async def _steering_mode(context: RpcContext, command: commands.SetSteeringMode) -> None:
    context.steering_mode = command.mode
    context.agent.agent.set_queue_modes(steering=command.mode)


async def _follow_up_mode(context: RpcContext, command: commands.SetFollowUpMode) -> None:
    context.follow_up_mode = command.mode
    context.agent.agent.set_queue_modes(follow_up=command.mode)


async def _compact(context: RpcContext, command: commands.Compact) -> Compacted:
    context.demand_idle()
    conversation = context.agent.conversation
    end = await conversation.compact(command.custom_instructions)
    if end.error_message is not None:
        raise SessionError(f"The conversation was not compacted: {end.error_message}")
    entry = None if end.entry_id is None else context.agent.session.entry(end.entry_id)
    if not isinstance(entry, CompactionEntry):
        raise SessionError("There is nothing to compact yet")
    return Compacted(
        summary=entry.summary,
        first_kept_entry_id=entry.first_kept_entry_id,
        tokens_before=entry.tokens_before,
        estimated_tokens_after=conversation.context_tokens(),
        usage=entry.usage,
        details=entry.details,
    )


async def _auto_compaction(context: RpcContext, command: commands.SetAutoCompaction) -> None:
    context.agent.conversation.auto_compaction = command.enabled


async def _auto_retry(context: RpcContext, command: commands.SetAutoRetry) -> None:
    context.agent.recovery.enabled = command.enabled


async def _abort_retry(context: RpcContext, _command: commands.AbortRetry) -> None:
    context.agent.recovery.stop_waiting()


HANDLERS: dict[type[commands.Command], Handling] = {
    commands.Prompt: Handling(_prompt, alone=True),
    commands.Resume: Handling(_resume, alone=True),
    commands.Compact: Handling(_compact, alone=True, slow=True),
    commands.Abort: Handling(_abort, slow=True),
    commands.Steer: Handling(_steer),
    commands.FollowUp: Handling(_follow_up),
    commands.ClearQueue: Handling(_clear_queue),
    commands.SetSteeringMode: Handling(_steering_mode),
    commands.SetFollowUpMode: Handling(_follow_up_mode),
    commands.SetAutoCompaction: Handling(_auto_compaction),
    commands.SetAutoRetry: Handling(_auto_retry),
    commands.AbortRetry: Handling(_abort_retry),
}
