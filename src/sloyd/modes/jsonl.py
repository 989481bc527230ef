"""The JSON door: every event of the run as one line, for programs that only listen.

The exit code is the print door's: a failed model is never a success here either.
"""

from __future__ import annotations

from collections.abc import Sequence

from sloyd.agent.result import RunResult
from sloyd.harness.coding_agent import CodingAgent
from sloyd.harness.commands import submit_message
from sloyd.harness.door import HeadlessDoor
from sloyd.llm.messages import UserMessage
from sloyd.modes.output import Output
from sloyd.modes.print import exit_code, report_failure
from sloyd.modes.protocol_output import ProtocolOutput
from sloyd.modes.signals import stopping_on_signals

__all__ = ["jsonl_door"]


async def jsonl_door(
    agent: CodingAgent, prompts: Sequence[UserMessage], output: ProtocolOutput
) -> int:
    """Run each prompt in turn and write every event. Returns the exit code.

    Raises `ReaderGone` or `OutputFailed` when the events could not be written to their end.
    """
    # The loop waits for its listeners, so a slow reader slows the run and loses nothing.
    output.on_failure = agent.abort
    agent.subscribe(output.write)
    await output.write(agent.header())
    agent.door = HeadlessDoor("json", agent.notify)

    def stop() -> None:
        agent.abort()
        output.give_up_soon()

    async with stopping_on_signals(stop) as interruption:
        result = RunResult()
        for prompt in prompts:
            message = await submit_message(agent, prompt, agent.door)
            if message is not None and output.failure is None:
                result = await agent.prompt(message)
            if result.outcome != "done" or interruption.number is not None:
                break
    if interruption.exit_code is None:
        output.raise_failure()
    report_failure(result, Output("stderr"))
    return exit_code(result, interruption.exit_code)
