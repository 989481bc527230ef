"""Whether a URL points at this machine: such servers need no key, no proxy and no certificate."""

from __future__ import annotations

from urllib.parse import urlsplit

__all__ = ["is_loopback"]


def is_loopback(url: str) -> bool:
    """Whether the URL points at this machine."""
    try:
        host = (urlsplit(url).hostname or "").lower()
    except ValueError:
        return False
    return host in {"localhost", "::1"} or host.startswith("127.") or host.endswith(".localhost")
