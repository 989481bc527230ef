"""The print door: run the prompts, print the final answer, tell by the exit code how it went."""

from __future__ import annotations

from collections.abc import Sequence

from sloyd.agent.events import (
    LimitWarning,
    RetryStart,
    ToolExecutionEnd,
    ToolExecutionStart,
)
from sloyd.agent.result import RunResult
from sloyd.harness.coding_agent import CodingAgent
from sloyd.harness.commands import submit_message
from sloyd.harness.door import HeadlessDoor, NoticeLevel, Tell
from sloyd.harness.events import HarnessEvent, Notice
from sloyd.llm.messages import AssistantMessage, UserMessage
from sloyd.modes.output import Output
from sloyd.modes.signals import stopping_on_signals
from sloyd.modes.summary import call_summary

__all__ = ["exit_code", "print_door", "report_failure"]


def exit_code(result: RunResult, interrupted: int | None) -> int:
    """0 for a complete answer, 128 + n after a signal, 1 for everything else.

    An answer that was cut at the output limit is printed, but it is no success.
    """
    if interrupted is not None:
        return interrupted
    last = result.last_answer
    cut = last is not None and last.stop_reason == "length"
    return 0 if result.outcome == "done" and not cut else 1


def report_failure(result: RunResult, errors: Output) -> None:
    """Say on standard error why a run is not a success, or left nothing to read."""
    if result.outcome in ("error", "limit"):
        errors.line(f"sloyd: {result.error_message or 'the model failed without a reason'}")
    elif result.outcome == "aborted":
        errors.line("sloyd: interrupted")
    elif result.last_answer is not None and result.last_answer.stop_reason == "length":
        errors.line("sloyd: the answer was cut at the model's output limit")
    elif result.last_answer is not None and not result.last_answer.text.strip():
        errors.line("sloyd: the model's last answer has no text")


async def print_door(agent: CodingAgent, prompts: Sequence[UserMessage]) -> int:
    """Run each prompt in turn; print the last answer's text. Returns the exit code."""
    out, errors = Output("stdout"), Output("stderr")
    agent.subscribe(_Notices(errors).show)
    if errors.is_terminal:
        agent.subscribe(_Progress(errors).show)
    agent.door = HeadlessDoor("print", _teller(errors, errors))
    asked = HeadlessDoor("print", _teller(out, errors))
    async with stopping_on_signals(agent.abort) as interruption:
        result = RunResult()
        for prompt in prompts:
            message = await submit_message(agent, prompt, asked)
            if message is None:
                continue
            result = await agent.prompt(message)
            if result.outcome != "done" or interruption.number is not None:
                break
    _print_answer(result.last_answer, out)
    report_failure(result, errors)
    return exit_code(result, interruption.exit_code)


def _print_answer(answer: AssistantMessage | None, out: Output) -> None:
    if answer is not None and answer.text:
        out.write(answer.text if answer.text.endswith("\n") else answer.text + "\n")


def _teller(out: Output, errors: Output) -> Tell:
    """Writes to ``out``: what a command says is the output that was asked for; warnings are not."""

    async def tell(message: str, level: NoticeLevel) -> None:
        if level == "info":
            out.line(message)
        else:
            errors.line(f"sloyd: {message}")

    return tell


class _Notices:
    """What a person must know, terminal or not."""

    def __init__(self, errors: Output) -> None:
        self._errors = errors

    async def show(self, event: HarnessEvent) -> None:
        match event:
            case Notice(level="info") if not self._errors.is_terminal:
                return
            case Notice() | LimitWarning():
                self._errors.line(f"sloyd: {event.message}")


class _Progress:
    """One line on standard error for each thing that takes time."""

    def __init__(self, errors: Output) -> None:
        self._errors = errors

    async def show(self, event: HarnessEvent) -> None:
        match event:
            case ToolExecutionStart():
                self._errors.line(f"> {call_summary(event.tool_name, event.arguments)}")
            case ToolExecutionEnd(is_error=True):
                self._errors.line(f"! {event.tool_name} failed")
            case RetryStart():
                self._errors.line(
                    f"~ {event.error_message}; trying again in {event.delay_ms / 1000:g} s"
                    f" ({event.attempt} of {event.max_attempts})"
                )
