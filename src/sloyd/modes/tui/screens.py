"""The pickers and what follows from a choice in them; each is loaded when it is first opened."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from sloyd.errors import SessionError
from sloyd.harness.commands import Command, submit
from sloyd.harness.door import Door
from sloyd.harness.entry_choice import is_user_message
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.messages import TreeAction
from sloyd.modes.tui.screen_door import ScreenDoor
from sloyd.sessions.plain import entry_text
from sloyd.sessions.session import Session

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = ["Screens"]


class Screens:
    """Opens the pickers of an agent. ``changed`` is called when settings are in force."""

    def __init__(
        self, agent: CodingAgent, keys: KeyMap, door: ScreenDoor, changed: Callable[[], None]
    ) -> None:
        self._changed = changed
        self._agent = agent
        self._keys = keys
        self._door = door

    def install(self) -> None:
        """Let commands that ask open a picker; given an argument they do what they always do."""
        commands = self._agent.commands
        for name, opens in (
            ("model", self.pick_model),
            ("thinking", self.pick_thinking),
            ("resume", self.pick_session),
            ("tree", self.open_tree),
            ("settings", self.open_settings),
        ):
            known = commands.get(name)
            if known is not None and known.source == "screen":
                continue
            commands.add(_command(name, known, opens))

    async def pick_model(self) -> None:
        """Choose what answers."""
        from sloyd.modes.tui.pickers.model_picker import ModelPicker

        picked = await self._door.ask(ModelPicker(self._agent, self._keys))
        if picked is not None:
            await self._agent.set_model(picked.choice)

    async def pick_thinking(self) -> None:
        """Choose how much it reasons."""
        from sloyd.modes.tui.pickers.thinking_picker import ThinkingPicker

        level = await self._door.ask(ThinkingPicker(self._agent, self._keys))
        if level is not None:
            await self._agent.set_thinking(level)

    async def pick_session(self) -> None:
        """Go on in another session."""
        from sloyd.modes.tui.pickers.session_picker import SessionPicker

        path = await self._door.ask(SessionPicker(self._agent, self._keys))
        if path is not None and path != self._agent.session.path:
            session = Session.open(path, on_conflict="fork")
            await self._agent.conversation.use(session, "open")

    async def open_tree(self) -> None:
        """Go to another place of the conversation."""
        from sloyd.modes.tui.tree_screen import TreeScreen

        action = await self._door.ask(TreeScreen(self._agent, self._keys))
        if action is not None:
            await self._act(action)

    async def open_settings(self) -> None:
        """Change settings."""
        from sloyd.modes.tui.settings_screen import SettingsScreen

        changed = await self._door.ask(SettingsScreen(self._agent, self._keys))
        if not changed:
            return
        if self._agent.is_running:
            await self._door.notify("/reload puts the settings in force once the model is done")
        else:
            await self._agent.reload()
            self._changed()

    async def _act(self, action: TreeAction) -> None:
        agent, conversation = self._agent, self._agent.conversation
        match action.kind:
            case "navigate" | "summarise":
                target, text = self._place(action.entry_id)
                await conversation.navigate(target, summarise=action.kind == "summarise")
                if text:
                    await self._door.set_editor_text(text)
            case "fork" if action.entry_id is not None:
                await self._door.set_editor_text(await conversation.fork_at(action.entry_id))
            case "rewind" if action.entry_id is not None:
                await submit(agent, f"/rewind {action.entry_id}", self._door)
            case "copy" if action.entry_id is not None:
                await self._door.copy(entry_text(agent.session.entry(action.entry_id)))
            case _:
                raise SessionError("that cannot be done before the first message")

    def _place(self, entry_id: str | None) -> tuple[str | None, str]:
        """Where to go on: from a prompt's parent, with its text to be changed and sent again."""
        if entry_id is None:
            return None, ""
        entry = self._agent.session.entry(entry_id)
        if is_user_message(entry):
            return entry.parent_id, entry_text(entry)
        return entry_id, ""


def _command(name: str, known: Command | None, opens: Callable[[], Awaitable[None]]) -> Command:
    docs = {"tree": "Go to another place of the conversation", "settings": "Change settings"}

    async def run(agent: CodingAgent, arguments: str, door: Door) -> str | None:
        if arguments and known is not None:
            return await known.run(agent, arguments, door)
        await opens()
        return None

    return Command(
        name=name,
        doc=known.doc if known is not None else docs[name],
        run=run,
        hint=known.hint if known is not None else "",
        source="screen",
        while_running=known.while_running if known is not None else name == "settings",
        complete=known.complete if known is not None else None,
    )
