"""An agent and its session in step: what is said is saved, and what is saved is read again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio
import msgspec
from anyio.to_thread import run_sync

from sloyd.agent.agent import Agent
from sloyd.agent.events import AgentEnd, AgentEvent, MessageEnd
from sloyd.errors import AgentBusy, SessionError, SloydError, UsageError
from sloyd.harness.events import (
    CompactionEnd,
    CompactionStart,
    HarnessEvent,
    Notice,
    SessionChanged,
)
from sloyd.harness.settings import CompactionSettings
from sloyd.llm.messages import AssistantMessage, Message
from sloyd.sessions.cut import CompactionSettings as CutSettings
from sloyd.sessions.cut import should_compact
from sloyd.sessions.entries import ModelChangeEntry, ThinkingLevelChangeEntry
from sloyd.sessions.estimate import context_tokens, estimate_message, estimate_text, usage_tokens
from sloyd.sessions.session import Session

if TYPE_CHECKING:
    from sloyd.sessions.compacting import CompactionReason
    from sloyd.sessions.entries import SessionMessage
    from sloyd.sessions.journal import Journal
    from sloyd.sessions.rewind import RewindPlan
    from sloyd.workspace.base import Workspace

__all__ = ["Conversation"]


class Conversation:
    """Keeps an agent's messages and a session the same thing.

    Every message is in the session before any listener hears that it is complete. Everything that
    changes which messages there are (another session or branch, compaction, edits) goes through
    here, while the agent is idle.
    """

    def __init__(
        self,
        agent: Agent,
        session: Session,
        *,
        sessions: Path,
        compaction: CompactionSettings,
        emit: Callable[[HarnessEvent], Awaitable[None]],
        journal: Journal | None = None,
    ) -> None:
        self._agent = agent
        self._session = session
        self._journal = journal
        self._held: list[SessionMessage] = []
        self._stale: set[int] = set()
        self._told = ""
        self._compacting: anyio.CancelScope | None = None
        self._sessions = sessions
        self.use_compaction(compaction)
        self._emit = emit
        agent.subscribe(self._save)
        self._follow()
        self._load()

    @property
    def session(self) -> Session:
        """The session that is spoken in."""
        return self._session

    def use_compaction(self, settings: CompactionSettings) -> None:
        """Compact as these settings say from now on."""
        self._compaction = CutSettings(
            enabled=settings.enabled,
            reserve_tokens=settings.reserve_tokens,
            keep_recent_tokens=settings.keep_recent_tokens,
        )

    @property
    def auto_compaction(self) -> bool:
        """Whether old messages are summarised before the window is full."""
        return self._compaction.enabled

    @auto_compaction.setter
    def auto_compaction(self, enabled: bool) -> None:
        self._compaction = msgspec.structs.replace(self._compaction, enabled=enabled)

    async def _save(self, event: AgentEvent) -> None:
        if isinstance(event, AgentEnd):
            self._told = ""
            await self._sync()
        if not isinstance(event, MessageEnd):
            return
        try:
            self._session.append_message(event.message)
        except SessionError as error:
            # Going on would show people what is saved nowhere.
            self._agent.abort()
            text = f"stopped: {error}"
            if not self._session.is_saved:
                text += "; --session-dir names another place, --no-session keeps it in memory"
            # The answer that is cut short cannot be saved either; once is enough.
            if text != self._told:
                self._told = text
                await self._emit(Notice(message=text, level="error"))
        if self._session.notices:
            # Another process writes to the file; the session goes on in a copy.
            self._follow()
            await self._changed("fork")

    async def _sync(self) -> None:
        try:
            await run_sync(self._session.sync)
        except SessionError as error:
            await self._emit(Notice(message=f"the session may not last: {error}", level="error"))

    async def add(self, message: SessionMessage) -> None:
        """Put a message beside those of the model, such as a command that the user ran.

        During a run it waits for the run's end, where it can part no call from its result.
        Raises `SessionError` when it cannot be saved.
        """
        self._held.append(message)
        if not self._agent.is_running:
            self.add_held()

    def add_held(self) -> None:
        """Take in what waited for the end of a run."""
        if self._held:
            held, self._held = self._held, []
            for message in held:
                self._session.append_message(message)
            self._load()

    def _follow(self) -> None:
        """Let changes of files and requests bear the id of the session."""
        if self._journal is not None:
            self._journal.session_id = self._session.id
        options = self._agent.options
        self._agent.options = msgspec.structs.replace(options, session_id=self._session.id)

    def _load(self) -> None:
        context = self._session.context()
        self._agent.messages = context.messages
        # What answers counted before a compaction or an edit is the size of another context.
        self._stale = {id(item.message) for item in context.items if not item.measured}

    def note_model(self) -> None:
        """Keep in the session what answers, where it is not what the session says already."""
        known = self._session.context()
        info, thinking = self._agent.model.info, self._agent.options.thinking
        if (known.provider, known.model_id) != (info.provider, info.id):
            self._session.append(ModelChangeEntry(provider=info.provider, model_id=info.id))
        if known.thinking_level != thinking:
            self._session.append(ThinkingLevelChangeEntry(thinking_level=thinking))

    # Other sessions, other branches

    async def use(self, session: Session, reason: Literal["new", "open", "fork", "clone"]) -> None:
        """Go on in another session; the old one is closed. Raises `AgentBusy` during a run."""
        self._demand_idle()
        old, self._session = self._session, session
        self._follow()
        self._load()
        if old is not session:
            old.close()
        await self._changed(reason)

    async def start_new(self) -> None:
        """A fresh session in the same place."""
        path = self._session.path
        cwd = self._session.cwd
        fresh = Session.in_memory(cwd) if path is None else Session.create(self._sessions, cwd)
        await self.use(fresh, "new")

    async def fork_at(self, entry_id: str) -> str:
        """Go on in a copy that ends before a user message; returns that message's text."""
        from sloyd.sessions.forks import fork

        self._demand_idle()
        copy, text = fork(self._session, entry_id, sessions=self._sessions)
        await self.use(copy, "fork")
        return text

    async def clone(self) -> None:
        """Go on in a copy of the active branch."""
        from sloyd.sessions.forks import clone

        self._demand_idle()
        await self.use(clone(self._session, sessions=self._sessions), "clone")

    async def rename(self, name: str) -> None:
        """Give the session a name; an empty one takes it away."""
        self._session.set_name(name)
        await self._changed("name")

    async def navigate(self, entry_id: str | None, *, summarise: bool = False) -> None:
        """Go on from another entry of the tree; a summary tells the model of the branch left."""
        self._demand_idle()
        summary = None
        if summarise:
            from sloyd.sessions.branch_summary import summarise_branch

            summary = await summarise_branch(self._session, entry_id, self._agent.model)
        if summary is not None:
            self._session.append_at(summary, entry_id)
        else:
            self._session.navigate(entry_id)
        self._load()
        await self._changed("navigate")

    async def plan_rewind(self, entry_id: str, workspace: Workspace) -> RewindPlan:
        """What going back to a message would do to files and conversation; nothing is changed.

        Raises `UsageError` where changes of files are not recorded, else as
        `sloyd.sessions.rewind.plan_rewind` does.
        """
        from sloyd.sessions.rewind import plan_rewind

        return await plan_rewind(self._session, entry_id, self._recorded(), workspace)

    async def rewind(self, plan: RewindPlan, workspace: Workspace, *, force: bool = False) -> None:
        """Go back as planned, with the files; see `sloyd.sessions.rewind.rewind`."""
        self._demand_idle()
        from sloyd.sessions.rewind import rewind

        await rewind(plan, self._session, self._recorded(), workspace, force=force)
        self._load()
        await self._changed("navigate")

    def _recorded(self) -> Journal:
        if self._journal is None:
            raise UsageError("changes of files are not recorded in this workspace")
        return self._journal

    async def drop(self, entry_id: str) -> tuple[str, ...]:
        """Take a message out of the context; returns the entries that went with it."""
        from sloyd.sessions.edits import drop

        self._demand_idle()
        gone = drop(self._session, entry_id)
        self._load()
        await self._changed("edit")
        return gone

    async def restore(self, entry_id: str) -> tuple[str, ...]:
        """Put a message back into the context; returns the entries that came with it."""
        from sloyd.sessions.edits import restore

        self._demand_idle()
        back = restore(self._session, entry_id)
        self._load()
        await self._changed("edit")
        return back

    async def _changed(
        self, reason: Literal["new", "open", "fork", "clone", "navigate", "edit", "name"]
    ) -> None:
        for notice in self._session.notices:
            await self._emit(Notice(message=notice, level="warning"))
        self._session.notices.clear()
        await self._emit(
            SessionChanged(session_id=self._session.id, reason=reason, name=self._session.name)
        )

    def _demand_idle(self) -> None:
        if self._agent.is_running:
            raise AgentBusy("The session cannot change while the agent works; stop it first.")

    # Compaction

    async def compact(
        self, instructions: str | None = None, reason: CompactionReason = "manual"
    ) -> CompactionEnd:
        """Summarise older messages. What failed is in the event, and nothing has changed then."""
        from sloyd.sessions.compacting import compact_session

        await self._emit(CompactionStart(reason=reason))
        end = CompactionEnd(reason=reason, error_message="stopped")
        with anyio.CancelScope() as self._compacting:
            try:
                entry = await compact_session(
                    self._session,
                    self._agent.model,
                    reason=reason,
                    instructions=instructions,
                    settings=self._compaction,
                    overhead=self._overhead(),
                    thinking=self._agent.options.thinking,
                )
            except SloydError as error:
                end = CompactionEnd(reason=reason, error_message=str(error))
            else:
                if entry is not None:
                    self._load()
                end = CompactionEnd(
                    reason=reason,
                    entry_id=entry.id if entry else None,
                    tokens_before=entry.tokens_before if entry else 0,
                )
        self._compacting = None
        await self._emit(end)
        return end

    @property
    def is_compacting(self) -> bool:
        """Whether older messages are being summarised."""
        return self._compacting is not None

    def stop_compaction(self) -> None:
        """Give up the summary that is being made; nothing changes then."""
        if self._compacting is not None:
            self._compacting.cancel()

    async def compact_if_needed(self) -> None:
        """Before a request: make room when the window is nearly full."""
        window = self._agent.model.info.context_window
        if not should_compact(self.context_tokens(), window, self._compaction):
            return
        # An answer from before a compaction still tells the old size; only the session knows that.
        exact = context_tokens(self._session.context().items, self._overhead())
        if should_compact(exact, window, self._compaction):
            await self.compact(reason="threshold")

    def context_tokens(self) -> int:
        """About how many tokens the next request will carry."""
        messages = self._agent.messages
        after = 0
        for message in reversed(messages):
            counted = 0 if id(message) in self._stale else _counted(message)
            if counted:
                return counted + after
            after += estimate_message(message)
        return after + self._overhead()

    def _overhead(self) -> int:
        prompt = estimate_text(self._agent.system_prompt)
        return prompt + sum(
            estimate_text(tool.description) + estimate_text(str(tool.parameters))
            for tool in self._agent.tools
        )

    def hide_failed_answer(self) -> None:
        """Leave a failed last answer out of the context, so that it can be asked for again."""
        from sloyd.sessions.edits import hide

        for item in reversed(self._session.context().items):
            if isinstance(item.message, AssistantMessage):
                if item.message.stop_reason in ("error", "aborted", "length"):
                    try:
                        hide(self._session, item.entry_id)
                    except SessionError:
                        return
                    self._load()
                return


def _counted(message: Message) -> int:
    """The context's size as the provider counted it with this answer, or 0."""
    if not isinstance(message, AssistantMessage) or message.stop_reason in ("error", "aborted"):
        return 0
    return usage_tokens(message.usage)
