"""The entry point: look at the words, import what they need, turn errors into exit codes.

Exit codes: 0 done; 1 the model, the provider, a limit or the output failed; 2 wrong usage or
settings; 128 + n stopped by signal n.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``sloyd``; returns the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _fill_standard_descriptors()
    # Only these two need nothing else: whoever asks for the version waits for no parser.
    if words in (["--version"], ["-v"]):
        return _print_version()
    from sloyd.errors import SettingsError, SloydError, UsageError
    from sloyd.modes.output import Output, OutputFailed, ReaderGone

    errors = Output("stderr")
    try:
        return _run(words)
    except (ReaderGone, BrokenPipeError):
        return 0
    except KeyboardInterrupt:
        return 130
    except (UsageError, SettingsError) as error:
        code, message = 2, str(error)
    except (OutputFailed, SloydError) as error:
        code, message = 1, str(error)
    with contextlib.suppress(ReaderGone, OutputFailed):
        errors.line(f"sloyd: {message}")
    return code


def _run(words: list[str]) -> int:
    command = words[0] if words else ""
    match command:
        case "tool":
            from sloyd.modes.tool import tool_door

            return tool_door(words[1:])
        case "demo":
            from sloyd.modes.demo import demo_door

            return demo_door(words[1:])
        case "undo":
            from sloyd.modes.undo import undo_door

            return undo_door(words[1:])
        case "sessions":
            from sloyd.modes.sessions import sessions_door

            return sessions_door(words[1:])
        case "config":
            from sloyd.modes.config import config_door

            return config_door(words[1:])
        case _:
            from sloyd.cli.parser import help_text, parse

            options = parse(words)
            if options.version:
                return _print_version()
            if options.help:
                from sloyd.cli.extension_help import extension_help
                from sloyd.modes.output import Output

                Output("stdout").line(help_text() + extension_help(options))
                return 0
            if options.list_models is not None:
                from sloyd.modes.list_models import list_models_door

                return list_models_door(" ".join([options.list_models, *options.words]))
            from sloyd.cli.doors import open_door

            return open_door(options)


def _fill_standard_descriptors() -> None:
    """Open nothing in the place of each standard stream that was closed when we were started.

    Else the next file to be opened, a session for instance, would take its number, and whatever is
    printed would go into that file.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _print_version() -> int:
    from sloyd import __version__

    if sys.stdout is not None:
        try:
            sys.stdout.write(f"sloyd {__version__}\n")
            sys.stdout.flush()
        except OSError:
            # Nobody is left to read the version, and the interpreter must not complain at exit.
            sys.stdout = None
    return 0


if __name__ == "__main__":
    sys.exit(main())
