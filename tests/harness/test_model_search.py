"""Models by inexact names: the newest of the one family that fits, or all that may be meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.harness.model_search import Candidate, fitting, search_models
from sloyd.harness.model_tables import ModelTables

IDS = {
    "openai": ["gpt-5", "gpt-5.1", "gpt-5.1-mini", "gpt-6-sol", "o4-mini"],
    "anthropic": [
        "claude-3-7-sonnet",
        "claude-sonnet-4-5",
        "claude-sonnet-4-5-20250929",
        "claude-opus-5",
        "claude-opus-5-5-preview",
        "claude-haiku-4-5-20251001",
    ],
    "google": ["gemini-2.5-flash", "gemini-3-flash-preview", "gemini-flash-lite-latest"],
    "openrouter": ["anthropic/claude-sonnet-6", "qwen/qwen3-coder", "~openai/gpt-latest"],
}
MODELS = [
    Candidate(provider, model_id, "", place, model_id in ("gpt-6-sol", "claude-sonnet-4-5"))
    for place, (provider, ids) in enumerate(IDS.items())
    for model_id in ids
]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("sonnet", ["anthropic/claude-sonnet-4-5"]),
        ("Claude Sonnet", ["anthropic/claude-sonnet-4-5"]),
        ("claude", ["anthropic/claude-sonnet-4-5"]),
        ("opus", ["anthropic/claude-opus-5-5-preview"]),
        ("opus 5", ["anthropic/claude-opus-5"]),
        ("sonnet 3.7", ["anthropic/claude-3-7-sonnet"]),
        ("sonnet-4-5-20250929", ["anthropic/claude-sonnet-4-5-20250929"]),
        ("haiku", ["anthropic/claude-haiku-4-5-20251001"]),
        ("sonnet 6", ["openrouter/anthropic/claude-sonnet-6"]),
        ("openrouter sonnet", ["openrouter/anthropic/claude-sonnet-6"]),
        ("gpt", ["openai/gpt-6-sol"]),
        ("gpt 5.1", ["openai/gpt-5.1"]),
        ("mini", ["openai/gpt-5.1-mini", "openai/o4-mini"]),
        ("flash", ["google/gemini-3-flash-preview"]),
        ("flash lite", ["google/gemini-flash-lite-latest"]),
        ("qwen cod", ["openrouter/qwen/qwen3-coder"]),
        ("sonnet 9", []),
        ("llama", []),
        ("", []),
        ("///", []),
    ],
)
def test_what_a_name_means(query: str, found: list[str]) -> None:
    assert [model.reference for model in fitting(query, MODELS)] == found


@given(st.text(max_size=20), st.permutations(MODELS))
def test_the_order_of_the_models_changes_nothing(query: str, models: list[Candidate]) -> None:
    assert {*fitting(query, models)} == {*fitting(query, MODELS)}


@given(st.sampled_from(MODELS))
def test_the_words_of_an_id_find_its_family(model: Candidate) -> None:
    words = model.id.rpartition("/")[2]
    assert model in fitting(words, [model])


def test_a_search_shows_all_that_hold_each_word() -> None:
    found = search_models("claude 4-5", MODELS)
    assert [model.id for model in found] == [
        "claude-sonnet-4-5",
        "claude-sonnet-4-5-20250929",
        "claude-haiku-4-5-20251001",
    ]
    assert search_models("", MODELS) == MODELS


def test_the_whole_catalogue_is_searched() -> None:
    tables = ModelTables()
    models = list(tables.candidates(tables.providers.values()))
    assert len(models) > 400
    assert len({model.reference for model in models}) == len(models)
    (found,) = fitting("sonnet", models)
    assert found.provider == "anthropic"
