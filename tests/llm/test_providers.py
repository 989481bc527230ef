"""Providers by name, keys and base URLs from flags and environment, lists of models."""

from __future__ import annotations

import pytest

from sloyd.errors import ProviderError, UsageError
from sloyd.llm.credentials import base_url_from, key_from
from sloyd.llm.listing import list_models, nearest_names
from sloyd.llm.providers import PROVIDERS, find_provider, model_info
from sloyd.llm.wires import APIS, wire_for
from tests.llm.support import info_at
from tests.servers import ProviderServer, error, page


def test_a_key_comes_from_the_environment() -> None:
    openai, anthropic = PROVIDERS["openai"], PROVIDERS["anthropic"]
    assert key_from(openai, {"OPENAI_API_KEY": " from-env\n"}) == "from-env"
    assert key_from(openai, {"OPENAI_API_KEY": " "}) is None
    assert key_from(anthropic, {"OPENAI_API_KEY": "from-env"}) is None


def test_a_flag_beats_the_address_of_the_environment() -> None:
    environment = {"OPENAI_BASE_URL": "http://there/v1"}
    assert base_url_from(PROVIDERS["openai-responses"], None, environment) == "http://there/v1"
    assert base_url_from(PROVIDERS["openai"], "http://here/v1", environment) == "http://here/v1"
    assert base_url_from(PROVIDERS["google"], None, environment) is None


def test_every_provider_has_a_wire() -> None:
    for provider in PROVIDERS.values():
        assert wire_for(provider.api).api == provider.api
        assert find_provider(provider.name.upper()) is provider
        info = model_info(provider, "m", base_url="http://x")
        assert (info.api, info.base_url, info.id) == (provider.api, "http://x", "m")


def test_apis_have_the_names_of_other_programs_too() -> None:
    assert wire_for("openai-completions") is wire_for("openai-chat")
    with pytest.raises(UsageError, match="openai-chat"):
        wire_for("telepathy")


@pytest.mark.parametrize("api", APIS)
async def test_the_models_of_a_server_are_listed(api: str) -> None:
    body = {"models": [{"name": "models/g"}]} if api[0] == "g" else {"data": [{"id": "g"}]}
    with ProviderServer(error(200, body)) as server:
        assert await list_models(info_at(server, api), "key") == ["g"]
        assert server.requests[0].path in {"/v1/models", "/v1beta/models"}


async def test_a_server_without_a_list_says_so() -> None:
    with ProviderServer(error(404, {}), page()) as server:
        for _ in range(2):
            with pytest.raises(ProviderError, match="models"):
                await list_models(info_at(server, "openai-chat"), None)


def test_near_names_come_first() -> None:
    names = [f"model-{number}" for number in range(20)] + ["gpt-5.1", "gpt-5.1-mini"]
    assert nearest_names("gpt5.1", names)[0] == "gpt-5.1"
    assert nearest_names("x", ["a", "b"]) == ["a", "b"]
