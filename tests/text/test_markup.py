"""Tags in prompts: nothing inside them can end them."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from sloyd.text.markup import attribute, escape


class Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs).get("name")))

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.text("<>&\"' ab"))
def test_what_is_put_in_comes_out_again(value: str, body: str) -> None:
    seen = Seen()
    seen.feed(f"<file name={attribute(value)}>{escape(body)}</file>")
    seen.close()
    assert seen.tags == [("file", value)]
    assert seen.text == body
