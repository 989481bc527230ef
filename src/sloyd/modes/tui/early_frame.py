"""The first frame, drawn before anything large is loaded: the empty screen and the composer's box.

The terminal is quiet from here on, so that what is typed during the start is neither shown nor
lost: it waits in the terminal's buffer until the composer reads it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["EarlyFrame", "early_frame"]


class EarlyFrame:
    """The frame on the screen, until the app takes its place."""

    def __init__(self) -> None:
        self._is_drawn = False

    def draw(self) -> None:
        """Draw it."""
        _write(_frame(*os.get_terminal_size(sys.stdout.fileno())))
        self._is_drawn = True

    def hand_over(self) -> None:
        """The app draws from now on, and leaves its screen itself."""
        self._is_drawn = False

    def remove(self) -> None:
        """Show again what was there before, if nobody has taken over."""
        if self._is_drawn:
            _write("\x1b[?25h\x1b[?1049l")
            self._is_drawn = False


@contextmanager
def early_frame() -> Iterator[EarlyFrame]:
    """Draw the frame; at the end the terminal is as it was, whatever has happened meanwhile.

    Where the terminal cannot be prepared, nothing is drawn.
    """
    frame = EarlyFrame()
    if os.name != "posix":
        yield frame
        return
    import termios

    try:
        descriptor = sys.stdin.fileno()
        before = termios.tcgetattr(descriptor)
        quiet = termios.tcgetattr(descriptor)
        quiet[0] &= ~termios.ICRNL  # Enter is to arrive as it does later, not as a line feed
        quiet[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(descriptor, termios.TCSANOW, quiet)
    except (OSError, ValueError, termios.error):
        yield frame
        return
    try:
        frame.draw()
        yield frame
    finally:
        frame.remove()
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _frame(width: int, height: int) -> str:
    top = max(height - 4, 1)
    inside = "─" * max(width - 2, 0)
    return (
        "\x1b[?1049h\x1b[?25l\x1b[2J\x1b[2m"
        f"\x1b[{top};1H╭{inside}╮"
        f"\x1b[{top + 1};1H│\x1b[{top + 1};{max(width, 1)}H│"
        f"\x1b[{top + 2};1H╰{inside}╯"
        "\x1b[0m"
    )


def _write(text: str) -> None:
    stream = sys.__stdout__
    if stream is None or stream.closed:
        return
    try:
        stream.buffer.write(text.encode())
        stream.buffer.flush()
    except OSError:
        # The terminal is gone; whoever writes next finds out.
        return
