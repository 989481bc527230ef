"""``sloyd --list-models``: every model that is known, and whether its provider has a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sloyd.harness.model_search import Candidate, search_models
from sloyd.harness.model_tables import ModelTables
from sloyd.llm.local_servers import find_servers
from sloyd.llm.models import ModelInfo, Prices

__all__ = ["model_table"]

_HEADER = ("provider", "model", "window", "output", "input", "thinking", "$/M in", "out", "key")


def model_table(
    tables: ModelTables, variables: Mapping[str, str], search: str = ""
) -> tuple[str, ...]:
    """The lines of a table of the models that ``search`` finds; all of them when it is empty.

    Those of providers with a key come first, then the rest in the order of preference. Models of
    servers on this machine are asked for.
    """
    keyed = {
        name for name, provider in tables.providers.items() if tables.has_key(provider, variables)
    }
    free = {name for name, provider in tables.providers.items() if not provider.needs_key}
    providers = sorted(
        tables.providers.values(), key=lambda provider: provider.name not in keyed | free
    )
    local = [
        (tables.find_provider(server.provider.name) or server.provider, server.base_url, model)
        for server in find_servers(variables)
        for model in server.models
    ]
    here = [Candidate(provider.name, model) for provider, _, model in local]
    found = search_models(search, [*here, *tables.candidates(providers)])
    rows = []
    for candidate in found:
        provider = tables.providers[candidate.provider]
        info = tables.info(provider, candidate.id)
        mark = "yes" if candidate.provider in keyed else "-" if candidate.provider in free else "no"
        rows.append(_row(info, candidate.id, mark, known=tables.is_known(provider, candidate.id)))
    if not rows:
        return (f"no model fits `{search}`; sloyd --list-models shows all",)
    return _aligned([_HEADER, *rows])


def _row(info: ModelInfo, model_id: str, key: str, *, known: bool) -> tuple[str, ...]:
    if not known:
        return (info.provider, model_id, "?", "?", "?", "?", "?", "?", key)
    levels = [level for level in info.thinking_levels if level != "off"]
    first, last = (levels[0], levels[-1]) if levels else ("-", "-")
    return (
        info.provider,
        model_id,
        _count(info.context_window),
        _count(info.max_output),
        "+".join(info.inputs),
        first if first == last else f"{first}..{last}",
        *_dollars(info.prices),
        key,
    )


def _count(tokens: int) -> str:
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:.3g}M"
    return f"{tokens / 1000:.0f}k" if tokens >= 1000 else str(tokens)


def _dollars(prices: Prices) -> tuple[str, str]:
    if not prices.input and not prices.output:
        return "-", "-"
    return f"{prices.input:g}", f"{prices.output:g}"


def _aligned(rows: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    return tuple(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
