"""Keys and addresses: literal, variable, command, keyring; hosts without scheme or path."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sloyd.errors import ProviderError
from sloyd.llm.credentials import base_url_from, key_from, secret_of
from sloyd.llm.providers import Provider, find_provider


def known(name: str) -> Provider:
    provider = find_provider(name)
    assert provider is not None
    return provider


@pytest.mark.parametrize(
    ("source", "secret"),
    [
        (" sk-literal\n", "sk-literal"),
        ("$MY_KEY", "from the variable"),
        ("${MY_KEY}", "from the variable"),
        ("$$MY_KEY", "$MY_KEY"),
        ("!!bang", "!bang"),
        ("half$MY_KEY", "half$MY_KEY"),
        ("!printf 'printed\\n\\n'", "printed"),
        ("!echo a && echo b", "a\nb"),
    ],
)
def test_where_a_secret_is(source: str, secret: str) -> None:
    assert secret_of(source, {"MY_KEY": " from the variable "}) == secret


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("$NOWHERE", "the environment variable NOWHERE"),
        ("!echo no such entry >&2; exit 3", "gave 3: no such entry"),
        ("!true", "gave 0: it printed nothing"),
        ("!no-such-command-here", "no-such-command-here"),
    ],
)
def test_a_secret_that_is_not_there(source: str, words: str) -> None:
    with pytest.raises(ProviderError, match=words) as caught:
        secret_of(source, {})
    assert caught.value.problem == "no-key"


def test_the_keyring_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "keyring.py").write_text(
        "def get_password(service, user):\n"
        "    if service == 'locked':\n"
        "        raise RuntimeError('the keyring is locked')\n"
        "    return {('sloyd', 'me'): 'kept'}.get((service, user))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "keyring", raising=False)
    assert secret_of("keyring:sloyd/me", {}) == "kept"
    with pytest.raises(ProviderError, match="nothing for the service sloyd and user you"):
        secret_of("keyring:sloyd/you", {})
    with pytest.raises(ProviderError, match="the keyring is locked"):
        secret_of("keyring:locked/me", {})
    del sys.modules["keyring"]


def test_a_missing_keyring_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ProviderError, match=r"sloyd\[keyring\]"):
        secret_of("keyring:sloyd/me", {})


@pytest.mark.parametrize(
    ("provider", "variable", "value", "url"),
    [
        ("ollama", "OLLAMA_HOST", "127.0.0.1:9", "http://127.0.0.1:9/v1"),
        ("ollama", "OLLAMA_HOST", "http://box:11434/", "http://box:11434/v1"),
        ("ollama", "OLLAMA_HOST", "0.0.0.0:9", "http://127.0.0.1:9/v1"),
        ("ollama", "OLLAMA_HOST", "http://box/own", "http://box/own"),
        ("azure", "AZURE_OPENAI_ENDPOINT", "https://a.b/", "https://a.b/openai/v1"),
        ("openai", "OPENAI_BASE_URL", "http://box", "http://box"),
        ("groq", "GROQ_BASE_URL", "", None),
    ],
)
def test_addresses_from_the_environment(
    provider: str, variable: str, value: str, url: str | None
) -> None:
    assert base_url_from(known(provider), None, {variable: value}) == url
    assert base_url_from(known(provider), " http://flag ", {variable: value}) == "http://flag"


def test_each_provider_has_its_own_variable() -> None:
    environment = {"GROQ_API_KEY": "g", "HF_TOKEN": "h", "MOONSHOT_API_KEY": "m"}
    assert key_from(known("groq"), environment) == "g"
    assert key_from(known("hf"), environment) == "h"
    assert key_from(known("kimi"), environment) == "m"
    assert key_from(known("openrouter"), environment) is None
