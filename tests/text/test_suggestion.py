"""The nearest known name, or what else there is to say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sloyd.text.suggestion import suggestion


def test_a_slip_is_named_with_its_sign() -> None:
    assert suggestion("modle", ["model", "tree"], "/help lists them", sign="/") == (
        "; did you mean /model?"
    )


def test_nothing_near_leaves_what_else_there_is_to_say() -> None:
    assert suggestion("zzz", ["model", "tree"], "/help lists them") == "; /help lists them"
    assert suggestion("zzz", ["model", "tree"]) == ""


@given(st.lists(st.text(min_size=1, max_size=40), min_size=1))
def test_a_known_name_is_nearest_to_itself(known: list[str]) -> None:
    assert suggestion(known[-1], iter(known)) == f"; did you mean {known[-1]}?"
