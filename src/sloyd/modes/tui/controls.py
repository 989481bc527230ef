"""What the keys of the app and of the transcript do, by the names of the key table."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import events

from sloyd.harness.model_offer import next_model
from sloyd.modes.tui.blocks import NoticeBlock

if TYPE_CHECKING:
    from sloyd.modes.tui.app import SloydApp

__all__ = ["Controls"]

_TWICE = 0.6
"""Seconds within which a second Escape counts as twice."""
_TWICE_LEAVES = 2.0
"""The same for the key that leaves."""


class Controls:
    """The controls of one app."""

    def __init__(self, app: SloydApp) -> None:
        self._app = app
        self._last_escape = 0.0
        self._last_clear = 0.0
        transcript = app.transcript
        self._acts: dict[str, Callable[[], object]] = {
            "app.interrupt": self.interrupt,
            "app.clear": self.clear,
            "app.exit": self._exit,
            "app.suspend": app.action_suspend_process,
            "app.redraw": lambda: app.refresh(repaint=True, layout=True),
            "model.pick": lambda: app.start(app.screens.pick_model()),
            "model.next": lambda: app.start(self._cycle_model(1)),
            "model.previous": lambda: app.start(self._cycle_model(-1)),
            "thinking.next": lambda: app.start(self._cycle_thinking()),
            "thinking.toggle": self._toggle_thinking,
            "tools.toggle": self._toggle_tools,
            "copy.answer": self._copy,
            "view.page_up": lambda: transcript.page(-1),
            "view.page_down": lambda: transcript.page(1),
            "view.top": transcript.go_top,
            "view.bottom": transcript.go_end,
            "view.previous_prompt": lambda: transcript.go_prompt(-1),
            "view.next_prompt": lambda: transcript.go_prompt(1),
            "view.search": app.search_bar.open,
        }

    def hear(self, event: events.Key) -> bool:
        """Act on a key that nobody before has used; false when it means nothing here either."""
        action = self._app.keys.action(event.key, "app", "transcript")
        if action is not None:
            self._acts[action]()
            return True
        if event.is_printable and event.character and not self._app.composer.has_focus_within:
            # Wherever a click has put the focus, what is typed belongs into the composer.
            self._app.composer.focus()
            self._app.composer.insert(event.character)
            return True
        return False

    def interrupt(self) -> None:
        """Stop what runs; where nothing runs, the second time opens the tree."""
        app = self._app
        now = time.monotonic()
        if app.screen.selections:
            app.screen.clear_selection()
        elif app.talk.stop_shell():
            return
        elif app.agent.is_running or app.activity.doing == "compacting":
            app.agent.abort()
            app.take_back()
        elif now - self._last_escape < _TWICE and not app.composer.text:
            self._last_escape = 0.0
            app.start(app.screens.open_tree())
            return
        self._last_escape = now

    def clear(self) -> None:
        """Copy what is selected, else clear what is written, else stop; the second time leave."""
        app = self._app
        now = time.monotonic()
        if self.copy_selection():
            app.screen.clear_selection()
        elif app.composer.text:
            app.composer.set_text("")
        elif now - self._last_clear < _TWICE_LEAVES:
            app.leave()
        else:
            self._last_clear = now
            if app.agent.is_running:
                app.agent.abort()
                app.take_back()
            app.notify(f"{app.keys.shown('app.clear')} again leaves", timeout=_TWICE_LEAVES)

    def copy_selection(self) -> bool:
        """Put what is selected on the clipboard; false when nothing is."""
        text = self._app.screen.get_selected_text()
        if not text:
            return False
        self._app.copy_to_clipboard(text)
        return True

    def _exit(self) -> None:
        if not self._app.composer.text:
            self._app.leave()

    def _copy(self) -> None:
        app = self._app
        if self.copy_selection():
            app.screen.clear_selection()
            return
        answer = app.feed.last_answer
        if answer:
            app.copy_to_clipboard(answer)
            app.notify("the last answer is on the clipboard", timeout=2)

    async def _cycle_model(self, step: int) -> None:
        app = self._app
        name = next_model(app.agent, step)
        if name is None:
            app.transcript.add(NoticeBlock("there is no other model to change to"))
        else:
            await app.agent.set_model(name)

    async def _cycle_thinking(self) -> None:
        agent = self._app.agent
        levels = agent.model.info.thinking_levels
        at = levels.index(agent.thinking) if agent.thinking in levels else -1
        await agent.set_thinking(levels[(at + 1) % len(levels)])

    def _toggle_thinking(self) -> None:
        shown = self._app.transcript.shown
        self._app.show(replace(shown, thinking=not shown.thinking))

    def _toggle_tools(self) -> None:
        shown = self._app.transcript.shown
        self._app.show(replace(shown, tools=not shown.tools))
