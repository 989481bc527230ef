"""Standard output and error as every door uses them: UTF-8 always, failures told once.

Python's own streams follow the locale and raise for characters that it cannot hold; a closed stream
is None. Here text is UTF-8 whatever the locale says, what cannot be encoded becomes U+FFFD, and a
closed stream swallows what is written to it.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any, Literal, TextIO

import msgspec

from sloyd.errors import SloydError

__all__ = ["Output", "OutputFailed", "ReaderGone", "json_line", "scrub", "standard_stream"]

_SURROGATE = re.compile("[\ud800-\udfff]")


class ReaderGone(SloydError):
    """Raised when whoever read our output has closed it. Stop quietly: nothing is wrong."""


class OutputFailed(SloydError):
    """Raised when output cannot be written, for instance because the disk is full."""


def standard_stream(name: Literal["stdout", "stderr"]) -> TextIO | None:
    """Python's own stream of that name; None when it was closed, by whoever started us or here."""
    stream: TextIO | None = getattr(sys, name)
    return stream if stream is not None and not stream.closed else None


def scrub(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD, so that UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def json_line(value: Any) -> bytes:
    """One line of JSON, ending in LF. Lone surrogates inside become U+FFFD."""
    try:
        return msgspec.json.encode(value) + b"\n"
    except UnicodeEncodeError:
        import json

        text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False, separators=(",", ":"))
        return scrub(text).encode() + b"\n"


class Output:
    """One of the process's two output streams."""

    def __init__(self, stream: Literal["stdout", "stderr"]) -> None:
        self._name = stream

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks at it."""
        stream = self._stream()
        return stream is not None and stream.isatty()

    def write(self, data: str | bytes) -> None:
        """Write and flush. Raises `ReaderGone` or `OutputFailed`, and from then on swallows all."""
        stream = self._stream()
        if stream is None:
            return
        raw = data if isinstance(data, bytes) else scrub(data).encode()
        try:
            stream.buffer.write(raw)
            stream.buffer.flush()
        except BrokenPipeError as error:
            self._silence()
            raise ReaderGone("the reader of our output is gone") from error
        except OSError as error:
            self._silence()
            raise OutputFailed(f"cannot write to {self._name}: {error.strerror}") from error

    def line(self, text: str = "") -> None:
        """Write one line."""
        self.write(text + "\n")

    def _stream(self) -> TextIO | None:
        return standard_stream(self._name)

    def _silence(self) -> None:
        """Point the stream at nothing, so that the interpreter's own flush at exit cannot fail."""
        stream = self._stream()
        if stream is not None:
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, stream.fileno())
            os.close(devnull)
