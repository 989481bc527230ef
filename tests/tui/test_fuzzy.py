"""Fuzzy matching: what fits, what fits best, and the fast way against the plain one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.modes.tui.fuzzy import Lines, match, rank

TEXTS = st.text(alphabet="abcAB/._-é ßİ", max_size=12)


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [
        ("agent", "src/agent.py", "src/agents/tool.py"),
        ("mod", "src/modes.py", "src/commode.py"),
        ("tp", "test_paths.py", "stop.py"),
        ("read", "src/tools/read.py", "src/thread.py"),
        ("cc", "CamelCase.py", "accent.py"),
        ("make", "Makefile", "src/a/make_long_name_of_a_file.py"),
    ],
)
def test_the_better_path_comes_first(query: str, better: str, worse: str) -> None:
    assert [text for text, _ in Lines([worse, better]).best(query, 5)] == [better, worse]


def test_each_word_must_be_found() -> None:
    assert match("son ant", "anthropic/claude-sonnet-5") is not None
    assert match("son xyz", "anthropic/claude-sonnet-5") is None
    assert [index for index, _ in rank("gpt", ["claude", "gpt-6", "my gpt"])] == [1, 2]


def test_places_are_those_of_the_letters() -> None:
    found = match("drs", "modes/drafts.py", path=True)
    assert found is not None
    assert [("modes/drafts.py")[place] for place in found.places] == ["d", "r", "s"]


def test_a_slash_reaches_over_directories() -> None:
    lines = Lines(["src/modes/tui/app.py", "src/app.py", "tui.py"])
    assert [text for text, _ in lines.best("tui/app", 5)] == ["src/modes/tui/app.py"]


@given(st.text(alphabet="abAé/ß.İ", min_size=1, max_size=4), st.lists(TEXTS, max_size=20))
def test_the_fast_way_finds_what_the_plain_one_finds(query: str, texts: list[str]) -> None:
    fast = {text for text, _ in Lines(texts).best(query, 100)}
    assert fast == {text for text in texts if match(query, text, path=True) is not None}


@given(st.text(alphabet="abA/é", min_size=1, max_size=4), TEXTS)
def test_places_spell_the_query(query: str, text: str) -> None:
    found = match(query, text, path=True)
    if found is not None:
        assert "".join(text[place] for place in found.places).lower() == query.lower()
        assert list(found.places) == sorted(set(found.places))
