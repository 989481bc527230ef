"""Which extensions a run has: installed ones, the user's, the project's, those that are named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sloyd.harness.entry_points import installed_extensions
from sloyd.harness.options import AgentOptions
from sloyd.harness.resources import Resources, find_resources

if TYPE_CHECKING:
    from sloyd.harness.extension_flags import ExtensionFlag
    from sloyd.harness.extensions import Extensions

__all__ = ["load_flags", "open_extensions"]


async def load_flags(options: AgentOptions, variables: Mapping[str, str]) -> list[ExtensionFlag]:
    """The switches that the extensions declare, for help. They are set up and disposed of."""
    resources = await find_resources(options, variables)
    extensions, _ = await open_extensions(options, resources)
    if extensions is None:
        return []
    await extensions.dispose()
    return extensions.flags.flags


async def open_extensions(
    options: AgentOptions, resources: Resources
) -> tuple[Extensions | None, tuple[str, ...]]:
    """Load them; also the words of the command line that are not theirs.

    None when there are none: then nothing of their machinery is imported. Raises `UsageError` for a
    named one that is not there, and for a switch that nobody knows.
    """
    installed = []
    if options.find_extensions:
        installed = installed_extensions(resources.home / "cache" / "extensions.json")
    if not installed and not resources.extension_roots and not options.extensions:
        if any(word.startswith("-") for word in options.arguments):
            from sloyd.harness.extension_flags import FlagReader

            return None, FlagReader(options.arguments).rest()
        return None, tuple(options.arguments)
    from sloyd.harness.extension_files import (
        ExtensionSource,
        find_extensions,
        named_extension,
        unique,
    )
    from sloyd.harness.extensions import load_extensions

    sources = [ExtensionSource(point.name, module=point.value) for point in installed]
    for root in resources.extension_roots:
        sources += find_extensions(root)
    sources += [named_extension(named) for named in options.extensions]
    if not sources and not options.arguments:
        return None, ()
    extensions = await load_extensions(unique(sources), tuple(options.arguments))
    return extensions, extensions.flags.rest()
