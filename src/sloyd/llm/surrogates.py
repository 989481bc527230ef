"""Half characters out of texts: no lone surrogate may reach a payload, a session or a terminal.

They come from JSON escapes of models (``"\\ud83d"``) and from file names that are no UTF-8. A pair
of halves is one character and is joined; a half without its other half becomes U+FFFD.
"""

from __future__ import annotations

from typing import Any

__all__ = ["clean", "clean_text", "is_clean"]


def is_clean(text: str) -> bool:
    """Whether the text holds no surrogate at all."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def clean_text(text: str) -> str:
    """The same text with its halves joined or replaced."""
    if is_clean(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def clean(value: Any) -> Any:
    """A copy of a JSON value with every text in it cleaned, keys too."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(str(key)): clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in value]
    return value
