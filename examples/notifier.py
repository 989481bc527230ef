"""Tell when a run that took a while has ended, with a command of your own or the terminal's bell.

sloyd -e examples/notifier.py --notify-with 'notify-send Sloyd "$SLOYD_MESSAGE"'
sloyd -e examples/notifier.py --notify-after 30
"""

from __future__ import annotations

import os
import sys
import time

import anyio

from sloyd import ExtensionApi
from sloyd.agent.events import AgentStart
from sloyd.harness.events import AgentSettled


def setup(api: ExtensionApi) -> None:
    """Listen to the beginning and the end of what is asked."""
    command = api.flag("notify-with", "text", "Shell command to run when a long run ends", "")
    seconds = api.flag("notify-after", "number", "How long a run is long, in seconds", 10.0)
    began = time.monotonic()

    @api.on(AgentStart)
    def note(event: AgentStart) -> None:
        nonlocal began
        began = time.monotonic()

    @api.on(AgentSettled)
    async def tell(event: AgentSettled) -> None:
        took = time.monotonic() - began
        if took < seconds:
            return
        message = f"{event.outcome} after {took:.0f} s: {event.error_message or 'ready for you'}"
        if command:
            # The message goes through the environment, so nothing in it is ever shell text.
            environment = {**os.environ, "SLOYD_MESSAGE": message}
            await anyio.run_process(command, env=environment, check=False, stdin=None)
        elif sys.stderr.isatty():
            sys.stderr.write("\a")
            sys.stderr.flush()
