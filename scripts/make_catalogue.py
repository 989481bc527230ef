"""Writes ``src/sloyd/llm/catalogue.json``: the present models of the providers that Sloyd knows.

usage: python scripts/make_catalogue.py [--source DIRECTORY]

The facts come from the data files of the npm package ``@earendil-works/pi-ai`` (MIT licence, made
anew several times a week from the providers' own lists). ``npm pack`` brings it into a temporary
directory; ``--source`` names one that is unpacked already. Our own corrections and additions,
``scripts/catalogue_additions.toml``, are laid over it. A developer runs this, Sloyd never does.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sloyd.llm.models import THINKING_LEVELS

__all__ = ["catalogue", "main", "rendered"]

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src/sloyd/llm/catalogue.json"
ADDITIONS = ROOT / "scripts/catalogue_additions.toml"
PACKAGE = "@earendil-works/pi-ai@latest"
# In the order in which the providers are shown and preferred: who makes models, then who hosts.
PROVIDERS = (
    *("openai", "anthropic", "google", "xai", "mistral", "deepseek", "moonshotai", "zai"),
    *("minimax", "openrouter", "groq", "cerebras", "together", "fireworks", "huggingface"),
    "nvidia",
)
APIS = {
    "openai-completions": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic-messages",
    "google-generative-ai": "google-generate",
    "mistral-conversations": "openai-chat",
}
THINKING_FORMATS = {
    "deepseek": "thinking-type",
    "zai": "thinking-type",
    "qwen": "enable-thinking",
    "openrouter": "openrouter",
    "openai": "openai",
    None: None,
}
_EXTRA_LEVELS = ("xhigh", "max")
_DEFAULT_LEVELS = ["off", "minimal", "low", "medium", "high"]
_LONGEST_VALUE = 100


def catalogue(source: Path, additions: Mapping[str, Any]) -> dict[str, Any]:
    """The catalogue from an unpacked package and our additions."""
    package = json.loads((source / "package.json").read_text("utf-8"))
    excluded = additions.get("exclude", {})
    providers: dict[str, dict[str, dict[str, Any]]] = {}
    for provider in PROVIDERS:
        groups = json.loads((source / f"dist/providers/data/{provider}.json").read_text("utf-8"))
        models = {
            model["id"]: _model(model)
            for group in groups.values()
            for model in group.values()
            if model.get("type") == "chat" and model["api"] in APIS
        }
        patterns = excluded.get(provider, [])
        providers[provider] = {
            name: models[name]
            for name in sorted(models)
            if not any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
        }
    for addition in additions.get("model", []):
        facts = {key: value for key, value in addition.items() if key != "provider"}
        known = providers[addition["provider"]].setdefault(addition["id"], {})
        known.update(facts)
    return {
        "source": f"{package['name']} {package['version']}, licence {package['license']}",
        "providers": {name: list(models.values()) for name, models in providers.items()},
    }


def _model(model: Mapping[str, Any]) -> dict[str, Any]:
    """One model in our words; what is the default in `sloyd.llm.catalogue.Entry` is left out."""
    entry: dict[str, Any] = {"id": model["id"], "api": APIS[model["api"]]}
    if model.get("name") and model["name"] != model["id"]:
        entry["name"] = model["name"]
    entry["window"] = model["contextWindow"]
    entry["output"] = model["maxTokens"]
    if "image" not in model["input"]:
        entry["images"] = False
    levels = list(_levels(model))
    if levels != _DEFAULT_LEVELS:
        entry["thinking"] = levels
    entry.update(_price(model.get("cost", {})))
    quirks = _quirks(model, levels)
    if quirks:
        entry["quirks"] = quirks
    return entry


def _levels(model: Mapping[str, Any]) -> Iterator[str]:
    """The levels that mean something; ``off`` always does, as what is asked for."""
    yield "off"
    if not model["reasoning"]:
        return
    words = model.get("thinkingLevelMap") or {}
    for level in THINKING_LEVELS[1:]:
        unless_named = None if level in _EXTRA_LEVELS else level
        if words.get(level, unless_named) is not None:
            yield level


def _price(cost: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Dollars for a million tokens: input, output, cache read, cache write."""
    if any(_rates(cost)):
        yield "price", _rates(cost)
    tiers = [[tier["inputTokensAbove"], *_rates(tier)] for tier in cost.get("tiers", [])]
    if tiers:
        yield "tiers", tiers


def _rates(cost: Mapping[str, Any]) -> list[float]:
    names = ("input", "output", "cacheRead", "cacheWrite")
    # A negative price stands for one that is not fixed.
    return [max(0.0, float(cost.get(name) or 0)) for name in names]


def _quirks(model: Mapping[str, Any], levels: list[str]) -> dict[str, Any]:
    compat = model.get("compat", {})
    api = APIS[model["api"]]
    quirks: dict[str, Any] = {}
    if api == "openai-chat":
        style = compat.get("thinkingFormat")
        efforts = compat.get("supportsReasoningEffort", True)
        format_name = THINKING_FORMATS.get(style, None if efforts else "none")
        if format_name is None and not efforts and len(levels) > 1:
            format_name = "none"
        if format_name is not None and len(levels) > 1:
            quirks["thinking_format"] = format_name
        if compat.get("requiresReasoningContentOnAssistantMessages"):
            quirks["replay_reasoning"] = True
    if api == "anthropic-messages" and compat.get("forceAdaptiveThinking"):
        quirks["thinking_format"] = "adaptive"
    words = model.get("thinkingLevelMap") or {}
    named = {level: words.get(level) or level for level in levels if level != "off"}
    if api == "google-generate":
        named = {level: word.upper() for level, word in named.items()}
    usual = {level: level.upper() if api == "google-generate" else level for level in named}
    if named != usual:
        quirks["efforts"] = named
    return quirks


def rendered(made: Mapping[str, Any]) -> str:
    """One model a line, so that a change of the data can be read as a diff."""
    lines = ["{", f'"source": {json.dumps(made["source"])},', '"providers": {']
    providers = list(made["providers"].items())
    for place, (name, models) in enumerate(providers):
        lines.append(f"{json.dumps(name)}: [")
        rows = [json.dumps(_short(model), ensure_ascii=False) for model in models]
        lines += [f"{row}," for row in rows[:-1]] + rows[-1:]
        lines.append("]," if place < len(providers) - 1 else "]")
    return "\n".join([*lines, "}", "}"]) + "\n"


def _short(value: Any) -> Any:
    """Whole numbers without their ``.0``, and no text that is longer than a name."""
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_short(item) for item in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() else float(f"{value:.6g}")
    return value[:_LONGEST_VALUE] if isinstance(value, str) else value


def _fetched(directory: Path) -> Path:
    subprocess.run(
        ["npm", "pack", "--silent", "--pack-destination", str(directory), PACKAGE],
        check=True,
        cwd=directory,
    )
    (archive,) = directory.glob("*.tgz")
    with tarfile.open(archive) as packed:
        packed.extractall(directory, filter="data")
    return directory / "package"


def main(arguments: list[str] | None = None) -> int:
    """Make the catalogue."""
    parser = argparse.ArgumentParser(description="Make the catalogue of models.")
    parser.add_argument("--source", type=Path, help="an unpacked package instead of a new one")
    options = parser.parse_args(arguments)
    additions = tomllib.loads(ADDITIONS.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as temporary:
        source = options.source or _fetched(Path(temporary))
        made = catalogue(source, additions)
    TARGET.write_text(rendered(made), "utf-8")
    counts = {name: len(models) for name, models in made["providers"].items()}
    sys.stdout.write(f"{made['source']}: {sum(counts.values())} models, {counts}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
