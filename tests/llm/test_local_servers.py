"""Servers on loopback: found when they answer, described by what they say themselves."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from sloyd.llm.local_servers import LOCAL_PROVIDERS, described, find_servers, offered_models
from sloyd.llm.models import ModelInfo
from sloyd.llm.providers import PROVIDERS, model_info
from tests.servers import ProviderServer, Reply, Request, error, page

VARIABLES = {name: PROVIDERS[name].base_url_variable or "" for name in LOCAL_PROVIDERS}
NOBODY = "127.0.0.1:9"


@contextmanager
def serving(answers: Mapping[str, Any]) -> Iterator[ProviderServer]:
    """A server that answers JSON by path, and 404 elsewhere."""

    def reply(request: Request) -> Reply:
        found = answers.get(request.path)
        return error(404, {"error": "not here"}) if found is None else error(200, found)

    with ProviderServer(reply, repeat=True) as server:
        yield server


def listed(*names: str) -> dict[str, Any]:
    return {"/v1/models": {"object": "list", "data": [{"id": name} for name in names]}}


def environment(**servers: ProviderServer) -> dict[str, str]:
    """Where the usual servers are: at these, or at a closed port."""
    places = {name: servers[name].url if name in servers else NOBODY for name in LOCAL_PROVIDERS}
    return {VARIABLES[name]: place for name, place in places.items()}


def test_those_that_answer_are_found() -> None:
    with ExitStack() as stack:
        ollama = stack.enter_context(serving(listed("qwen3:8b", "nomic-embed-text")))
        vllm = stack.enter_context(serving(listed("org/model")))
        nothing = stack.enter_context(serving(listed()))
        other = stack.enter_context(ProviderServer(page("My app"), repeat=True))
        found = find_servers(
            environment(ollama=ollama, vllm=vllm, lmstudio=nothing, llamacpp=other)
        )
    assert [(server.provider.name, server.models) for server in found] == [
        ("ollama", ("qwen3:8b",)),
        ("vllm", ("org/model",)),
    ]
    assert found[0].base_url == f"{ollama.url}/v1"


def test_a_silent_server_is_not_waited_for() -> None:
    with ProviderServer(Reply(before="hang"), repeat=True) as server:
        began = time.monotonic()
        assert find_servers(environment(ollama=server), timeout=0.2) == ()
        assert time.monotonic() - began < 2


def test_only_this_machine_is_asked() -> None:
    far = dict.fromkeys(VARIABLES.values(), "http://192.0.2.1:11434")
    assert find_servers(far) == ()


@pytest.mark.parametrize("body", ["[]", '{"data": 3}', '{"data": [3, {"id": 4}]}', "{", ""])
def test_what_is_no_list_is_none(body: str) -> None:
    with ProviderServer(Reply([body.encode()]), repeat=True) as server:
        assert offered_models(f"{server.url}/v1") == ()


def info_of(name: str, server: ProviderServer, model: str = "m") -> ModelInfo:
    return model_info(PROVIDERS[name], model, base_url=f"{server.url}/v1")


def test_ollama_tells_window_images_and_reasoning() -> None:
    shown = {
        "capabilities": ["completion", "tools", "vision", "thinking"],
        "model_info": {"qwen3.context_length": 262144},
        "parameters": 'stop "x"\nnum_ctx                        16384\n',
    }
    with serving({"/api/show": shown}) as server:
        info = described(info_of("ollama", server), None)
        assert json.loads(server.requests[0].body) == {"model": "m"}
    assert (info.context_window, info.inputs) == (16384, ("text", "image"))
    assert info.thinking_levels == ("off", "low", "medium", "high")
    assert info.quirks["thinking_format"] == "openai"
    with serving({"/api/show": {"model_info": {"llama.context_length": 8192}}}) as server:
        info = described(info_of("ollama", server), None)
    assert (info.context_window, info.max_output) == (8192, 8192)
    assert info.thinking_levels == ("off",)
    assert info.quirks["thinking_format"] == "none"


def test_llamacpp_tells_the_window_it_was_started_with() -> None:
    props = {
        "default_generation_settings": {"n_ctx": 4096},
        "modalities": {"vision": False},
        "chat_template": "{% if enable_thinking %}",
    }
    with serving({"/props": props}) as server:
        info = described(info_of("llamacpp", server), "key")
        assert server.requests[0].headers["authorization"] == "Bearer key"
    assert (info.context_window, info.inputs) == (4096, ("text",))
    assert info.thinking_levels == ("off", "high")


def test_lmstudio_and_vllm_tell_the_window() -> None:
    facts = {"type": "vlm", "max_context_length": 32768, "loaded_context_length": 8192}
    with serving({"/api/v0/models/org/m": facts}) as server:
        info = described(info_of("lmstudio", server, "org/m"), None)
    assert (info.context_window, info.inputs) == (8192, ("text", "image"))
    answer = {"/v1/models": {"data": [{"id": "other"}, {"id": "m", "max_model_len": 40960}]}}
    with serving(answer) as server:
        assert described(info_of("vllm", server), None).context_window == 40960


@pytest.mark.parametrize("name", [*LOCAL_PROVIDERS, "openai"])
def test_a_server_that_says_nothing_changes_nothing(name: str) -> None:
    with ProviderServer(page(), repeat=True) as server:
        info = info_of(name, server)
        assert described(info, None) == info
