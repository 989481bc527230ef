"""The JSON door: every event of the run as one line, for programs that only listen.

The exit code is the print door's: a failed model is never a success here either.
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import anyio.to_thread

from sloyd.agent.result import RunResult
from sloyd.harness.coding_agent import CodingAgent
from sloyd.harness.events import HarnessEvent
from sloyd.llm.messages import UserMessage
from sloyd.modes.output import Output, ReaderGone, json_line
from sloyd.modes.print import exit_code, report_failure
from sloyd.modes.signals import stopping_on_signals

__all__ = ["jsonl_door"]


async def jsonl_door(agent: CodingAgent, prompts: Sequence[UserMessage]) -> int:
    """Run each prompt in turn and write every event. Returns the exit code."""
    out, errors = Output("stdout"), Output("stderr")
    gone: list[ReaderGone] = []

    async def write(event: HarnessEvent) -> None:
        # The loop waits for its listeners, so a slow reader slows the run and loses nothing. A
        # write that has to wait does so in a thread, which leaves tools and signals alive.
        line = json_line(event)
        try:
            if out.would_block(len(line)):
                await anyio.to_thread.run_sync(out.write, line)
            else:
                out.write(line)
        except ReaderGone as error:
            gone.append(error)
            agent.abort()

    agent.subscribe(write)
    out.write(json_line(agent.header()))
    async with stopping_on_signals(agent.abort) as interruption:
        result = RunResult()
        for prompt in prompts:
            result = await agent.prompt(prompt)
            if result.outcome != "done" or interruption.number is not None:
                break
    if gone:
        raise gone[0]
    report_failure(result, errors)
    return exit_code(result, interruption.exit_code)
