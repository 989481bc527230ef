"""RPC commands about the session: another one, another branch, and what is in it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from sloyd.errors import SessionError
from sloyd.llm.messages import AssistantMessage, UserMessage, text_of
from sloyd.modes import rpc_commands as commands
from sloyd.modes import rpc_results as results
from sloyd.modes.rpc_context import Handling, RpcContext
from sloyd.sessions.catalogue import find_session
from sloyd.sessions.entries import MessageEntry
from sloyd.sessions.session import Session
from sloyd.sessions.stats import session_stats

__all__ = ["HANDLERS"]


async def _new(context: RpcContext, _command: commands.NewSession) -> results.Cancelled:
    context.demand_idle()
    await context.agent.conversation.start_new()
    return results.Cancelled()


async def _switch(context: RpcContext, command: commands.SwitchSession) -> results.Cancelled:
    context.demand_idle()
    agent = context.agent
    path = find_session(agent.sessions_directory, command.session_path, agent.workspace.cwd)
    if agent.session.path is None or not agent.session.path.exists() or path != agent.session.path:
        await agent.conversation.use(Session.open(path, on_conflict="fork"), "open")
    return results.Cancelled()


async def _fork(context: RpcContext, command: commands.Fork) -> results.Forked:
    context.demand_idle()
    text = await context.agent.conversation.fork_at(command.entry_id)
    return results.Forked(text=text)


async def _clone(context: RpcContext, _command: commands.Clone) -> results.Cancelled:
    context.demand_idle()
    await context.agent.conversation.clone()
    return results.Cancelled()


async def _navigate(context: RpcContext, command: commands.Navigate) -> results.Cancelled:
    context.demand_idle()
    await context.agent.conversation.navigate(command.entry_id, summarise=command.summarise)
    return results.Cancelled()


async def _drop(context: RpcContext, command: commands.Drop) -> results.EntryIds:
    context.demand_idle()
    return results.EntryIds(entry_ids=await context.agent.conversation.drop(command.entry_id))


async def _restore(context: RpcContext, command: commands.Restore) -> results.EntryIds:
    context.demand_idle()
    return results.EntryIds(entry_ids=await context.agent.conversation.restore(command.entry_id))


async def _name(context: RpcContext, command: commands.SetSessionName) -> None:
    await context.agent.conversation.rename(command.name)


async def _state(context: RpcContext, _command: commands.GetState) -> results.State:
    agent = context.agent
    session = agent.session
    waiting = agent.agent.queued
    return results.State(
        model=results.model_object(agent.model.info),
        thinking_level=agent.thinking,
        is_streaming=context.busy,
        is_compacting=agent.conversation.is_compacting,
        steering_mode=context.steering_mode,
        follow_up_mode=context.follow_up_mode,
        session_file=_file(session),
        session_id=session.id,
        session_name=session.name,
        auto_compaction_enabled=agent.conversation.auto_compaction,
        auto_retry_enabled=agent.recovery.enabled,
        message_count=len(agent.messages),
        pending_message_count=sum(map(len, waiting)),
        cwd=agent.workspace.cwd,
        active_tools=agent.registry.active_names,
    )


def _file(session: Session) -> str | None:
    return None if session.path is None else str(session.path)


async def _messages(context: RpcContext, _command: commands.GetMessages) -> results.Messages:
    return results.Messages(messages=context.agent.messages)


async def _stats(context: RpcContext, _command: commands.GetSessionStats) -> results.Stats:
    agent = context.agent
    counted = session_stats(agent.session)
    usage = counted.usage
    tokens, window = agent.conversation.context_tokens(), agent.model.info.context_window
    return results.Stats(
        session_file=_file(agent.session),
        session_id=agent.session.id,
        user_messages=counted.user_messages,
        assistant_messages=counted.assistant_messages,
        tool_calls=counted.tool_calls,
        tool_results=counted.tool_results,
        total_messages=counted.user_messages + counted.assistant_messages + counted.tool_results,
        tokens=results.TokenCounts(
            input=usage.input,
            output=usage.output,
            cache_read=usage.cache_read,
            cache_write=usage.cache_write,
            total=usage.total_tokens,
        ),
        cost=usage.cost.total,
        context_usage=results.ContextUsage(
            tokens=tokens,
            context_window=window,
            percent=round(100 * tokens / window, 2) if window else 0.0,
        ),
    )


async def _export(context: RpcContext, command: commands.ExportHtml) -> results.Exported:
    from sloyd.sessions.export import write_export

    session = context.agent.session
    path = _target(context.agent.workspace.cwd, command.output_path or f"sloyd-{session.id}.html")
    write_export(session, path, "html")
    return results.Exported(path=str(path))


def _target(cwd: str, named: str) -> Path:
    return Path(cwd) / Path(named).expanduser()


async def _fork_messages(
    context: RpcContext, _command: commands.GetForkMessages
) -> results.ForkMessages:
    found = [
        results.ForkMessage(entry_id=entry.id, text=text_of(entry.message.content))
        for entry in context.agent.session.branch()
        if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage)
    ]
    return results.ForkMessages(messages=tuple(found))


async def _entries(context: RpcContext, command: commands.GetEntries) -> results.Entries:
    session = context.agent.session
    ids = [node.id for node in session.tree.nodes()]
    if command.since is not None:
        if command.since not in ids:
            raise SessionError(f"The session has no entry {command.since}")
        ids = ids[ids.index(command.since) + 1 :]
    raw = tuple(msgspec.Raw(session.raw(entry_id)) for entry_id in ids)
    return results.Entries(entries=raw, leaf_id=session.leaf_id)


async def _tree(context: RpcContext, _command: commands.GetTree) -> results.EntryTree:
    session = context.agent.session
    labels = session.labels
    nodes = {
        node.id: results.TreeNode(
            entry=msgspec.Raw(session.raw(node.id)),
            children=session.tree.children(node.id),
            label=labels.get(node.id),
        )
        for node in session.tree.nodes()
    }
    return results.EntryTree(
        roots=session.tree.children(None), nodes=nodes, leaf_id=session.leaf_id
    )


async def _last_text(
    context: RpcContext, _command: commands.GetLastAssistantText
) -> results.LastText:
    whole = (
        message.text
        for message in reversed(context.agent.messages)
        if isinstance(message, AssistantMessage) and message.stop_reason not in ("error", "aborted")
    )
    return results.LastText(text=next((text for text in whole if text.strip()), None))


HANDLERS: dict[type[commands.Command], Handling] = {
    commands.NewSession: Handling(_new, alone=True),
    commands.SwitchSession: Handling(_switch, alone=True),
    commands.Fork: Handling(_fork, alone=True),
    commands.Clone: Handling(_clone, alone=True),
    commands.Navigate: Handling(_navigate, alone=True, slow=True),
    commands.Drop: Handling(_drop, alone=True),
    commands.Restore: Handling(_restore, alone=True),
    commands.SetSessionName: Handling(_name),
    commands.GetState: Handling(_state),
    commands.GetMessages: Handling(_messages),
    commands.GetSessionStats: Handling(_stats),
    commands.ExportHtml: Handling(_export),
    commands.GetForkMessages: Handling(_fork_messages),
    commands.GetEntries: Handling(_entries),
    commands.GetTree: Handling(_tree),
    commands.GetLastAssistantText: Handling(_last_text),
}
