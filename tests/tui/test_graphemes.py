"""Clusters against known texts, and what must hold for any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.modes.tui.graphemes import clusters, next_boundary, previous_boundary

FAMILY = "👨‍👩‍👧‍👦"
SCOTLAND = "🏴󠁧󠁢󠁳󠁣󠁴󠁿"
PIECES = st.sampled_from(
    ["a", " ", "\n", "e\u0301", FAMILY, "🇩🇪", "🇫", "한", "\u1112", "\u1161", "❤️", "\u200d"]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=30).map("".join), st.text(max_size=40))


@pytest.mark.parametrize(
    "cluster",
    [
        "a",
        "é",
        "e\u0301\u0302",
        "👨‍👩‍👧‍👦",
        "👍🏽",
        "🇩🇪",
        "각",
        "한",
        "❤️",
        "1️⃣",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
        "👩🏽‍🚀",
        "🏳️‍🌈",
        "\n",
        "กำ"[:1],
    ],
)
def test_is_one_character_among_others(cluster: str) -> None:
    text = f"x{cluster}y"
    assert next_boundary(text, 1) == 1 + len(cluster)
    assert previous_boundary(text, 1 + len(cluster)) == 1


def test_flags_come_in_pairs() -> None:
    text = "🇩🇪🇫🇷🇮"
    assert [text[start:end] for start, end in clusters(text)] == ["🇩🇪", "🇫🇷", "🇮"]


def test_two_families_are_two() -> None:
    text = "👨‍👩‍👧👨‍👩‍👦"
    assert len(list(clusters(text))) == 2


@given(TEXTS)
def test_clusters_cover_the_text_and_are_found_from_behind(text: str) -> None:
    spans = list(clusters(text))
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)
    for start, end in spans:
        assert previous_boundary(text, end) == start


@given(st.lists(st.sampled_from(["🇩", "🇪"]), min_size=1, max_size=90).map("".join), st.data())
def test_a_boundary_before_is_before(text: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(text)))
    assert 0 <= previous_boundary(text, place) < place
