"""Floor 7: the words of the command line, and exit codes.

The modules:

    main            The entry point: look at the words, import what they need, turn errors into
                    exit codes.
    flags           Every switch of the command line, declared once: names, meaning, type.
    parser          From the words of a command line to `Options`, by the table in
                    `sloyd.cli.flags`.
    combinations    Which switches exclude each other, and which need another.
    durations       Times as people write them on a command line.
    extension_help  The part of ``sloyd --help`` that extensions add.
    doors           From parsed options to an open door: print, JSON, RPC, or the conversation.
    trust_question  The question whether a project may configure Sloyd, put before anything else
                    is on the screen.
"""

from __future__ import annotations

__all__: list[str] = []
