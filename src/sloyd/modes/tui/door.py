"""``sloyd`` on a terminal: the screen from its first frame to the terminal as it was before."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sloyd.llm.messages import UserMessage
from sloyd.modes.tui.app import SloydApp
from sloyd.modes.tui.early_frame import EarlyFrame
from sloyd.modes.tui.keys import load_keys
from sloyd.modes.tui.literal_paste import use_literal_paste
from sloyd.modes.tui.terminal_keys import teach_keys

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = ["tui_door"]


async def tui_door(
    agent: CodingAgent,
    prompts: Sequence[UserMessage],
    frame: EarlyFrame | None = None,
    *,
    resume: bool = False,
) -> int:
    """Talk on the screen until the person leaves. Returns the exit code.

    ``frame`` is on the screen until the app draws. ``resume`` lets a session be chosen first.
    """
    teach_keys()
    use_literal_paste()
    app = SloydApp(agent, load_keys(agent.home / "keybindings.toml"), prompts, resume=resume)
    if frame is not None:
        frame.hand_over()
    with _leaving_on_signals(app):
        code = await app.run_async()
    if app.return_code == 0:
        _say_farewell(app, agent)
    return code if code is not None else app.return_code or 0


def _say_farewell(app: SloydApp, agent: CodingAgent) -> None:
    """Leave the end of the talk in the terminal's own memory, where one can scroll and copy."""
    from sloyd.modes.output import Output
    from sloyd.modes.tui.farewell import farewell

    session = agent.session
    go_on = f"sloyd --session {session.id} goes on from here" if session.is_saved else ""
    transcript = app.transcript
    text = farewell(transcript.blocks, transcript.canvas, go_on, colours=not app.no_color)
    Output("stdout").write(text)


@contextmanager
def _leaving_on_signals(app: SloydApp) -> Iterator[None]:
    """A signal that would kill us ends the app instead, so that the terminal is restored."""
    loop = asyncio.get_running_loop()
    heard: list[signal.Signals] = []

    def leave(number: signal.Signals) -> None:
        if heard:
            from sloyd.workspace.processes import stop_all_nowait

            stop_all_nowait()
        heard.append(number)
        app.leave(128 + number)

    names = ("SIGTERM", "SIGHUP", "SIGINT")
    signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
    for each in signals:
        loop.add_signal_handler(each, leave, each)
    try:
        yield
    finally:
        for each in signals:
            loop.remove_signal_handler(each)
