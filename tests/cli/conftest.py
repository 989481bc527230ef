"""What the tests of the command line share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import ProviderServer, chat


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    """A provider that greets; the environment leads to it."""
    with ProviderServer(chat(text="Hi there."), repeat=True) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.base_url("openai"))
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        yield provider
