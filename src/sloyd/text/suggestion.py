"""What a misspelt name was probably meant to be, to be put behind a sentence about it."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["suggestion"]


def suggestion(name: str, known: Iterable[str], otherwise: str = "", *, sign: str = "") -> str:
    """``; did you mean NEAR?`` with the known name that is like ``name``.

    Where none is, ``otherwise`` stands in its place behind the semicolon; without one the answer
    is empty. ``sign`` is what people write in front of names of this kind.
    """
    from difflib import get_close_matches  # loaded for mistakes only

    near = get_close_matches(name, list(dict.fromkeys(known)), n=1)
    if near:
        return f"; did you mean {sign}{near[0]}?"
    return f"; {otherwise}" if otherwise else ""
