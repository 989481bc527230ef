"""The part of ``sloyd --help`` that extensions add: the switches that they declare."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from sloyd.cli.parser import Options
from sloyd.harness.entry_points import installed_extensions
from sloyd.harness.home import sloyd_home

if TYPE_CHECKING:
    from sloyd.harness.extension_flags import ExtensionFlag

__all__ = ["extension_help"]


def extension_help(options: Options) -> str:
    """A heading and a line for each switch; nothing where there are no extensions.

    Raises `UsageError` for a named extension that is not there.
    """
    home = sloyd_home(os.environ)
    places = (home / "extensions", Path(options.cwd or ".") / ".sloyd" / "extensions")
    if not options.extension and not any(place.is_dir() for place in places):
        cache = home / "cache" / "extensions.json"
        if options.no_extensions or not installed_extensions(cache):
            return ""
    import anyio

    flags = anyio.run(_flags, options)
    if not flags:
        return ""
    rows = [f"  {_usage(flag):<30} {flag.doc} ({flag.extension})" for flag in flags]
    return "\n".join(["", "", "Extensions:", *rows])


def _usage(flag: ExtensionFlag) -> str:
    return f"--{flag.name}" if flag.kind == "switch" else f"--{flag.name} {flag.kind.upper()}"


async def _flags(options: Options) -> list[ExtensionFlag]:
    from sloyd.harness.extension_opening import load_flags
    from sloyd.harness.options import AgentOptions

    return await load_flags(
        AgentOptions(
            cwd=options.cwd,
            context_files=False,
            extensions=options.extension,
            find_extensions=not options.no_extensions,
            find_skills=False,
            find_prompt_templates=False,
            trust_project=True if options.approve else False if options.no_approve else None,
        ),
        os.environ,
    )
