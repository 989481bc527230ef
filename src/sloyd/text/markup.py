"""Text inside the tags that prompts use to mark where something begins and ends.

The standard library's helpers for this import an HTTP client, which costs a start 10 ms.
"""

from __future__ import annotations

__all__ = ["attribute", "escape"]


def escape(text: str) -> str:
    """The text with ``&``, ``<`` and ``>`` as entities."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def attribute(value: str) -> str:
    """The value in double quotes, as an attribute of a tag."""
    return '"' + escape(value).replace('"', "&quot;") + '"'
