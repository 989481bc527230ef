"""Text of models and files without what a terminal would obey."""

from __future__ import annotations

import re

__all__ = ["safe_text"]

# It must not move the cursor, set a title or ring a bell; lone surrogates cannot be written at all.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def safe_text(text: str) -> str:
    """The text without control characters but LF and TAB, and without lone surrogates."""
    return _UNSAFE.sub("", text.replace("\r\n", "\n")) if _UNSAFE.search(text) else text
