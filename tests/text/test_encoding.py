"""Encodings: told apart by facts, exact both ways, and refusing what a file cannot hold."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.errors import EncodingError
from sloyd.text.encoding import (
    UTF8,
    Encoding,
    decode,
    detect,
    encode,
    encode_added,
    incremental_decoder,
    looks_binary,
    looks_like_bare_utf16,
    parse_undecodable,
    show_undecodable,
)

LEGACY = Encoding("unknown-8bit")
BYTES = st.one_of(
    st.binary(max_size=40),
    st.text(max_size=20).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20).map(
        lambda text: text.encode("utf-16")
    ),
    st.lists(st.sampled_from([b"\xff\xfe", b"\0\0", b"\xef\xbb\xbf", b"a", b"\xc3", b"\xa9"])).map(
        b"".join
    ),
)


@pytest.mark.parametrize(
    ("data", "name", "bom"),
    [
        (b"", "utf-8", b""),
        (b"plain", "utf-8", b""),
        ("é😀".encode(), "utf-8", b""),
        (b"\xef\xbb\xbfa", "utf-8", b"\xef\xbb\xbf"),
        (b"\xef\xbb\xbf\xe9", "unknown-8bit", b"\xef\xbb\xbf"),
        (b"caf\xe9", "unknown-8bit", b""),
        (b"\xff\xfea\0", "utf-16-le", b"\xff\xfe"),
        (b"\xfe\xff\0a", "utf-16-be", b"\xfe\xff"),
        (b"\xff\xfe\0\0a\0\0\0", "utf-32-le", b"\xff\xfe\0\0"),
        (b"\0\0\xfe\xff\0\0\0a", "utf-32-be", b"\0\0\xfe\xff"),
        # A mark in front of something else: an odd number of bytes, half a pair.
        (b"\xff\xfea", "unknown-8bit", b""),
        (b"\xff\xfe\0\xd8", "unknown-8bit", b""),
    ],
)
def test_detects_by_mark_and_validity(data: bytes, name: str, bom: bytes) -> None:
    found = detect(data, complete=True)
    assert (found.name, found.bom) == (name, bom)
    assert encode(decode(data, found), found) == data


def test_a_cut_character_at_the_end_of_a_head_is_no_damage() -> None:
    head = "日本".encode()[:-1]
    assert detect(head, complete=False) == UTF8
    assert detect(head, complete=True) == LEGACY


@given(BYTES)
def test_decoding_and_encoding_are_inverse(data: bytes) -> None:
    encoding = detect(data, complete=True)
    assert encode(decode(data, encoding), encoding) == data


@given(
    st.text(st.one_of(st.characters(), st.characters(categories=["Cs"])), max_size=20),
    st.sampled_from([UTF8, LEGACY, Encoding("utf-16-le", b"\xff\xfe")]),
)
def test_encoding_comes_back_or_is_refused(text: str, encoding: Encoding) -> None:
    try:
        data = encode(text, encoding)
    except EncodingError:
        return
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assert decode(data, encoding) == joined


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("é", LEGACY),
        ("\ufeff", LEGACY),
        ("x\ud83d", UTF8),
        ("x\ud83d", LEGACY),
        ("\udce9", UTF8),
        ("\udce9", Encoding("utf-16-le", b"\xff\xfe")),
    ],
)
def test_what_a_file_cannot_hold_is_not_added(text: str, encoding: Encoding) -> None:
    with pytest.raises(EncodingError):
        encode_added(text, encoding)


def test_bytes_named_one_by_one_can_be_added_to_a_legacy_file() -> None:
    assert encode_added("caf\udce9 1", LEGACY) == b"caf\xe9 1"


def test_two_halves_of_a_pair_are_one_character() -> None:
    assert encode_added("\ud83d\ude00", UTF8) == "😀".encode()


def test_escapes_that_join_to_a_character_are_refused() -> None:
    with pytest.raises(EncodingError, match="join"):
        encode("\udcc3\udca9", LEGACY)


@given(BYTES, st.lists(st.integers(0, 40), max_size=4))
def test_decoding_in_pieces_is_decoding_the_whole(data: bytes, cuts: list[int]) -> None:
    encoding = detect(data, complete=True)
    decoder = incremental_decoder(encoding)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [decoder.decode(data[start:end]) for start, end in pairwise(edges)]
    assert "".join(pieces) + decoder.decode(b"", final=True) == decode(data, encoding)


def test_damaged_utf16_is_read_to_its_end() -> None:
    decoder = incremental_decoder(Encoding("utf-16-le", b"\xff\xfe"))
    assert decoder.decode(b"\xff\xfea\0\x00\xd8b\0c", final=True) == "a\ud800b\ufffd"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("caf\udce9 = 1", "caf⟨E9⟩ = 1"),
        ("⟨E9⟩", "⟨⟨E9⟩"),
        ("⟨\udce9", "⟨⟨⟨E9⟩"),
        ("⟨a⟩ ⟨EG⟩ ⟨e9⟩", "⟨a⟩ ⟨EG⟩ ⟨e9⟩"),
        ("\ud83d!", "⟨D83D⟩!"),
    ],
)
def test_undecodable_bytes_are_visible(text: str, shown: str) -> None:
    assert show_undecodable(text) == shown
    assert parse_undecodable(shown) == text


@given(st.text(st.sampled_from("⟨⟩E9D83\udce9\ud83da"), max_size=20))
def test_markers_lose_nothing(text: str) -> None:
    assert parse_undecodable(show_undecodable(text)) == text


@pytest.mark.parametrize(
    ("head", "binary"),
    [
        (b"", False),
        (b"text\n\t\x0c\x1b[0m\x08", False),
        ("日本語".encode("shift_jis"), False),
        ("é".encode("utf-16"), False),
        (b"8=FIX.4.2\x019=65\x0135=A\x01", False),
        (b"a\0b", True),
        (b"\x01\x02\x03\x04ab", True),
        (b"\x80\x9c\x01\xffq\x02z", True),
    ],
)
def test_binary_is_told_from_text(head: bytes, binary: bool) -> None:
    assert looks_binary(head) is binary


@pytest.mark.parametrize(
    ("head", "bare"),
    [
        ("key = 1\n".encode("utf-16-le"), True),
        ("key = é\n".encode("utf-16-be"), True),
        ("key = 1\n".encode("utf-16"), False),
        (b"a\0b\nkey=1\n", False),
        (b"\0" * 16, False),
        (b"\n\n\0\n", False),
        (b"plain", False),
        (b"", False),
    ],
)
def test_utf16_without_a_mark_is_suspected(head: bytes, bare: bool) -> None:
    assert looks_like_bare_utf16(head) is bare
