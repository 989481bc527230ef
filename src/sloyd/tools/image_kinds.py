"""What kind of image some bytes begin like; the name of a file says nothing about it.

A kind found here is a claim, not a proof: `sloyd.tools.images` decodes before anything is sent.
Some signatures are letters that a text may begin with as well; `is_certain` tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["HEAD_BYTES", "SENDABLE", "ImageKind", "sniff_image"]

HEAD_BYTES: Final = 4100
"""Bytes of a file's beginning that are enough to recognise every kind."""

SENDABLE: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""The media types that every provider takes; all others are converted."""


@dataclass(frozen=True, slots=True)
class ImageKind:
    """A kind of image.

    Attributes:
        mime_type: its media type.
        formats: the names of the Pillow decoders that may open it, and no others; empty when no
            decoder can.
        is_certain: whether the signature cannot be the beginning of a text.
    """

    mime_type: str
    formats: tuple[str, ...]
    is_certain: bool = True


_PNG = ImageKind("image/png", ("PNG",))
_JPEG = ImageKind("image/jpeg", ("JPEG", "MPO"))
_GIF = ImageKind("image/gif", ("GIF",), is_certain=False)
_WEBP = ImageKind("image/webp", ("WEBP",), is_certain=False)
_BMP = ImageKind("image/bmp", ("BMP",), is_certain=False)
_PNM = ImageKind("image/x-portable-anymap", ("PPM",), is_certain=False)
_TIFF = ImageKind("image/tiff", ("TIFF",))
_ICO = ImageKind("image/x-icon", ("ICO",))
_JP2 = ImageKind("image/jp2", ("JPEG2000",))
_AVIF = ImageKind("image/avif", ("AVIF",), is_certain=False)
_HEIC = ImageKind("image/heic", (), is_certain=False)

_AVIF_BRANDS = frozenset({b"avif", b"avis"})
_HEIC_BRANDS = frozenset({b"heic", b"heix", b"hevc", b"heim", b"heis"})
_BMP_BIT_COUNTS = frozenset({1, 4, 8, 16, 24, 32})

_SIGNATURES: tuple[tuple[bytes, ImageKind], ...] = (
    (b"\x89PNG\r\n\x1a\n", _PNG),
    (b"GIF87a", _GIF),
    (b"GIF89a", _GIF),
    (b"II*\x00", _TIFF),
    (b"MM\x00*", _TIFF),
    (b"II+\x00", _TIFF),
    (b"MM\x00+", _TIFF),
    (b"\x00\x00\x00\x0cjP  \r\n\x87\n", _JP2),
    (b"\xff\x4f\xff\x51", _JP2),
)


def sniff_image(head: bytes) -> ImageKind | None:
    """The kind of image that ``head`` (at least `HEAD_BYTES`, or all there is) begins like."""
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    # F7 is JPEG-LS, which nothing here decodes.
    if head[:3] == b"\xff\xd8\xff" and head[3:4] != b"\xf7":
        return _JPEG
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _WEBP
    if head[:2] == b"BM" and _is_bmp_header(head):
        return _BMP
    if head[4:8] == b"ftyp":
        return _iso_media_kind(head)
    if head[:4] == b"\x00\x00\x01\x00" and _is_icon_directory(head):
        return _ICO
    if head[:2] in (b"P4", b"P5", b"P6") and head[2:3] in (b"\n", b" ", b"\t", b"\r"):
        return _PNM
    return None


def _little(head: bytes, start: int, size: int) -> int:
    return int.from_bytes(head[start : start + size], "little")


def _is_bmp_header(head: bytes) -> bool:
    """Whether the header behind ``BM`` is a plausible one; many words begin with these letters."""
    header_size = _little(head, 14, 4)
    if header_size == 12:
        planes, bits = _little(head, 22, 2), _little(head, 24, 2)
    elif 40 <= header_size <= 124:
        planes, bits = _little(head, 26, 2), _little(head, 28, 2)
    else:
        return False
    return planes == 1 and bits in _BMP_BIT_COUNTS


def _is_icon_directory(head: bytes) -> bool:
    """Whether an icon's list of images holds at least one, with its reserved byte zero."""
    return 1 <= _little(head, 4, 2) <= 256 and head[9:10] == b"\x00"


def _iso_media_kind(head: bytes) -> ImageKind | None:
    """AVIF and HEIC share one container with video; the list of brands tells which it is."""
    box_size = min(int.from_bytes(head[:4], "big"), 256)
    brands = {head[8:12]} | {head[at : at + 4] for at in range(16, box_size, 4)}
    if brands & _AVIF_BRANDS:
        return _AVIF
    return _HEIC if brands & _HEIC_BRANDS else None
