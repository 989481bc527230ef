"""The queue for changes to one file: serial for one real file, parallel for different files."""

from __future__ import annotations

__all__ = ["MutationQueue"]


class MutationQueue:
    """Gives out turns to change a file, in the order in which they are asked for."""
