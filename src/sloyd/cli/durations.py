"""Times as people write them on a command line."""

from __future__ import annotations

from sloyd.errors import UsageError

__all__ = ["seconds_of"]

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}


def seconds_of(flag: str, text: str) -> float:
    """The seconds in ``90``, ``90s``, ``10m``, ``1.5h`` or ``1h30m``; the largest unit first.

    Raises `UsageError`, which names the flag, for anything else and for nothing at all.
    """
    import re

    word = text.strip().lower()
    number = r"\d+(?:\.\d+)?"
    found = re.fullmatch(rf"(?:({number})h)?(?:({number})m)?(?:({number})s?)?", word)
    parts = found.groups() if found else ()
    seconds = sum(
        float(part) * unit for part, unit in zip(parts, _UNITS.values(), strict=False) if part
    )
    if seconds <= 0:
        raise UsageError(f"{flag} takes a time above 0, such as 90, 90s, 10m or 1h30m, not {text}")
    return seconds
