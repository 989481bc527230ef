"""Reasoning levels: what was asked for, fitted to what the model accepts."""

from __future__ import annotations

from sloyd.llm.models import THINKING_LEVELS, ModelInfo, ThinkingLevel

__all__ = ["fitted_level"]


def fitted_level(info: ModelInfo, level: ThinkingLevel) -> ThinkingLevel:
    """The nearest level that the model accepts: a higher one before a lower one.

    ``off`` stays off: no model is made to reason that was not asked to.
    """
    accepted = info.thinking_levels
    if level == "off" or level in accepted:
        return level
    place = THINKING_LEVELS.index(level)
    higher = [other for other in THINKING_LEVELS[place:] if other in accepted]
    lower = [other for other in THINKING_LEVELS[1:place] if other in accepted]
    return higher[0] if higher else lower[-1] if lower else "off"
