"""Prompt templates: which words go where."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.harness.templates import Template, expand, find_templates, split_arguments


def template(text: str) -> Template:
    return Template("t", text, Path("t.md"))


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        ("$1 and $2", "a b", "a and b"),
        ("$1|$2", "only", "only|"),
        ("all: $@", "a b c", "all: a b c"),
        ("all: $ARGUMENTS", "a b", "all: a b"),
        ("${1:-none}", "", "none"),
        ("${1:-none}", "x", "x"),
        ("${@:-nothing}", "", "nothing"),
        ("${@:2}", "a b c", "b c"),
        ("${@:2:1}", "a b c", "b"),
        ("${@:9}", "a b c", ""),
        ("costs $0.50 or $", "x", "costs .50 or $"),
        ("$1", '"two words" x', "two words"),
        ("$1", "$2 y", "$2"),
    ],
)
def test_places_are_filled(text: str, arguments: str, expected: str) -> None:
    assert expand(template(text), arguments) == expected


def test_apostrophes_and_unclosed_quotes_are_characters() -> None:
    assert split_arguments("""doesn't "fast path" 'it""") == ["doesn't", "fast path", "'it"]


@given(st.lists(st.text(st.characters(exclude_categories=["Z", "C"], exclude_characters="\"'"))))
def test_words_without_quotes_come_back(words: list[str]) -> None:
    kept = [word for word in words if word]
    assert split_arguments(" ".join(kept)) == kept


@given(st.text())
def test_an_argument_is_never_expanded_again(argument: str) -> None:
    words = split_arguments(argument)
    expected = f"<{words[0] if words else ''}>"
    assert expand(template("<$1>"), argument) == expected


def test_files_become_commands_and_broken_ones_are_named(tmp_path: Path) -> None:
    (tmp_path / "review.md").write_text("---\ndescription: Look at it\n---\nReview $1\n")
    (tmp_path / "plain.md").write_text("Do it\nnow\n")
    (tmp_path / "bad.md").write_text("---\na: [1\n---\nx\n")
    (tmp_path / "notes.txt").write_text("no template")
    found, problems = find_templates([tmp_path, tmp_path / "missing"])
    assert {item.name: item.description for item in found} == {
        "review": "Look at it",
        "plain": "Do it",
    }
    assert expand(next(item for item in found if item.name == "review"), "x").strip() == "Review x"
    assert [problem.path.name for problem in problems] == ["bad.md"]
    assert problems[0].line is not None
