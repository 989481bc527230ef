"""Which encoding a file's bytes are in, and the exact way from bytes to text and back.

A guess never decides what is written. Four families are told apart, by facts only:

- UTF-16 and UTF-32, when a byte order mark says so (``FF FE 00 00`` is UTF-32LE);
- UTF-8, with or without a mark, when every byte of it is valid;
- ``unknown-8bit``: everything else (Latin-1, cp1252, GBK, Shift-JIS, binary data). Its bytes pass
  through as they are: what is valid UTF-8 becomes characters, every other byte a surrogate escape
  (PEP 383), so that `decode` and `encode` are exact inverses. Nobody knows what ``é`` would be in
  such a file, so `encode_added` takes ASCII and escapes only.

Undecodable bytes are shown to a model as markers, ``⟨E9⟩`` for the byte 0xE9 (`show_undecodable`),
and `parse_undecodable` reads them back. Literal text that looks like a marker is shown with its
opening brackets doubled, so two different texts never look alike.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from sloyd.errors import EncodingError

__all__ = [
    "UTF8",
    "Encoding",
    "EncodingName",
    "TextDecoder",
    "decode",
    "detect",
    "encode",
    "encode_added",
    "incremental_decoder",
    "is_utf8",
    "looks_binary",
    "looks_like_bare_utf16",
    "parse_undecodable",
    "show_undecodable",
]

EncodingName: TypeAlias = Literal[
    "utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "unknown-8bit"
]

_UTF8_BOM: Final = codecs.BOM_UTF8
# UTF-32LE comes before UTF-16LE, whose mark is a prefix of it.
_WIDE_BOMS: Final[tuple[tuple[EncodingName, bytes], ...]] = (
    ("utf-32-le", codecs.BOM_UTF32_LE),
    ("utf-32-be", codecs.BOM_UTF32_BE),
    ("utf-16-le", codecs.BOM_UTF16_LE),
    ("utf-16-be", codecs.BOM_UTF16_BE),
)
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoding and the byte order mark that the file begins with (empty when it has none)."""

    name: EncodingName
    bom: bytes = b""

    @property
    def is_wide(self) -> bool:
        """Whether it is UTF-16 or UTF-32."""
        return self.name.startswith(("utf-16", "utf-32"))

    @property
    def codec(self) -> str:
        """The name under which Python's codecs know it; ``unknown-8bit`` rides on UTF-8."""
        return "utf-8" if self.name == "unknown-8bit" else self.name

    @property
    def label(self) -> str:
        """What people read: ``utf-8``, ``utf-8 with BOM``, ``utf-16-le with BOM``, ..."""
        return f"{self.name} with BOM" if self.bom else self.name


UTF8: Final = Encoding("utf-8")


def is_utf8(data: bytes, *, complete: bool = True) -> bool:
    """Whether all of it is valid UTF-8. When not ``complete``, a cut last character is valid.

    Memory is bounded: the text is checked in pieces and never kept.
    """
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _CHUNK):
            decoder.decode(data[start : start + _CHUNK])
        decoder.decode(b"", complete)
    except UnicodeDecodeError:
        return False
    return True


def detect(head: bytes, *, complete: bool) -> Encoding:
    """The encoding of a file that begins with ``head``; ``complete`` says that this is all of it.

    A mark of UTF-16 or UTF-32 in front of bytes that are not that encoding means nothing: such a
    complete file is ``unknown-8bit``, mark included.
    """
    for name, bom in _WIDE_BOMS:
        if head.startswith(bom) and (not complete or _is_wide_text(head, name, len(bom))):
            return Encoding(name, bom)
    bom = _UTF8_BOM if head.startswith(_UTF8_BOM) else b""
    return Encoding("utf-8" if is_utf8(head, complete=complete) else "unknown-8bit", bom)


def _is_wide_text(data: bytes, name: str, start: int) -> bool:
    try:
        data[start:].decode(name)
    except UnicodeDecodeError:
        return False
    return True


def decode(data: bytes, encoding: Encoding) -> str:
    """The text of a whole file, without its byte order mark; `encode` gives the same bytes back.

    Bytes that are not valid UTF-8 become surrogate escapes. Raises `EncodingError` for damaged
    UTF-16 or UTF-32, which has no such escape.
    """
    body = data[len(encoding.bom) :] if encoding.bom else data
    if not encoding.is_wide:
        return body.decode("utf-8", "surrogateescape")
    try:
        return body.decode(encoding.codec)
    except UnicodeDecodeError as error:
        raise EncodingError(f"the file is not valid {encoding.name}: {error.reason}") from None


def encode(text: str, encoding: Encoding) -> bytes:
    """The bytes of a whole file, byte order mark included: the inverse of `decode`.

    Raises `EncodingError` for text that would not come back from `decode` as it was: lone
    surrogates, escapes in an encoding that has none, escapes that join to a valid character.
    """
    text = _join_surrogates(text)
    if encoding.name != "unknown-8bit":
        return encoding.bom + _encode_strictly(text, encoding)
    try:
        body = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise EncodingError(_lone_surrogate(text[error.start])) from None
    if body.decode("utf-8", "surrogateescape") != text:
        raise EncodingError("escaped bytes in the text join to a valid character")
    return encoding.bom + body


def encode_added(text: str, encoding: Encoding) -> bytes:
    """The bytes of text that is to be put into a file of this encoding; no mark.

    Raises `EncodingError` for what the file cannot hold. ``unknown-8bit`` takes ASCII and surrogate
    escapes (bytes that somebody named one by one); anything else would be mixed in as UTF-8.
    """
    if text.isascii():
        return text.encode(encoding.codec)
    text = _join_surrogates(text)
    if encoding.name != "unknown-8bit":
        return _encode_strictly(text, encoding)
    for character in text:
        if character > "\x7f" and not "\udc80" <= character <= "\udcff":
            if "\ud800" <= character <= "\udfff":
                raise EncodingError(_lone_surrogate(character))
            raise EncodingError(
                f"{character!r} (U+{ord(character):04X}) cannot be added: the file holds bytes "
                "that are not UTF-8, so its encoding is not known"
            )
    return text.encode("ascii", "surrogateescape")


def _encode_strictly(text: str, encoding: Encoding) -> bytes:
    try:
        return text.encode(encoding.codec)
    except UnicodeEncodeError as error:
        raise EncodingError(_lone_surrogate(text[error.start])) from None


def _lone_surrogate(character: str) -> str:
    return f"U+{ord(character):04X} is half of a surrogate pair and no character of its own"


_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _join_surrogates(text: str) -> str:
    """Make one character of two halves that stand together, as JSON readers sometimes leave."""
    if text.isascii():
        return text
    return _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)


class TextDecoder:
    """Decodes a file piece by piece, from its first byte on; drops the byte order mark.

    Never fails. In UTF-8 and ``unknown-8bit`` undecodable bytes become surrogate escapes; in UTF-16
    lone surrogates stay as they are, and other damage of UTF-16 and UTF-32 becomes U+FFFD.
    """

    __slots__ = ("_bom", "_decoder", "_held")

    def __init__(self, encoding: Encoding) -> None:
        errors = "surrogatepass" if encoding.is_wide else "surrogateescape"
        self._decoder = codecs.getincrementaldecoder(encoding.codec)(errors)
        self._bom = encoding.bom
        self._held = b""

    def decode(self, data: bytes, final: bool = False) -> str:
        """The text of the next piece; ``final`` with the last one."""
        if self._bom:
            data = self._held + data
            if len(data) < len(self._bom) and not final:
                self._held = data
                return ""
            data = data.removeprefix(self._bom)
            self._bom = self._held = b""
        text = self._decode(data, final=False)
        return text + self._decode(b"", final=True) if final else text

    def _decode(self, data: bytes, *, final: bool) -> str:
        try:
            return self._decoder.decode(data, final)
        except UnicodeDecodeError:
            self._decoder.errors = "replace"
            return self._decoder.decode(data, final)


def incremental_decoder(encoding: Encoding) -> TextDecoder:
    """A decoder for a file that is read piece by piece from its first byte."""
    return TextDecoder(encoding)


# Control bytes that do not occur in text. BEL to CR (07-0D) and ESC (1B) do.
_CONTROLS: Final = bytes(
    code for code in range(32) if code not in (7, 8, 9, 10, 11, 12, 13, 27)
) + bytes((127,))


def looks_binary(head: bytes) -> bool:
    """Whether the head of a file is something other than text.

    UTF-16 and UTF-32 with a mark are text. Anything else with a NUL is not. Control characters may
    be fields of a record (``\\x01`` in FIX and Hive files), so valid UTF-8 may hold up to 30 % of
    them (the rule of ``perl -B``); with undecodable bytes beside them, 5 % are too many.
    """
    if any(head.startswith(bom) for _, bom in _WIDE_BOMS):
        return False
    if b"\0" in head:
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if not controls:
        return False
    share = 0.30 if is_utf8(head, complete=False) else 0.05
    return controls > share * len(head)


def looks_like_bare_utf16(head: bytes) -> bool:
    """Whether text seems to be UTF-16 without a mark: NULs at odd or at even places only, and
    in half of them at least.

    It is a guess, good enough to refuse a change, never to make one.
    """
    if len(head) < 8 or any(head.startswith(bom) for _, bom in _WIDE_BOMS):
        return False
    even, odd = head[::2].count(0), head[1::2].count(0)
    return max(even, odd) * 4 >= len(head) and min(even, odd) * 20 <= max(even, odd)


_CODE: Final = "[89A-F][0-9A-F]|D[89A-F][0-9A-F]{2}"
_SHOWN: Final = re.compile(f"⟨+(?=(?:{_CODE})⟩|[\ud800-\udfff])|[\ud800-\udfff]")
_MARKER: Final = re.compile(f"(⟨+)({_CODE})⟩")


def show_undecodable(text: str) -> str:
    """Text with every undecodable byte as a visible marker: ``caf\\udce9`` becomes ``caf⟨E9⟩``.

    A lone surrogate that is no escape (damaged UTF-16) becomes ``⟨D83D⟩``. Opening brackets that
    stand before a marker, or make literal text look like one, are doubled: the literal text
    ``⟨E9⟩`` becomes ``⟨⟨E9⟩``. `parse_undecodable` is the exact inverse.
    """
    if text.isascii():
        return text
    return _SHOWN.sub(_show, text)


def _show(found: re.Match[str]) -> str:
    character = found[0]
    if character[0] == "⟨":
        return character * 2
    code = ord(character)
    return f"⟨{code - 0xDC00:02X}⟩" if 0xDC80 <= code <= 0xDCFF else f"⟨{code:04X}⟩"


def parse_undecodable(text: str) -> str:
    """Text with its markers turned back into surrogate escapes; see `show_undecodable`."""
    if "⟨" not in text:
        return text
    return _MARKER.sub(_parse, text)


def _parse(found: re.Match[str]) -> str:
    brackets, code = found[1], found[2]
    literal = "⟨" * (len(brackets) // 2)
    if len(brackets) % 2 == 0:
        return f"{literal}{code}⟩"
    return literal + chr(int(code, 16) + (0xDC00 if len(code) == 2 else 0))
