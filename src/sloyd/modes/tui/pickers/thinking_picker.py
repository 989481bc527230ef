"""Choosing how much the model reasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sloyd.llm.models import THINKING_LEVELS, ThinkingLevel
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.pickers.fuzzy_screen import FuzzyScreen
from sloyd.modes.tui.pickers.row_list import Row

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = ["ThinkingPicker"]

_MEANING: Final[dict[ThinkingLevel, str]] = {
    "off": "answers at once",
    "minimal": "hardly at all",
    "low": "a little; fast and cheap",
    "medium": "as much as most work needs",
    "high": "for hard problems; slower",
    "xhigh": "for very hard problems",
    "max": "as much as the model can",
}


class ThinkingPicker(FuzzyScreen[ThinkingLevel, ThinkingLevel]):
    """The levels that the present model accepts."""

    def __init__(self, agent: CodingAgent, keys: KeyMap) -> None:
        super().__init__(keys, title=f"Thinking of {agent.model.info.name or agent.model.info.id}")
        self._agent = agent

    def all_rows(self) -> Sequence[Row[ThinkingLevel]]:
        accepted = self._agent.model.info.thinking_levels
        return [
            Row(level, f"{'●' if level == self._agent.thinking else ' '} {level}", _MEANING[level])
            for level in THINKING_LEVELS
            if level in accepted or level == "off"
        ]

    def first_cursor(self, rows: Sequence[Row[ThinkingLevel]]) -> int:
        present = self._agent.thinking
        return next((index for index, row in enumerate(rows) if row.value == present), 0)

    def choose(self, row: Row[ThinkingLevel]) -> None:
        self.dismiss(row.value)
