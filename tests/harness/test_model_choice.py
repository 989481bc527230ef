"""From what a person says to the model that answers: exact, inexact, unknown, local, keyless."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sloyd.errors import ProviderError, UsageError
from sloyd.harness.model_choice import ModelChoice, choose_model
from sloyd.harness.model_config import read_model_tables
from sloyd.harness.model_tables import ModelTables
from sloyd.harness.settings import ModelSettings, Settings
from sloyd.harness.settings_files import load_settings
from sloyd.llm.http_model import HttpModel
from sloyd.llm.local_servers import LOCAL_PROVIDERS
from sloyd.llm.models import Model, ThinkingLevel
from sloyd.llm.providers import PROVIDERS
from tests.servers import ProviderServer, Reply, Request, chat, error

NOBODY = {PROVIDERS[name].base_url_variable or "": "127.0.0.1:9" for name in LOCAL_PROVIDERS}
OPENAI = {"OPENAI_API_KEY": "sk-o"}
ANTHROPIC = {"ANTHROPIC_API_KEY": "sk-a"}
OPENROUTER = {"OPENROUTER_API_KEY": "sk-r"}
GROQ = {"GROQ_API_KEY": "gsk"}


def choose(
    model: str | None = None,
    keys: Mapping[str, str] = OPENAI,
    *,
    settings: Mapping[str, Any] | None = None,
    tables: ModelTables | None = None,
    **choice: Any,
) -> tuple[Model, ThinkingLevel | None]:
    return choose_model(
        ModelChoice(model=model, **choice),
        {**NOBODY, **keys},
        Settings(model=ModelSettings(**(settings or {}))),
        tables,
    )


def chosen(model: str | None = None, keys: Mapping[str, str] = OPENAI, **more: Any) -> str:
    """``provider/id`` of what is chosen."""
    info = choose(model, keys, **more)[0].info
    return f"{info.provider}/{info.id}"


BOTH = {**OPENAI, **ANTHROPIC}


@pytest.mark.parametrize(
    ("model", "keys", "more", "found"),
    [
        # Nothing named: the first provider that has a key, and its default model.
        (None, OPENAI, {}, "openai/gpt-6.2-sol"),
        (None, ANTHROPIC, {}, "anthropic/claude-sonnet-5-5"),
        (None, BOTH, {}, "openai/gpt-6.2-sol"),
        (None, BOTH, {"settings": {"provider": "anthropic"}}, "anthropic/claude-sonnet-5-5"),
        (None, BOTH, {"settings": {"default": "opus"}}, "anthropic/claude-opus-5-5"),
        (None, {**GROQ, "HF_TOKEN": "hf"}, {}, "groq/openai/gpt-oss-120b"),
        (None, {}, {"api_key": "sk-ant-x"}, "anthropic/claude-sonnet-5-5"),
        (":high", ANTHROPIC, {}, "anthropic/claude-sonnet-5-5"),
        ("anthropic/", BOTH, {}, "anthropic/claude-sonnet-5-5"),
        # Exact names.
        ("gpt-5.5", OPENAI, {}, "openai/gpt-5.5"),
        ("claude-opus-5", BOTH, {}, "anthropic/claude-opus-5"),
        ("anthropic/claude-opus-5", BOTH, {}, "anthropic/claude-opus-5"),
        ("claude/claude-opus-5", ANTHROPIC, {}, "anthropic/claude-opus-5"),
        ("openai/gpt-oss-120b", GROQ, {}, "groq/openai/gpt-oss-120b"),
        ("groq/openai/gpt-oss-20b", GROQ, {}, "groq/openai/gpt-oss-20b"),
        ("moonshotai/kimi-k3", OPENROUTER, {}, "openrouter/moonshotai/kimi-k3"),
        ("openai/gpt-6.2-sol", BOTH, {"provider": "openai"}, "openai/gpt-6.2-sol"),
        # Inexact names.
        ("sonnet", BOTH, {}, "anthropic/claude-sonnet-5-5"),
        ("sonnet", {**OPENAI, **OPENROUTER}, {}, "openrouter/anthropic/claude-sonnet-5.5"),
        ("anthropic/opus", BOTH, {}, "anthropic/claude-opus-5-5"),
        ("opus", ANTHROPIC, {"provider": "anthropic"}, "anthropic/claude-opus-5-5"),
        ("oss 20b", GROQ, {}, "groq/openai/gpt-oss-20b"),
        # Unknown ids go to the provider that is clear.
        ("openai/gpt-99", OPENAI, {}, "openai/gpt-99"),
        ("gpt-99", BOTH, {"provider": "openai"}, "openai/gpt-99"),
        ("brand-new", OPENAI, {}, "openai/brand-new"),
        ("brand-new", BOTH, {"settings": {"provider": "anthropic"}}, "anthropic/brand-new"),
        ("claude-sonnet-5-5-20270101", ANTHROPIC, {}, "anthropic/claude-sonnet-5-5-20270101"),
        ("anthropic/claude-opus-9", BOTH, {}, "anthropic/claude-opus-9"),
        # At another server any name may be right.
        ("sonnet", {**OPENAI, "OPENAI_BASE_URL": "http://x/v1"}, {}, "openai/sonnet"),
        ("sonnet", {}, {"base_url": "http://x/v1"}, "openai/sonnet"),
        ("a:b", {}, {"base_url": "http://x/v1", "provider": "anthropic"}, "anthropic/a:b"),
        (
            "gpt-5.5",
            {"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": "https://a.b"},
            {},
            "azure/gpt-5.5",
        ),
    ],
)
def test_what_is_chosen(
    model: str | None, keys: Mapping[str, str], more: dict[str, Any], found: str
) -> None:
    assert chosen(model, keys, **more) == found


@pytest.mark.parametrize(
    ("model", "level", "found"),
    [
        ("sonnet:high", "high", "anthropic/claude-sonnet-5-5"),
        ("anthropic/claude-opus-5:off", "off", "anthropic/claude-opus-5"),
        ("anthropic/strange:name", None, "anthropic/strange:name"),
    ],
)
def test_a_level_stands_behind_the_name(model: str, level: str | None, found: str) -> None:
    got, asked = choose(model, ANTHROPIC)
    assert (f"{got.info.provider}/{got.info.id}", asked) == (found, level)


def test_facts_come_from_the_catalogue() -> None:
    info = choose("sonnet", ANTHROPIC)[0].info
    assert info.context_window == 1_000_000
    assert info.prices.input > 0


@pytest.mark.parametrize(
    ("model", "keys", "more", "words"),
    [
        ("mini", OPENAI, {}, "may mean several models: openai/gpt-5.4-mini, openai/o4-mini"),
        ("no-such-thing", BOTH, {}, "no model is known as `no-such-thing`"),
        ("claude-sonet-5-5", BOTH, {}, "Near are: anthropic/claude-sonnet-5-5"),
        ("m", OPENAI, {"provider": "opnai"}, "there is no provider opnai; did you mean openai?"),
        ("m", {"AZURE_OPENAI_API_KEY": "k"}, {"provider": "azure"}, "where is Azure OpenAI?"),
        (None, {}, {"api_key": "mystery"}, "say whose key that is"),
        (None, {}, {"provider": "ollama"}, "say which model of ollama"),
    ],
)
def test_what_cannot_be_chosen(
    model: str | None, keys: Mapping[str, str], more: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        choose(model, keys, **more)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("model", "keys", "more", "words"),
    [
        (None, {}, {}, "sloyd demo"),
        (None, {}, {"provider": "groq"}, "no key for Groq: set GROQ_API_KEY (get one at https://"),
        ("sonnet", {}, {}, "no key for Anthropic: set ANTHROPIC_API_KEY"),
        ("grok-4.7", OPENAI, {}, "no key for xAI: set XAI_API_KEY"),
        ("anthropic/claude-opus-5", OPENAI, {}, "no key for Anthropic"),
    ],
)
def test_what_has_no_key(
    model: str | None, keys: Mapping[str, str], more: dict[str, Any], words: str
) -> None:
    with pytest.raises(ProviderError) as caught:
        choose(model, keys, **more)
    assert caught.value.problem == "no-key"
    assert words in str(caught.value)


def ollama(*names: str) -> ProviderServer:
    """A server with these models."""

    def reply(request: Request) -> Reply:
        if request.path == "/v1/models":
            return error(200, {"data": [{"id": name} for name in names]})
        if request.path == "/api/show":
            return error(200, {"model_info": {"x.context_length": 5000}, "capabilities": []})
        return chat("Here.")

    return ProviderServer(reply, repeat=True)


def test_the_only_model_here_is_taken_when_somebody_is_told() -> None:
    told: list[str] = []
    with ollama("qwen3:8b") as server:
        keys = {"OLLAMA_HOST": server.url}
        model, _ = choose(None, keys, notice=told.append)
        with pytest.raises(ProviderError) as caught:
            choose(None, keys)
    assert (model.info.provider, model.info.id) == ("ollama", "qwen3:8b")
    assert (model.info.context_window, model.info.base_url) == (5000, f"{server.url}/v1")
    (words,) = told
    assert words.startswith("no key is set; using qwen3:8b of Ollama on this machine")
    assert "sloyd --provider ollama --model qwen3:8b" in str(caught.value)


def test_several_models_here_are_offered() -> None:
    names = [f"m{number}" for number in range(7)]
    with ollama(*names) as server, pytest.raises(ProviderError) as caught:
        choose(None, {"OLLAMA_HOST": server.url}, notice=print)
    text = str(caught.value)
    assert "  sloyd --provider ollama --model m3\n" in text
    assert "and 3 more at Ollama" in text


def test_a_model_here_is_found_by_its_name_whatever_keys_there_are() -> None:
    with ollama("qwen3:8b", "org/llama") as server:
        host = {"OLLAMA_HOST": server.url}
        assert chosen("qwen3:8b", {**host, **OPENAI}) == "ollama/qwen3:8b"
        assert chosen("qwen3", host) == "ollama/qwen3:8b"
        assert chosen("org/llama", host) == "ollama/org/llama"
        with pytest.raises(UsageError, match="sloyd --provider ollama --model org/llama"):
            chosen(None, host, provider="ollama")
    with ollama("only") as server:
        assert chosen(None, {"OLLAMA_HOST": server.url}, provider="ollama") == "ollama/only"


def configured(tmp_path: Path, text: str) -> ModelTables:
    file = tmp_path / "config.toml"
    file.write_text(text)
    tables, problems = read_model_tables(load_settings(file))
    assert problems == ()
    return tables


MINE = """
[providers.mine]
base_url = "http://127.0.0.1:9/v1"
key = "$MINE"
headers = { "x-team" = "$TEAM" }
[[providers.mine.models]]
id = "big-one"
[models]
quick = "mine/big-one:low"
"""


def test_configured_providers_come_first(tmp_path: Path) -> None:
    tables = configured(tmp_path, MINE)
    keys = {"MINE": "k", "TEAM": "a", **OPENAI}
    assert chosen(None, keys, tables=tables) == "mine/big-one"
    assert chosen("big", keys, tables=tables) == "mine/big-one"
    model, level = choose("quick", keys, tables=tables)
    assert (model.info.id, level) == ("big-one", "low")
    assert choose("quick:high", keys, tables=tables)[1] == "high"
    assert dict(model.info.headers) == {"x-team": "a"}


def test_a_configured_key_that_is_not_set_is_none(tmp_path: Path) -> None:
    tables = configured(tmp_path, MINE)
    assert chosen(None, {"TEAM": "a", **OPENAI}, tables=tables) == "openai/gpt-6.2-sol"
    assert chosen("MINE/m", {"MINE": "k", "TEAM": "a"}, tables=tables) == "mine/m"


async def sent_key(tables: ModelTables, keys: Mapping[str, str], **choice: Any) -> str:
    """The key that reaches the server."""
    from tests.llm.support import HELLO

    with ollama() as server:
        model, _ = choose("mine/m", keys, tables=tables, base_url=f"{server.url}/v1", **choice)
        assert isinstance(model, HttpModel)
        async with model, model.stream(HELLO) as answer:
            assert [event async for event in answer]
        return server.requests[-1].headers.get("authorization", "")


async def test_flag_then_configuration_then_environment(tmp_path: Path) -> None:
    tables = configured(tmp_path, MINE)
    keys = {"MINE": "from-config", "TEAM": "a"}
    assert await sent_key(tables, keys) == "Bearer from-config"
    assert await sent_key(tables, keys, api_key="from-flag") == "Bearer from-flag"
    with pytest.raises(ProviderError, match="mine: there is no API key: the environment variable"):
        choose("mine/m", {"TEAM": "a"}, tables=tables)
    overridden = configured(tmp_path, "[providers.groq]\nkey = '!echo printed'\n")
    model, _ = choose(None, GROQ, tables=overridden)
    assert model.info.provider == "groq"


def test_what_a_person_says_of_a_local_model_counts_most(tmp_path: Path) -> None:
    tables = configured(tmp_path, '[models."ollama/qwen3:8b"]\ncontext_window = 777\n')
    with ollama("qwen3:8b") as server:
        model, _ = choose("ollama/qwen3:8b", {"OLLAMA_HOST": server.url}, tables=tables)
    assert (model.info.context_window, model.info.thinking_levels) == (777, ("off",))
