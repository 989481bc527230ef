"""Providers and models of config.toml: what they mean, and how a mistake in them is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sloyd.harness.model_config import QUIRKS, read_model_tables
from sloyd.harness.model_tables import ModelTables
from sloyd.harness.settings_files import load_settings
from sloyd.llm.models import Prices
from tests.project.sources import sources

FULL = """
[model]
provider = "mine"

[providers.mine]
title = "My server"
base_url = "http://127.0.0.1:9000/v1/"
api = "openai-chat"
key = "$MINE"
headers = { "x-team" = "a" }
quirks = { stream_usage = false }

[[providers.mine.models]]
id = "big"
name = "Big one"
context_window = 32000
max_output = 4000
inputs = ["text"]
thinking_levels = ["off", "high"]
prices = { input = 1, output = 2.5, cache_read = 0.1 }
quirks = { send_max_tokens = true }

[[providers.mine.models]]
id = "small"

[providers.groq]
default_model = "openai/gpt-oss-20b"
key = "!print-key"

[models]
quick = "groq/openai/gpt-oss-20b:low"

[models."openai/gpt-6.2-sol"]
context_window = 1000
"""


def read(tmp_path: Path, text: str) -> tuple[ModelTables, list[str]]:
    file = tmp_path / "config.toml"
    file.write_text(text)
    loaded = load_settings(file)
    tables, problems = read_model_tables(loaded)
    return tables, [str(problem) for problem in (*loaded.problems, *problems)]


def test_all_that_may_be_said(tmp_path: Path) -> None:
    tables, problems = read(tmp_path, FULL)
    assert problems == []
    mine = tables.find_provider("mine")
    assert mine is not None
    assert (mine.title, mine.base_url, mine.default_model) == (
        "My server",
        "http://127.0.0.1:9000/v1",
        "big",
    )
    info = tables.info(mine, "big")
    assert (info.name, info.context_window, info.max_output) == ("Big one", 32000, 4000)
    assert (info.inputs, info.thinking_levels) == (("text",), ("off", "high"))
    assert info.prices == Prices(input=1.0, output=2.5, cache_read=0.1)
    assert dict(info.headers) == {"x-team": "a"}
    assert dict(info.quirks) == {"stream_usage": False, "send_max_tokens": True}
    assert list(tables.ids(mine)) == ["big", "small"]
    assert dict(tables.keys) == {"mine": "$MINE", "groq": "!print-key"}
    groq = tables.find_provider("groq")
    assert groq is not None
    assert (groq.default_model, groq.base_url) == (
        "openai/gpt-oss-20b",
        "https://api.groq.com/openai/v1",
    )
    assert dict(tables.aliases) == {"quick": "groq/openai/gpt-oss-20b:low"}
    openai = tables.find_provider("openai")
    assert openai is not None
    assert tables.info(openai, "gpt-6.2-sol").context_window == 1000


def test_a_known_provider_at_another_address_speaks_its_usual_api(tmp_path: Path) -> None:
    tables, problems = read(tmp_path, '[providers.openai]\nbase_url = "http://proxy/v1"\n')
    openai = tables.find_provider("openai")
    assert problems == []
    assert openai is not None
    info = tables.info(openai, "gpt-6.2-sol")
    assert (info.api, info.base_url, openai.needs_key) == ("openai-chat", "http://proxy/v1", False)


def test_nothing_configured_is_what_is_known(tmp_path: Path) -> None:
    tables, problems = read(tmp_path, "")
    assert (tables, problems) == (ModelTables(), [])


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[providers.a]\nkey = 'x'\n", 1, "providers.a: base_url is missing"),
        ("\n[providers.a]\nbase_ulr = 'x'\n", 2, "unknown key base_ulr; did you mean base_url?"),
        (
            "[providers.a]\nbase_url='x'\n[[providers.a.models]]\nid='m'\ncontext_window='9'\n",
            1,
            "providers.a.models[0].context_window: Expected `int | null`, got `str`",
        ),
        (
            "[providers.a]\nbase_url='x'\n[[providers.a.models]]\nname='m'\n",
            1,
            "required field `id`",
        ),
        ("[providers.'a b']\nbase_url='x'\napi='smoke'\n", 1, "providers.a b.api: `smoke` is not"),
        (
            "[providers.a]\nbase_url='x'\nquirks={efort=1}\n",
            1,
            "unknown quirk efort; did you mean efforts?",
        ),
        ("[providers]\na = 3\n", 2, "providers.a: must be a table"),
        ("[models.nobody]\ncontext_window = 3\n", 1, 'the name must be "PROVIDER/ID"'),
        ("[models.'openai/m']\nwindow = 3\n", 1, "unknown key window"),
        ("[models.'openai/m']\ninputs = ['smell']\n", 1, "Invalid enum value 'smell'"),
    ],
)
def test_mistakes_are_named_and_skipped(text: str, line: int, words: str, tmp_path: Path) -> None:
    good = "[providers.good]\nbase_url = 'http://x'\n"
    tables, problems = read(tmp_path, text + good)
    (problem,) = problems
    assert problem.startswith(f"{tmp_path / 'config.toml'}:{line}: ")
    assert words in problem
    assert problem.endswith("; skipped")
    assert tables.find_provider("good") is not None


def test_a_mistake_names_the_file_that_holds_it(tmp_path: Path) -> None:
    user, project = tmp_path / "user.toml", tmp_path / "project.toml"
    user.write_text("[providers.one]\nbase_url = 'http://x'\n")
    project.write_text("# ours\n[providers.two]\nkey = 'k'\n")
    tables, problems = read_model_tables(load_settings(user, project))
    assert [(problem.file, problem.line) for problem in problems] == [(project, 2)]
    assert tables.find_provider("one") is not None


def test_the_known_quirks_are_those_of_the_wires() -> None:
    used = {
        name
        for source in sources("src/sloyd/llm")
        for name in re.findall(r'quirks\.get\(\s*"(\w+)"', source.text)
    }
    assert used == QUIRKS
