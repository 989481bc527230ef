"""The event-stream parser: every spelling, every cut."""

from __future__ import annotations

import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sloyd.llm.sse import SseEvent, SseParser

_FIELD_TEXT = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))


def _parse(*chunks: bytes) -> list[SseEvent]:
    parser = SseParser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.finish()


@given(
    data=st.lists(_FIELD_TEXT.map(lambda text: f"x{text}"), min_size=1, max_size=4),
    newline=st.sampled_from(["\n", "\r", "\r\n"]),
    bom=st.booleans(),
    last_end=st.booleans(),
    cuts=st.lists(st.integers(0, 400), max_size=8),
)
def test_any_spelling_and_any_cut_gives_the_same_events(
    data: list[str], newline: str, bom: bool, last_end: bool, cuts: list[int]
) -> None:
    lines = [": comment"]
    for text in data:
        lines += [f"data: {text}", ""]
    body = newline.join(lines) + (newline * 2 if last_end else "")
    raw = (b"\xef\xbb\xbf" if bom else b"") + body.encode()
    places = [0, *sorted(min(cut, len(raw)) for cut in cuts), len(raw)]
    chunks = [raw[a:b] for a, b in pairwise(places)]
    expected = [SseEvent("", text) for text in data]
    assert _parse(*chunks) == expected
    assert _parse(*(raw[i : i + 1] for i in range(len(raw)))) == expected


def test_data_lines_are_joined_and_names_are_kept() -> None:
    body = b"event: delta\ndata: a\ndata:b\ndata\nid: 7\nretry: 3\n\ndata: c\n\n"
    assert _parse(body) == [SseEvent("delta", "a\nb\n"), SseEvent("", "c")]


def test_line_separators_of_unicode_are_data() -> None:
    text = "a\u2028b\u2029c\u0085d\x0be\x1cf"
    assert _parse(f"data: {text}\n\n".encode()) == [SseEvent("", text)]


def test_an_event_without_data_is_none() -> None:
    assert _parse(b"event: ping\n\n: hello\n\n\n") == []


def test_a_last_event_without_an_empty_line_counts() -> None:
    assert _parse(b"event: end\ndata: x") == [SseEvent("end", "x")]


def test_a_page_has_no_fields() -> None:
    parser = SseParser()
    parser.feed(b"<!DOCTYPE html>\n<title>Hi</title>\n")
    assert parser.finish() == []
    assert parser.fields == 0


def test_one_line_of_many_megabytes_is_linear() -> None:
    piece = b"x" * 1024
    started = time.process_time()
    events = _parse(b"data: ", *([piece] * 20_000), b"\n\n")
    assert time.process_time() - started < 1.0
    assert len(events[0].data) == 20_000 * 1024
