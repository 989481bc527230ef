"""Sloyd's own commands about the session: which one it is, what is in it, what leaves it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sloyd.errors import SessionError, UsageError
from sloyd.harness.commands import Command
from sloyd.harness.door import Door
from sloyd.harness.entry_choice import choose_entry, entry_row, is_user_message
from sloyd.llm.messages import AssistantMessage
from sloyd.sessions.entries import Entry
from sloyd.sessions.plain import entry_text

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = ["SESSION_COMMANDS"]

_MOST_ROWS = 50


async def _new(agent: CodingAgent, arguments: str, door: Door) -> None:
    await agent.conversation.start_new()
    if arguments:
        agent.session.set_name(arguments)
    await door.notify("a new session")


async def _resume(agent: CodingAgent, arguments: str, door: Door) -> None:
    from sloyd.sessions.catalogue import find_session, list_sessions
    from sloyd.sessions.session import Session

    cwd = agent.workspace.cwd
    path: Path | None = None
    if arguments:
        path = find_session(agent.sessions_directory, arguments, cwd)
    else:
        found = [
            summary
            for summary in list_sessions(agent.sessions_directory, cwd)
            if summary.path != str(agent.session.path)
        ][:_MOST_ROWS]
        if not found:
            raise SessionError(f"there is no other session of {cwd}")
        if not door.can_ask:
            raise UsageError("say which session: /resume ID, or its name")
        rows = [f"{summary.id[:8]}  {summary.title}" for summary in found]
        chosen = await door.select("Go on in which session?", rows)
        path = None if chosen is None else Path(found[chosen].path)
    if path is not None:
        await agent.conversation.use(Session.open(path, on_conflict="fork"), "open")
        await door.notify(f"session {agent.session.name or agent.session.id}")


async def _import(agent: CodingAgent, arguments: str, door: Door) -> None:
    if not arguments:
        raise UsageError("say which file: /import PATH")
    from sloyd.sessions.session import Session

    path = _path(agent, arguments)
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    await agent.conversation.use(Session.open(path, on_conflict="fork"), "open")
    await door.notify(f"session {agent.session.name or agent.session.id}, kept in {path}")


def _path(agent: CodingAgent, named: str) -> Path:
    return Path(agent.workspace.cwd) / Path(named.strip()).expanduser()


async def _name(agent: CodingAgent, arguments: str, door: Door) -> None:
    if not arguments:
        await door.notify(f"this session is called {agent.session.name or '(nothing yet)'}")
        return
    await agent.conversation.rename(arguments)
    await door.notify(f"this session is called {agent.session.name}")


async def _session(agent: CodingAgent, _arguments: str, door: Door) -> None:
    from sloyd.sessions.stats import session_stats

    session = agent.session
    stats = session_stats(session)
    usage = stats.usage
    window = agent.model.info.context_window
    lines = [
        f"session   {session.id}" + (f" ({session.name})" if session.name else ""),
        f"file      {session.path or '(in memory only)'}",
        f"messages  {stats.user_messages} from you, {stats.assistant_messages} answers",
        f"tools     {stats.tool_calls} calls, {stats.tool_results} results",
        f"tokens    {usage.input} in, {usage.output} out, {usage.cache_read} from the cache",
        f"context   about {agent.conversation.context_tokens()} of {window} tokens",
    ]
    if usage.cost.total:
        lines.append(f"cost      ${usage.cost.total:.4f}")
    await door.notify("\n".join(lines))


async def _clone(agent: CodingAgent, _arguments: str, door: Door) -> None:
    await agent.conversation.clone()
    await door.notify(f"going on in a copy: {agent.session.id}")


async def _fork(agent: CodingAgent, arguments: str, door: Door) -> None:
    entry = await choose_entry(
        agent.session, arguments, door, "Fork before which message?", is_user_message
    )
    if entry is not None:
        text = await agent.conversation.fork_at(entry.id)
        await door.notify(f"going on in a copy that ends before that message: {agent.session.id}")
        await door.set_editor_text(text)


async def _compact(agent: CodingAgent, arguments: str, door: Door) -> None:
    end = await agent.conversation.compact(arguments or None)
    if end.error_message is not None:
        raise SessionError(f"the summary failed: {end.error_message}")
    if end.entry_id is None:
        await door.notify("there is nothing to summarise yet")
    else:
        await door.notify(
            f"summarised {end.tokens_before} tokens; the context is now about"
            f" {agent.conversation.context_tokens()} tokens"
        )


async def _drop(agent: CodingAgent, arguments: str, door: Door) -> None:
    from sloyd.sessions.edits import dropped

    gone = dropped(agent.session)

    def fits(entry: Entry) -> bool:
        return entry.id not in gone and bool(entry_text(entry))

    entry = await choose_entry(
        agent.session, arguments, door, "Take which message out of the context?", fits
    )
    if entry is not None:
        ids = await agent.conversation.drop(entry.id)
        await door.notify(
            f"out of the context: {', '.join(ids)}; /restore {entry.id} brings it back"
        )


async def _restore(agent: CodingAgent, arguments: str, door: Door) -> None:
    from sloyd.sessions.edits import dropped

    gone = dropped(agent.session)
    entry = await choose_entry(
        agent.session,
        arguments,
        door,
        "Bring which message back into the context?",
        lambda entry: entry.id in gone,
    )
    if entry is not None:
        ids = await agent.conversation.restore(entry.id)
        await door.notify(f"back in the context: {', '.join(ids)}")


async def _export(agent: CodingAgent, arguments: str, door: Door) -> None:
    from sloyd.sessions.export import write_export

    path = _path(agent, arguments or f"session-{agent.session.id[:8]}.html")
    write_export(agent.session, path)
    await door.notify(f"written to {path}")


async def _copy(agent: CodingAgent, _arguments: str, door: Door) -> None:
    texts = (m.text for m in reversed(agent.messages) if isinstance(m, AssistantMessage))
    text = next((text for text in texts if text.strip()), None)
    if text is None:
        raise UsageError("there is no answer to copy yet")
    if not await door.copy(text):
        raise UsageError("this door has no clipboard; /export writes a file")
    await door.notify("the last answer is on the clipboard")


async def _entries(agent: CodingAgent, _arguments: str, door: Door) -> None:
    rows = [entry_row(entry) for entry in agent.session.branch() if entry_text(entry)]
    await door.notify("\n".join(rows) or "nothing has been said yet")


SESSION_COMMANDS: tuple[Command, ...] = (
    Command(name="new", hint="[name]", doc="Begin a new session", run=_new),
    Command(name="resume", hint="[id or name]", doc="Go on in another session", run=_resume),
    Command(name="import", hint="PATH", doc="Go on in the session of a file", run=_import),
    Command(
        name="name",
        hint="[text]",
        doc="Show or set this session's name",
        run=_name,
        while_running=True,
    ),
    Command(name="session", doc="File, counts, tokens and cost", run=_session, while_running=True),
    Command(
        name="messages", doc="List the messages with their ids", run=_entries, while_running=True
    ),
    Command(name="fork", hint="[id]", doc="Go on in a copy from before a message", run=_fork),
    Command(name="clone", doc="Go on in a copy of this branch", run=_clone),
    Command(name="compact", hint="[focus]", doc="Summarise older messages", run=_compact),
    Command(name="drop", hint="[id]", doc="Take a message out of the context", run=_drop),
    Command(name="restore", hint="[id]", doc="Bring a message back into it", run=_restore),
    Command(
        name="export",
        hint="[path]",
        doc="Write the session as .html, .md or .jsonl",
        run=_export,
        while_running=True,
    ),
    Command(name="copy", doc="Put the last answer on the clipboard", run=_copy, while_running=True),
)
