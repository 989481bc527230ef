"""Names of signals, for people and models."""

from __future__ import annotations

import signal

__all__ = ["signal_name"]


def signal_name(number: int) -> str:
    """``SIGKILL`` for 9, and so on; ``signal 99`` where there is no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
