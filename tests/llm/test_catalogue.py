"""The catalogue holds what the table of providers needs, is small, and turns into model facts."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from scripts import make_catalogue
from sloyd.llm import catalogue
from sloyd.llm.catalogue import catalogued, known_info
from sloyd.llm.messages import Usage
from sloyd.llm.models import THINKING_LEVELS, Prices, PriceTier, cost_of
from sloyd.llm.providers import PROVIDERS, Provider, find_provider, is_own_url
from sloyd.llm.wires import wire_for

FILE = Path(catalogue.__file__).with_name("catalogue.json")


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=lambda provider: provider.name)
def test_every_entry_is_usable(provider: Provider) -> None:
    for model_id in catalogued(provider):
        info = known_info(provider, model_id)
        assert info is not None
        assert wire_for(info.api).api == info.api
        assert info.base_url == "" or info.base_url.startswith("http")
        assert info.context_window >= 4096
        assert 0 < info.max_output <= info.context_window
        assert info.thinking_levels[0] == "off"
        assert [*info.thinking_levels] == [x for x in THINKING_LEVELS if x in info.thinking_levels]
        assert 0 <= info.prices.input <= 1000
        assert 0 <= info.prices.output <= 1000


def test_default_models_are_known() -> None:
    unknown = [
        provider.name
        for provider in PROVIDERS.values()
        if provider.default_model and provider.default_model not in catalogued(provider)
    ]
    assert unknown == []


def test_hosts_with_keys_have_a_default() -> None:
    assert [p.name for p in PROVIDERS.values() if p.needs_key and not p.default_model] == []


def test_the_file_stays_small() -> None:
    assert FILE.stat().st_size < 400_000


def test_the_file_says_where_it_comes_from() -> None:
    assert "licence MIT" in FILE.read_text("utf-8").splitlines()[1]


def test_a_model_of_two_apis_goes_where_it_is_at_home() -> None:
    openai, openrouter = PROVIDERS["openai"], PROVIDERS["openrouter"]
    own = known_info(openai, "gpt-6.2-sol")
    moved = known_info(openai, "gpt-6.2-sol", base_url="http://proxy/v1")
    assert own is not None
    assert moved is not None
    assert (own.api, moved.api) == ("openai-responses", "openai-chat")
    assert (moved.base_url, moved.context_window) == ("http://proxy/v1", own.context_window)
    claude = known_info(openrouter, "anthropic/claude-sonnet-5.5")
    assert claude is not None
    assert (claude.api, claude.base_url) == ("anthropic-messages", "https://openrouter.ai/api")
    assert claude.quirks["bearer"] is True
    kimi = known_info(openrouter, "moonshotai/kimi-k3")
    assert kimi is not None
    assert kimi.quirks["thinking_format"] == "openrouter"


def test_providers_go_by_other_names_too() -> None:
    assert find_provider("llama.cpp") is PROVIDERS["llamacpp"]
    assert find_provider(" Gemini ") is PROVIDERS["google"]
    assert is_own_url(PROVIDERS["openai"], "https://api.openai.com/v1/")


def test_the_highest_tier_that_the_input_passes_prices_all_of_it() -> None:
    tiers = (PriceTier(200, 2.0, 20.0, 0.2, 4.0), PriceTier(500, 3.0, 30.0, 0.3, 6.0))
    prices = Prices(1.0, 10.0, 0.1, 2.0, tiers)
    assert cost_of(Usage(input=200, output=10), prices).cost.total == pytest.approx(300 / 1e6)
    usage = Usage(input=100, output=10, cache_read=50, cache_write=51)
    expected = (100 * 2 + 10 * 20 + 50 * 0.2 + 51 * 4) / 1e6
    assert cost_of(usage, prices).cost.total == pytest.approx(expected)
    assert cost_of(Usage(input=501), prices).cost.input == pytest.approx(501 * 3 / 1e6)


def package(directory: Path) -> Path:
    """A data package as small as one can be."""
    import json

    data = directory / "dist/providers/data"
    data.mkdir(parents=True)
    (directory / "package.json").write_text('{"name": "p", "version": "1", "license": "MIT"}')
    models = {
        "chat:m": {
            "id": "m",
            "name": "Model M",
            "api": "openai-completions",
            "type": "chat",
            "reasoning": True,
            "input": ["text"],
            "contextWindow": 1000,
            "maxTokens": 100,
            "cost": {"input": 0.5, "output": -1, "cacheRead": 0, "cacheWrite": 0},
            "thinkingLevelMap": {"minimal": None, "high": "hard", "max": "max"},
            "compat": {"thinkingFormat": "zai"},
        },
        "chat:m:batch": {"id": "m:batch", "api": "openai-completions", "type": "chat"},
        "image:i": {"id": "i", "api": "openai-images", "type": "image"},
    }
    del models["chat:m:batch"]
    for provider in make_catalogue.PROVIDERS:
        groups = {"openai-completions": models} if provider == "groq" else {}
        (data / f"{provider}.json").write_text(json.dumps(groups))
    return directory


def test_the_catalogue_is_made_of_a_package_and_our_additions(tmp_path: Path) -> None:
    additions = tomllib.loads(
        '[[model]]\nprovider = "groq"\nid = "m"\noutput = 50\n'
        '[[model]]\nprovider = "groq"\nid = "ours"\napi = "openai-chat"\nwindow = 9\noutput = 5\n'
    )
    made = make_catalogue.catalogue(package(tmp_path), additions)
    first, second = made["providers"]["groq"]
    assert first == {
        "id": "m",
        "api": "openai-chat",
        "name": "Model M",
        "window": 1000,
        "output": 50,
        "images": False,
        "thinking": ["off", "low", "medium", "high", "max"],
        "price": [0.5, 0.0, 0.0, 0.0],
        "quirks": {
            "thinking_format": "thinking-type",
            "efforts": {"low": "low", "medium": "medium", "high": "hard", "max": "max"},
        },
    }
    assert second["id"] == "ours"
    excluded = make_catalogue.catalogue(tmp_path, {"exclude": {"groq": ["m*"]}})
    assert excluded["providers"]["groq"] == []
    assert '"price": [0.5, 0, 0, 0]' in make_catalogue.rendered(made)
