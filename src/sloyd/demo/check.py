"""Whether a demo run was real: each tool result is held against what its step must show."""

from __future__ import annotations

from dataclasses import dataclass

from sloyd.agent.events import AgentEnd, ToolExecutionEnd, ToolExecutionStart
from sloyd.llm.messages import text_of

__all__ = ["STEPS", "DemoCheck", "DemoStep"]


@dataclass(frozen=True, slots=True)
class DemoStep:
    """What one call of the script must give.

    Attributes:
        name: what people call the step.
        tool: the tool that it calls.
        fails: whether the result must be an error: the first test run has to fail.
        shows: a text that the result must contain.
    """

    name: str
    tool: str
    fails: bool
    shows: str


STEPS = (
    DemoStep("reading till/money.py", "read", False, "def whole_cents"),
    DemoStep("reading till/receipt.py", "read", False, "class Receipt"),
    DemoStep("reading tests/test_receipt.py", "read", False, "class TaxTest"),
    DemoStep("the first test run, which must fail", "bash", True, "FAILED (failures=2)"),
    DemoStep("the edit with two replacements", "edit", False, "till/money.py"),
    DemoStep("the second test run, which must pass", "bash", False, "Ran 6 tests"),
)
"""The calls of ``script.json``, in its order."""


class DemoCheck:
    """A listener of the demo's run: give it every event, and ask for the problems at the end."""

    def __init__(self) -> None:
        self._open = list(STEPS)
        self._begun: dict[str, DemoStep] = {}
        self._problems: list[str] = []
        self._ended = False

    def observe(self, event: object) -> None:
        """Look at one event. Calls begin in the order of the script and end in any order."""
        if isinstance(event, ToolExecutionStart):
            self._begin(event)
        elif isinstance(event, ToolExecutionEnd):
            self._check(event)
        elif isinstance(event, AgentEnd):
            self._ended = True
            if event.outcome != "done":
                why = f": {event.error_message}" if event.error_message else ""
                self._problems.append(f"the run ended with {event.outcome}{why}")

    def problems(self) -> list[str]:
        """What was not as it had to be, step by step; empty for a demo that went well."""
        missing = [f"{step.name}: did not happen" for step in self._open]
        missing += [f"{step.name}: did not end" for step in self._begun.values()]
        unfinished = [] if self._ended else ["the run did not end"]
        return [*self._problems, *missing, *unfinished]

    def _begin(self, event: ToolExecutionStart) -> None:
        step = next((step for step in self._open if step.tool == event.tool_name), None)
        if step is None:
            self._problems.append(f"a call of {event.tool_name} that is not in the script")
            return
        self._open.remove(step)
        self._begun[event.tool_call_id] = step

    def _check(self, event: ToolExecutionEnd) -> None:
        step = self._begun.pop(event.tool_call_id, None)
        if step is None:
            return
        text = text_of(event.content)
        if event.is_error != step.fails:
            outcome = "failed" if event.is_error else "did not fail"
            self._problems.append(f"{step.name}: {outcome}:\n{text}")
        elif step.shows not in text:
            self._problems.append(f"{step.name}: no {step.shows!r} in the result:\n{text}")
