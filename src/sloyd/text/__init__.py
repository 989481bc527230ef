"""Floor 0: functions on text and bytes. No I/O, nothing to wait for, no knowledge of tools.

What a file's bytes say:

    encoding      Which encoding a file's bytes are in, and the exact way from bytes to text and
                  back.
    newlines      The LF view of a text: its lines end in LF whatever they end in, and offsets map
                  back.

Finding text and replacing it:

    match         Where a text occurs in a file: exactly, and only if it does not, tolerantly.
    folding       The folded form in which tolerant matching compares text, and the way back to
                  the original.
    near_miss     Why a text was not found: the nearest place and what differs, short enough for a
                  model.
    splice        Named spans of a text replaced, everything else byte for byte.
    fitting       What is written where a text matched: the new text, in the file's own bytes.

Showing what changed:

    align         Which lines of two blocks belong together.
    changes       Which lines a set of replacements changes, without a comparison of the whole
                  text.
    diff          The numbered diff that people read, in pi's row format.
    patch         The patch that ``git apply`` and ``patch -p1`` take, on the bytes that are
                  really in the file.
    binary_patch  git's binary patch format: deltas, deflated, in base 85.

Fit to be read:

    truncate      Cut a text to what a model should read.
    terminal      What a terminal would show of a program's output, as plain text.
    markup        Text inside the tags that prompts use to mark where something begins and ends.
    suggestion    What a misspelt name was probably meant to be, to be put behind a sentence about
                  it.
"""

from __future__ import annotations

__all__: list[str] = []
