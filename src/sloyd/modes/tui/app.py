"""The app: the screen, what it hears from the agent, and how it begins and ends."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.driver import Driver
from textual.filter import Monochrome, NoColor
from textual.screen import Screen
from textual.timer import Timer

from sloyd.agent.events import AgentStart, MessageEnd, QueueUpdate, RetryEnd, RetryStart
from sloyd.errors import SettingsError, SloydError
from sloyd.harness.events import (
    AgentSettled,
    CompactionEnd,
    CompactionStart,
    HarnessEvent,
    SessionChanged,
)
from sloyd.llm.messages import AssistantMessage, UserMessage
from sloyd.modes.tui.activity import Activity
from sloyd.modes.tui.blocks import NoticeBlock
from sloyd.modes.tui.canvas import Shown
from sloyd.modes.tui.composer import Composer
from sloyd.modes.tui.controls import Controls
from sloyd.modes.tui.driver import driver_class
from sloyd.modes.tui.feed import Feed
from sloyd.modes.tui.footer import Footer
from sloyd.modes.tui.from_session import blocks_of
from sloyd.modes.tui.image_cells import draws_images
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.messages import Interrupt, Submitted, TakeBack
from sloyd.modes.tui.screen_door import ScreenDoor
from sloyd.modes.tui.screens import Screens
from sloyd.modes.tui.search_bar import SearchBar
from sloyd.modes.tui.status import Status
from sloyd.modes.tui.talk import Talk
from sloyd.modes.tui.terminal_signs import TerminalSigns
from sloyd.modes.tui.theme import DARK, TERMINAL, Theme, find_theme
from sloyd.modes.tui.transcript import Transcript
from sloyd.sessions.entries import CompactionEntry

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = ["MainScreen", "SloydApp"]

_LONG_RUN = 15.0
"""Seconds of a run whose end is worth a notification."""


class MainScreen(Screen[None], inherit_bindings=False):
    """The screen under all others. Keys go through our own table, not through bindings."""

    AUTO_FOCUS = "PromptArea"
    BINDINGS: ClassVar[list[BindingType]] = []


class SloydApp(App[int], inherit_bindings=False):
    """A conversation with an open agent. Its return value is the exit code."""

    BINDINGS: ClassVar[list[BindingType]] = []
    ENABLE_COMMAND_PALETTE = False
    CSS = "MainScreen { layout: vertical; background: $background; color: $foreground; }"

    def __init__(
        self,
        agent: CodingAgent,
        keys: KeyMap,
        prompts: Sequence[UserMessage] = (),
        *,
        resume: bool = False,
    ) -> None:
        no_color = os.environ.get("NO_COLOR")
        super().__init__(driver_class=driver_class())
        if no_color is not None:
            # Textual takes it away, but the commands that we run should still see it.
            os.environ["NO_COLOR"] = no_color
        self.animation_level = "none"
        self.agent = agent
        self.keys = keys
        self._prompts = prompts
        self._resume = resume
        display = agent.settings.display
        self._look_problem = ""
        self.look = self._find_look(display.theme)
        self._wear(self.look)
        self.transcript = Transcript(
            self.look,
            shown=Shown(
                hide_thinking=display.hide_thinking,
                images=display.images and draws_images(os.environ),
            ),
            cwd=agent.workspace.cwd,
            registry=agent.registry,
        )
        self.activity = Activity(
            self.look, stop_key=keys.shown("app.interrupt"), still=display.reduced_motion
        )
        self.composer = Composer(agent, keys, agent.home / "history.jsonl")
        self.search_bar = SearchBar(self.transcript, keys)
        self.footer = Footer(self.look)
        self.feed = Feed(self.transcript, self._summary_of)
        self.status = Status(agent)
        self.door = ScreenDoor(self, self.transcript, self.composer, keys, self.leave)
        self.screens = Screens(agent, keys, self.door, self._catch_up)
        self.talk = Talk(
            agent,
            self.transcript,
            self.door,
            start=self.start,
            restore=self._restore,
            shell_changed=self._shell_changed,
            done=self._catch_up,
        )
        self.controls = Controls(self)
        self.signs = TerminalSigns(self._to_terminal)
        self._unsubscribe = agent.subscribe(self._hear)
        self._tasks: set[asyncio.Task[None]] = set()
        self._footer_timer: Timer | None = None

    # Beginning and ending

    def get_default_screen(self) -> Screen[None]:
        return MainScreen()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return {"muted": DARK.colours["muted"], "thinking": DARK.colours["thinking"]}

    def compose(self) -> ComposeResult:
        yield self.transcript
        yield self.activity
        yield self.search_bar
        yield self.composer
        yield self.footer

    def on_mount(self) -> None:
        self.composer.focus()
        self.agent.door = self.door
        self.screens.install()
        self.signs.begin()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        """What may take a moment comes after the first frame."""
        self._show_session()
        # A long conversation is many objects that stay; going through them all stops the screen.
        gc.freeze()
        self.set_interval(1.0, self.feed.tick)
        for problem in (*self.keys.problems, self._look_problem):
            if problem:
                self.transcript.add(NoticeBlock(problem, "warning"))
        self.start(self._say_first())

    @on(Driver.SignalResume)
    def _draw_anew(self) -> None:
        """Back in the foreground: another program has used the terminal meanwhile."""
        self.refresh(layout=True)

    async def _say_first(self) -> None:
        await self.agent.tell_notices()
        if self._resume:
            await self.screens.pick_session()
        for prompt in self._prompts:
            await self.talk.prompt(prompt)

    def leave(self, code: int = 0) -> None:
        """End the app; a run is stopped first, so that its history is complete."""
        self.agent.abort()
        self.talk.stop_shell()
        self.exit(code)

    async def on_unmount(self) -> None:
        self._unsubscribe()
        self.signs.end()
        self.agent.abort()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run something beside the screen. Expected failures are told, others end the app."""
        task = asyncio.create_task(self._told(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _told(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except SloydError as error:
            self.transcript.add(NoticeBlock(str(error), "error"))
        except Exception as error:  # noqa: BLE001 - a fault of ours must be seen, not swallowed
            self._handle_exception(error)
        self.refresh_footer()

    # What the agent tells

    def _hear(self, event: HarnessEvent) -> None:
        self.feed.hear(event)
        match event:
            case AgentStart():
                self._working(active=True)
            case MessageEnd(message=AssistantMessage() as message):
                self.status.answered(message)
            case RetryStart():
                self.activity.begin(
                    "retrying", reason=event.error_message, seconds=event.delay_ms / 1000
                )
            case RetryEnd(success=True):
                self.activity.begin("working")
            case CompactionStart():
                self.activity.begin("compacting")
            case CompactionEnd():
                self.activity.begin("working" if self.agent.is_running else "idle")
            case QueueUpdate():
                self._show_queue([*event.steering, *event.follow_up])
            case SessionChanged(reason=reason) if reason not in ("name", "edit"):
                self._show_session()
            case AgentSettled():
                self._settled(event)
            case _:
                pass
        self.refresh_footer()

    def _working(self, *, active: bool) -> None:
        if active:
            self.activity.begin("working")
        else:
            self.activity.end()
        self.signs.progress(active=active)
        self._show_title(working=active)

    def _settled(self, event: AgentSettled) -> None:
        took = self.activity.seconds
        self._working(active=False)
        self.status.look_around()
        if took >= _LONG_RUN and self.agent.settings.display.notify and not self.app_focus:
            self.signs.notify(f"{event.outcome}: {os.path.basename(self.agent.workspace.cwd)}")

    def _show_queue(self, waiting: Sequence[str]) -> None:
        self.composer.set_queue(waiting)
        self.status.queued(len(waiting))

    def _shell_changed(self, running: bool) -> None:
        if not self.agent.is_running:
            self.activity.begin("shell" if running else "idle")
        self.status.look_around()
        self.refresh_footer()

    def _show_session(self) -> None:
        """Show the conversation as the session has it."""
        self.transcript.clear()
        self.feed.forget()
        self.transcript.extend(blocks_of(self.agent.session.branch()))
        self.status.count_again()
        self.status.look_around()
        self._show_title(working=self.agent.is_running)
        self.refresh_footer()

    def _summary_of(self, entry_id: str) -> str:
        entry = self.agent.session.entry(entry_id)
        return entry.summary if isinstance(entry, CompactionEntry) else ""

    def _show_title(self, *, working: bool) -> None:
        name = self.agent.session.name or os.path.basename(self.agent.workspace.cwd) or "/"
        self.signs.title(f"{'* ' if working else ''}{name} - sloyd")

    def refresh_footer(self) -> None:
        """Let the footer say what is true now, soon; many events come at once."""
        if self._footer_timer is None and self.is_running:
            self._footer_timer = self.set_timer(0.1, self._draw_footer)

    def _draw_footer(self) -> None:
        self._footer_timer = None
        behind = "" if self.transcript.following else self.keys.shown("view.bottom")
        self.footer.show(self.status.facts(behind=behind))

    # What the person does

    @on(Submitted)
    def _send(self, event: Submitted) -> None:
        event.stop()
        self.transcript.go_end()
        self.talk.send(event.text, event.images, follow_up=event.follow_up)

    @on(Interrupt)
    def _interrupt(self, event: Interrupt) -> None:
        event.stop()
        self.controls.interrupt()

    @on(TakeBack)
    def _take_back(self, event: TakeBack) -> None:
        event.stop()
        self.take_back()

    def take_back(self) -> None:
        """Put the waiting messages before what is written."""
        texts = [self.talk.take_back(), self.composer.text]
        if texts[0]:
            self.composer.set_text("\n\n".join(text for text in texts if text))
        self._show_queue([])
        self.refresh_footer()

    def _restore(self, text: str) -> None:
        if not self.composer.text:
            self.composer.set_text(text)

    @on(SearchBar.Closed)
    def _search_closed(self, event: SearchBar.Closed) -> None:
        event.stop()
        self.composer.focus()

    def on_key(self, event: events.Key) -> None:
        if len(self.screen_stack) == 1 and self.controls.hear(event):
            event.stop()
            event.prevent_default()

    def on_transcript_follow_changed(self) -> None:
        self.refresh_footer()

    def on_text_selected(self) -> None:
        self.controls.copy_selection()

    # How it looks

    def _find_look(self, name: str) -> Theme:
        if os.environ.get("NO_COLOR"):
            return replace(TERMINAL, name="no-color")
        self._look_problem = ""
        try:
            return find_theme(name, self.agent.home)
        except SettingsError as error:
            self._look_problem = str(error)
            return DARK

    def _wear(self, look: Theme) -> None:
        self.register_theme(look.textual())
        self.theme = f"sloyd-{look.name}"
        if self.no_color:
            # Textual chose its filter before it knew the theme, and would paint black on black.
            self._filters = [NoColor() if isinstance(f, Monochrome) else f for f in self._filters]
        if not look.native:
            self.ansi_theme_dark = self.ansi_theme_light = look.terminal_theme()

    def _catch_up(self) -> None:
        """After a command: settings, tools and commands may be others now."""
        display = self.agent.settings.display
        self.screens.install()
        self.transcript.use_registry(self.agent.registry)
        shown = self.transcript.shown
        images = display.images and draws_images(os.environ)
        wanted = replace(shown, hide_thinking=display.hide_thinking, images=images)
        if wanted != shown:
            self.show(wanted)
        self.activity.still = display.reduced_motion
        look = self._find_look(display.theme)
        if look != self.look:
            self.look = look
            self._wear(look)
            for part in (self.transcript, self.activity, self.footer):
                part.use_theme(look)
        if self._look_problem:
            self.transcript.add(NoticeBlock(self._look_problem, "warning"))
        self.refresh_footer()

    def show(self, shown: Shown) -> None:
        """Open or fold in the transcript."""
        self.transcript.show(shown)

    def _to_terminal(self, sequence: str) -> None:
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)
