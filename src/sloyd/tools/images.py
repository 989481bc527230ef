"""An image made fit for a model: decoded, turned upright, inside the box and the payload limit.

Every image is decoded whole before it is sent, because a provider answers a broken one with an
error that comes back on every later turn. The original bytes are passed on only when nothing
about them needs a change. The ladder of sizes and qualities, and the words of the notes, are
those of `pi`.

Pillow is imported only when there is an image. One image is decoded at a time, so memory stays
within what one of them takes.
"""

from __future__ import annotations

import io
import threading
import warnings
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast
from zlib import crc32

from sloyd.llm.messages import Image
from sloyd.text.encoding import is_utf8, looks_binary
from sloyd.tools.image_kinds import HEAD_BYTES, SENDABLE, ImageKind, sniff_image

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

__all__ = ["FittedImage", "OmittedImage", "PreparedImage", "fit_image", "prepare_image"]

_MOST_PIXELS: Final = 64_000_000
"""Most pixels that are decoded at full size: about 256 MB as RGBA."""

_FIRST_QUALITY = 80
_LOWER_QUALITIES = (85, 70, 55, 40)
_SHRINK = 0.75
_PLAIN_MODES = frozenset({"1", "L", "LA", "P", "RGB", "RGBA"})
_ORIENTATION_TAG = 0x0112

_decoding = threading.Lock()


@dataclass(frozen=True, slots=True)
class FittedImage:
    """An image that may be sent, and what a model must know of it.

    ``original`` and ``shown`` are width and height in pixels, both upright. ``notes`` are whole
    lines for the model.
    """

    data: bytes
    mime_type: str
    original: tuple[int, int]
    shown: tuple[int, int]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OmittedImage:
    """Why there is no image: a line for the model. ``is_damaged`` when nothing could be decoded."""

    note: str
    is_damaged: bool = False


@dataclass(frozen=True, slots=True)
class _Limits:
    box: int
    base64_bytes: int

    def admits(self, data: bytes) -> bool:
        return (len(data) + 2) // 3 * 4 < self.base64_bytes


@dataclass(frozen=True, slots=True)
class PreparedImage:
    """What becomes of a file that is an image.

    Attributes:
        mime_type: the media type of ``image``, or what the file claims to be when there is none.
        note: lines for the model, or empty.
        image: the content block, or None when the image is left out; ``note`` then says why.
    """

    mime_type: str
    note: str
    image: Image | None


async def prepare_image(data: bytes, *, box: int, max_base64: int) -> PreparedImage | None:
    """Make a file's bytes an image that may be sent, in a worker thread.

    Returns None for what is no image: a text that begins like one is a text.
    """
    kind = sniff_image(data[:HEAD_BYTES])
    if kind is None:
        return None
    from anyio.to_thread import run_sync

    fitted = await run_sync(
        lambda: fit_image(data, kind, box=box, base64_bytes=max_base64), abandon_on_cancel=True
    )
    if isinstance(fitted, OmittedImage):
        is_doubtful = fitted.is_damaged or not kind.formats
        if is_doubtful and not kind.is_certain and _reads_as_text(data):
            return None
        return PreparedImage(kind.mime_type, fitted.note, None)
    image = Image(b64encode(fitted.data).decode("ascii"), fitted.mime_type)
    return PreparedImage(fitted.mime_type, "\n".join(fitted.notes), image)


def _reads_as_text(data: bytes) -> bool:
    head = data[:HEAD_BYTES]
    return not looks_binary(head) and is_utf8(head, complete=len(data) <= HEAD_BYTES)


def fit_image(
    data: bytes, kind: ImageKind, *, box: int, base64_bytes: int
) -> FittedImage | OmittedImage:
    """Decode an image and make it fit.

    Args:
        data: all bytes of the file.
        kind: what `sloyd.tools.image_kinds.sniff_image` took it for.
        box: most pixels of each side.
        base64_bytes: the base64 text must be shorter than this many bytes.
    """
    if not kind.formats:
        return OmittedImage(
            f"[Image omitted: {kind.mime_type} cannot be decoded here. "
            "Convert it to PNG or JPEG with bash first, then read the result.]"
        )
    limits = _Limits(max(1, box), base64_bytes)
    with _decoding, warnings.catch_warnings():
        # Pillow's warnings are about images that are refused or mended below.
        warnings.simplefilter("ignore")
        return _fit(data, kind, limits)


def _fit(data: bytes, kind: ImageKind, limits: _Limits) -> FittedImage | OmittedImage:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=kind.formats) as image:
            return _fit_opened(image, data, kind, limits)
    except Image.DecompressionBombError:
        return OmittedImage(_too_many_pixels(None))
    except MemoryError:
        return OmittedImage("[Image omitted: there is not enough memory to decode it.]")
    except Exception as error:  # noqa: BLE001 - decoders raise anything for a damaged file
        reason = "its content is not what its first bytes promise"
        if isinstance(error, OSError | SyntaxError) and "cannot identify" not in str(error):
            reason = " ".join(str(error).split())[:120] or reason
        return OmittedImage(
            f"[Image omitted: the file is damaged or incomplete and cannot be decoded as "
            f"{kind.mime_type} ({reason}).]",
            is_damaged=True,
        )


def _fit_opened(
    image: PillowImage, data: bytes, kind: ImageKind, limits: _Limits
) -> FittedImage | OmittedImage:
    from PIL import ImageOps

    size = image.size
    # Tells of frames before the data are decoded; an MPO's other pictures are no frames of ours.
    has_frames = image.format != "MPO" and bool(getattr(image, "is_animated", False))
    needs_shrinking = max(size) > limits.box
    if needs_shrinking and image.format in ("JPEG", "MPO") and not image.info.get("progressive"):
        # Decoding at 1/2, 1/4 or 1/8 costs a fraction of the time and memory of a large photo.
        image.draft(None, _inside(size, limits.box * 2))
    if image.width * image.height > _MOST_PIXELS:
        return OmittedImage(_too_many_pixels(size))
    image.load()
    if image.format == "TIFF":
        size = image.size  # Pillow turns these upright by itself
    # Read afterwards: a PNG may say it behind its pixels.
    orientation = _orientation(image)
    passes = (
        kind.mime_type in SENDABLE
        and not has_frames
        and not needs_shrinking
        and orientation == 1
        and image.mode in _PLAIN_MODES
        and limits.admits(data)
        and (kind.mime_type != "image/png" or _is_sound_png(data))
    )
    if passes:
        return FittedImage(data, kind.mime_type, size, size)
    if orientation != 1:
        image = ImageOps.exif_transpose(image)
    original = (size[1], size[0]) if orientation >= 5 else size
    return _encode(_plain(image), original, kind, limits, has_frames=has_frames)


def _encode(
    image: PillowImage,
    original: tuple[int, int],
    kind: ImageKind,
    limits: _Limits,
    *,
    has_frames: bool,
) -> FittedImage | OmittedImage:
    shown = _inside(original, limits.box)
    while True:
        scaled = _resized(image, shown)
        for data, mime_type in _candidates(scaled, limits):
            if limits.admits(data):
                notes = _notes(kind, mime_type, original, shown, has_frames=has_frames)
                return FittedImage(data, mime_type, original, shown, notes)
        if shown == (1, 1):
            return OmittedImage(
                "[Image omitted: could not be resized below the inline image size limit.]"
            )
        shown = (max(1, int(shown[0] * _SHRINK)), max(1, int(shown[1] * _SHRINK)))


def _candidates(image: PillowImage, limits: _Limits) -> Iterator[tuple[bytes, str]]:
    """Encodings of one size, the one to prefer first."""
    png = (_saved(image, "PNG"), "image/png")
    if image.mode == "RGBA" and limits.admits(png[0]):
        # A JPEG has no transparency, and a guessed background can hide what is drawn on it.
        yield png
    opaque = _on_background(image)
    jpeg = (_saved(opaque, "JPEG", _FIRST_QUALITY), "image/jpeg")
    yield from sorted((png, jpeg), key=lambda candidate: len(candidate[0]))
    for quality in _LOWER_QUALITIES:
        yield _saved(opaque, "JPEG", quality), "image/jpeg"


def _saved(image: PillowImage, encoder: str, quality: int | None = None) -> bytes:
    buffer = io.BytesIO()
    if quality is None:
        image.save(buffer, encoder)
    else:
        image.save(buffer, encoder, quality=quality)
    return buffer.getvalue()


def _notes(
    kind: ImageKind,
    mime_type: str,
    original: tuple[int, int],
    shown: tuple[int, int],
    *,
    has_frames: bool,
) -> tuple[str, ...]:
    notes: list[str] = []
    if kind.mime_type not in SENDABLE:
        notes.append(f"[Image converted from {kind.mime_type} to {mime_type}.]")
    if has_frames:
        notes.append("[Image has several frames: only the first one is shown.]")
    if kind.mime_type in SENDABLE or shown != original:
        notes.append(
            f"[Image: original {original[0]}x{original[1]}, displayed at {shown[0]}x{shown[1]}. "
            f"Multiply coordinates by {_scale(original, shown):.2f} to map to original image.]"
        )
    return tuple(notes)


def _scale(original: tuple[int, int], shown: tuple[int, int]) -> float:
    """The factor of the longer side, which rounding distorts least."""
    side = 0 if original[0] >= original[1] else 1
    return original[side] / shown[side]


def _too_many_pixels(size: tuple[int, int] | None) -> str:
    count = f"{size[0]}x{size[1]}" if size is not None else "too many"
    return (
        f"[Image omitted: {count} pixels cannot be decoded safely. "
        "Make a smaller copy with bash first, then read that.]"
    )


def _is_sound_png(data: bytes) -> bool:
    """Whether every chunk has its right checksum and nothing follows the last.

    Pillow does not look at the checksums of the pixel data; a stricter decoder refuses the image.
    """
    position = 8
    while position + 12 <= len(data):
        length = int.from_bytes(data[position : position + 4], "big")
        end = position + 12 + length
        checksum = int.from_bytes(data[end - 4 : end], "big")
        if end > len(data) or crc32(data[position + 4 : end - 4]) != checksum:
            return False
        if data[position + 4 : position + 8] == b"IEND":
            return end == len(data)
        position = end
    return False


def _orientation(image: PillowImage) -> int:
    """The EXIF orientation, 1 to 8; 1 is upright, and what a damaged EXIF block counts as."""
    try:
        value = image.getexif().get(_ORIENTATION_TAG, 1)
    except Exception:  # noqa: BLE001 - EXIF readers raise anything for a damaged block
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def _inside(size: tuple[int, int], box: int) -> tuple[int, int]:
    """The size scaled down to fit into a square box; no side ever becomes 0."""
    longest = max(size)
    if longest <= box:
        return size
    return max(1, round(size[0] * box / longest)), max(1, round(size[1] * box / longest))


def _resized(image: PillowImage, size: tuple[int, int]) -> PillowImage:
    from PIL.Image import Resampling

    if image.size == size:
        return image
    return image.resize(size, Resampling.LANCZOS, reducing_gap=3.0)


def _plain(image: PillowImage) -> PillowImage:
    """The image as 8-bit L, RGB or RGBA, without metadata."""
    mode = image.mode
    if mode in ("LA", "PA", "La", "RGBa", "RGBA") or "transparency" in image.info:
        plain = image.convert("RGBA")
    elif mode in ("1", "L"):
        plain = image.convert("L")
    elif mode.startswith("I") or mode == "F":
        plain = _eight_bit(image)
    else:
        plain = image.convert("RGB")
    if plain is image:
        plain = image.copy()
    plain.info = {}
    return plain


def _eight_bit(image: PillowImage) -> PillowImage:
    """Grey values of any depth scaled to 0..255."""
    values = image.convert("F")
    lowest, highest = cast("tuple[float, float]", values.getextrema())
    if image.mode.startswith("I;16") or (image.mode == "I" and 255 < highest <= 65535):
        lowest, highest = 0, 65535
    elif lowest >= 0 and highest <= 255:
        lowest, highest = 0, 255
    scale = 255.0 / ((highest - lowest) or 1.0)
    return values.point(lambda value: value * scale - lowest * scale).convert("L")


def _on_background(image: PillowImage) -> PillowImage:
    """The image without transparency, on white, or on black where what it shows is bright."""
    if image.mode != "RGBA":
        return image
    from PIL import Image, ImageStat

    alpha = image.getchannel("A")
    drawn = ImageStat.Stat(image.convert("L"), mask=alpha.point(lambda value: 255 * (value > 32)))
    is_bright = drawn.count[0] > 0 and drawn.mean[0] > 170
    background = Image.new("RGB", image.size, "black" if is_bright else "white")
    background.paste(image, mask=alpha)
    return background
