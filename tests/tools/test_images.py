"""Images through `read`: every kind and mode, damaged and hostile ones; never a broken block."""

from __future__ import annotations

import base64
import io
import random
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow

from sloyd.llm.models import ModelInfo
from sloyd.tools.image_kinds import sniff_image
from sloyd.tools.images import FittedImage, OmittedImage, fit_image
from tests.tools.file_calls import CASES
from tests.tools.read_only_calls import Outcome, ReadOnlyTools

BOX, PAYLOAD = 2000, 4_718_592


def saved(image: Pillow.Image, encoder: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, encoder, **options)
    return buffer.getvalue()


def noise(width: int, height: int) -> Pillow.Image:
    return Pillow.frombytes("RGB", (width, height), random.Random(1).randbytes(width * height * 3))


def gradient(mode: str, size: int = 64) -> Pillow.Image:
    grey = Pillow.linear_gradient("L").resize((size, size))
    if mode in ("I", "I;16"):
        deep = grey.convert("I").point(lambda value: value * 257)
        return deep.convert("I;16") if mode == "I;16" else deep
    return grey.convert(mode)


def fitted(data: bytes, box: int = BOX, payload: int = PAYLOAD) -> FittedImage | OmittedImage:
    kind = sniff_image(data[:4100])
    assert kind is not None
    return fit_image(data, kind, box=box, base64_bytes=payload)


def opened(image: FittedImage | OmittedImage) -> Pillow.Image:
    assert isinstance(image, FittedImage)
    decoded = Pillow.open(io.BytesIO(image.data))
    decoded.load()
    assert image.mime_type == f"image/{str(decoded.format).lower()}"
    assert decoded.size == image.shown
    return decoded


def brightness(image: Pillow.Image, x: int, y: int) -> int:
    return image.convert("RGB").convert("L").crop((x, y, x + 1, y + 1)).tobytes()[0]


async def read(directory: Path, data: bytes, name: str = "f", **arguments: Any) -> Outcome:
    (directory / name).write_bytes(data)
    return await ReadOnlyTools.at(directory).call("read", path=name, **arguments)


async def test_what_fits_is_sent_as_it_is(tmp_path: Path) -> None:
    data = saved(Pillow.new("RGB", (10, 10), "red"), "PNG")
    for name in ("a.png", "a.txt", "a"):
        outcome = await read(tmp_path, data, name, offset=5, limit=1)
        assert outcome.text == "Read image file [image/png]"
        assert outcome.image is not None
        assert base64.b64decode(outcome.image.data) == data
        assert outcome.details is None


@pytest.mark.parametrize(
    ("size", "shown", "factor"),
    [((4000, 1000), "2000x500", "2.00"), ((100, 5000), "40x2000", "2.50")],
    ids=["I2", "I3"],
)
async def test_large_images_are_shrunk_into_the_box(
    tmp_path: Path, size: tuple[int, int], shown: str, factor: str
) -> None:
    outcome = await read(tmp_path, saved(Pillow.new("RGB", size, "red"), "PNG"))
    assert outcome.text == (
        "Read image file [image/png]\n"
        f"[Image: original {size[0]}x{size[1]}, displayed at {shown}. "
        f"Multiply coordinates by {factor} to map to original image.]"
    )
    assert "x".join(map(str, outcome.decoded().size)) == shown


def test_a_heavy_image_takes_the_smaller_encoding() -> None:
    image = fitted(saved(noise(1800, 1800), "PNG", compress_level=0))
    assert opened(image).format == "JPEG"
    assert isinstance(image, FittedImage)
    assert image.shown == (1800, 1800)
    assert "displayed at 1800x1800. Multiply coordinates by 1.00" in image.notes[0]
    assert len(base64.b64encode(image.data)) < PAYLOAD


def test_the_payload_limit_leads_down_the_ladder_to_the_end() -> None:
    data = saved(noise(300, 300), "PNG")
    small = fitted(data, payload=20_000)
    assert isinstance(small, FittedImage)
    assert len(base64.b64encode(small.data)) < 20_000
    assert opened(small).size < (300, 300)
    nothing = fitted(data, payload=10)
    assert nothing == OmittedImage(
        "[Image omitted: could not be resized below the inline image size limit.]"
    )


async def test_bmp_is_converted(tmp_path: Path) -> None:
    outcome = await read(tmp_path, saved(Pillow.new("RGB", (2, 2), "red"), "BMP"))
    assert outcome.text == (
        "Read image file [image/png]\n[Image converted from image/bmp to image/png.]"
    )
    assert outcome.decoded().size == (2, 2)


@pytest.mark.parametrize(
    ("mode", "encoder"),
    [
        *((mode, "PNG") for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")),
        *((mode, "TIFF") for mode in ("1", "L", "P", "RGBA", "CMYK", "I", "F", "LAB")),
        *((mode, "JPEG") for mode in ("L", "RGB", "CMYK")),
        *((mode, "WEBP") for mode in ("RGB", "RGBA")),
        *((mode, "GIF") for mode in ("L", "P")),
        *((mode, encoder) for mode in ("L", "RGB") for encoder in ("BMP", "PPM", "JPEG2000")),
        ("RGBA", "ICO"),
        ("RGB", "AVIF"),
    ],
)
@pytest.mark.parametrize("box", [BOX, 7])
def test_every_mode_keeps_its_brightness(mode: str, encoder: str, box: int) -> None:
    if mode == "LAB":
        source = Pillow.new("LAB", (64, 64))
        image = fitted(saved(source, encoder), box=box)
        assert isinstance(image, OmittedImage) or opened(image).size == image.shown
        return
    decoded = opened(fitted(saved(gradient(mode), encoder), box=box))
    assert decoded.size == ((64, 64) if box == BOX else (7, 7))
    assert decoded.mode in ("1", "L", "LA", "P", "RGB", "RGBA")
    assert brightness(decoded, 3, 0) < 60
    assert brightness(decoded, 3, decoded.height - 1) > 195


@pytest.mark.parametrize("encoder", ["JPEG", "WEBP", "PNG"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_photos_are_turned_upright(encoder: str, orientation: int) -> None:
    exif = Pillow.Exif()
    exif[0x0112] = orientation
    data = saved(Pillow.new("RGB", (30, 60), "red"), encoder, exif=exif)
    image = fitted(data)
    assert isinstance(image, FittedImage)
    assert opened(image).size == ((60, 30) if orientation >= 5 else (30, 60))
    assert (image.data == data) is (orientation == 1)
    assert opened(image).getexif().get(0x0112, 1) == 1
    small = fitted(data, box=20)
    assert isinstance(small, FittedImage)
    assert small.shown == ((20, 10) if orientation >= 5 else (10, 20))
    assert small.original == ((60, 30) if orientation >= 5 else (30, 60))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_an_upright_picture_is_not_turned_again(orientation: int) -> None:
    """The decoder of TIFF turns it by itself, and already tells the turned size."""
    exif = Pillow.Exif()
    exif[0x0112] = orientation
    data = saved(Pillow.new("RGB", (30, 60), "red"), "TIFF", exif=exif)
    image = fitted(data)
    assert isinstance(image, FittedImage)
    wanted = (60, 30) if orientation >= 5 else (30, 60)
    assert (opened(image).size, image.original, image.shown) == (wanted, wanted, wanted)


def test_the_orientation_behind_the_pixels_is_found() -> None:
    exif = Pillow.Exif()
    exif[0x0112] = 6
    data = saved(Pillow.new("RGB", (30, 60), "red"), "PNG", exif=exif)
    start = data.index(b"eXIf") - 4
    end = start + 12 + int.from_bytes(data[start : start + 4], "big")
    moved = data[:start] + data[end:-12] + data[start:end] + data[-12:]
    assert opened(fitted(moved)).size == (60, 30)


def test_the_orientation_is_found_behind_other_segments() -> None:
    exif = Pillow.Exif()
    exif[0x0112] = 6
    jpeg = saved(Pillow.new("RGB", (30, 60), "red"), "JPEG", exif=exif)
    other = b"\xff\xe1\x00\x10http://ns.x/\0\0"
    assert opened(fitted(jpeg[:2] + other + jpeg[2:])).size == (60, 30)


def test_of_several_frames_the_first_is_shown() -> None:
    frames = [Pillow.new("RGB", (40, 30), color) for color in ("red", "lime", "blue")]
    for encoder in ("GIF", "WEBP", "PNG", "TIFF", "AVIF"):
        data = saved(frames[0], encoder, save_all=True, append_images=frames[1:])
        image = fitted(data)
        assert isinstance(image, FittedImage)
        assert "[Image has several frames: only the first one is shown.]" in image.notes
        red, green, blue = opened(image).convert("RGB").resize((1, 1)).tobytes()
        assert red > 240
        assert max(green, blue) < 20


def test_transparency_never_hides_what_is_drawn() -> None:
    for color in ("black", "white"):
        picture = noise(400, 400).convert("RGBA")
        picture.putalpha(0)
        picture.paste(Pillow.new("RGBA", (200, 400), color), (0, 0))
        image = fitted(saved(picture, "PNG"), payload=9_000)
        decoded = opened(image)
        assert decoded.mode == "RGB"
        left = brightness(decoded, decoded.width // 4, 5)
        right = brightness(decoded, decoded.width * 3 // 4, 5)
        assert abs(left - right) > 128


def test_a_png_that_stricter_decoders_refuse_is_encoded_anew() -> None:
    good = saved(gradient("RGB"), "PNG")
    start = good.index(b"IDAT")
    bad_checksum = bytearray(good)
    bad_checksum[start + 4 + int.from_bytes(good[start - 4 : start], "big")] ^= 0xFF
    for data in (bytes(bad_checksum), good + b"trailing garbage"):
        image = fitted(data)
        assert isinstance(image, FittedImage)
        assert image.data not in (data, good[:0])
        assert opened(image).convert("RGB").tobytes() == gradient("RGB").tobytes()
    assert fitted(good) == FittedImage(good, "image/png", (64, 64), (64, 64))


@pytest.mark.parametrize("name", ["truncated.jpg", "truncated.png"])
async def test_broken_images_are_described_and_never_sent(name: str) -> None:
    outcome = await ReadOnlyTools.at(CASES).call("read", path=f"files/read/{name}")
    assert outcome.image is None
    assert outcome.text.count("\n") == 1
    assert "[Image omitted: the file is damaged or incomplete" in outcome.text


@pytest.mark.parametrize("data", [b"\xff\xd8\xff", b"II*\0", b"\x89PNG\r\n\x1a\n"])
async def test_reasons_are_words(tmp_path: Path, data: bytes) -> None:
    outcome = await read(tmp_path, data)
    assert outcome.text.endswith("(its content is not what its first bytes promise).]")


async def test_a_signature_with_garbage_behind_it(tmp_path: Path) -> None:
    garbage = random.Random(2).randbytes(1500)
    for signature in (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a\0\1", b"II*\0"):
        outcome = await read(tmp_path, signature + garbage)
        assert outcome.image is None
        assert "[Image omitted: " in outcome.text


@pytest.mark.parametrize(
    "text",
    [
        "GIF89a is the name of a format\n",
        "GIF is a format\n",
        "BM is a text\n",
        "RIFFabcdWEBP is a container\n",
        "P5 is a kind of bitmap\n",
        "P6\nis written on top\n",
        '<svg xmlns="http://www.w3.org/2000/svg"/>\n',
        "abcdftypavif\n",
    ],
)
async def test_text_that_begins_like_an_image_is_text(tmp_path: Path, text: str) -> None:
    for name in ("notes.txt", "logo.png"):
        outcome = await read(tmp_path, text.encode(), name)
        assert outcome.image is None
        assert outcome.text == text


def png_header(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        checksum = zlib.crc32(kind + body).to_bytes(4, "big")
        return len(body).to_bytes(4, "big") + kind + body + checksum

    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes((1, 0, 0, 0, 0))
    body = zlib.compress(b"\0" * 1000)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("size", [(9000, 9000), (20_000, 20_000), (2**31 - 1, 2**31 - 1)])
async def test_bombs_are_not_decoded(tmp_path: Path, size: tuple[int, int]) -> None:
    outcome = await read(tmp_path, png_header(*size))
    assert outcome.image is None
    assert "pixels cannot be decoded safely" in outcome.text


async def test_heic_is_named(tmp_path: Path) -> None:
    outcome = await read(tmp_path, b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + b"\0" * 50)
    assert "image/heic cannot be decoded here" in outcome.text
    assert outcome.image is None


async def test_a_model_without_eyes_is_noted(tmp_path: Path) -> None:
    blind = ModelInfo(id="blind", provider="p", api="openai-chat", inputs=("text",))
    outcome = await read(tmp_path, saved(gradient("RGB"), "PNG"), model=blind)
    assert outcome.image is not None
    assert outcome.details == {"imageUnsupportedByModel": "blind"}


SEEDS = [
    saved(gradient("RGB", 16), encoder)
    for encoder in ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "ICO", "AVIF", "PPM")
]


@given(st.data())
def test_mutated_images_are_fit_or_described(data: st.DataObject) -> None:
    mutated = bytearray(data.draw(st.sampled_from(SEEDS)))
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(mutated) - 1))
        mutated[place] = data.draw(st.integers(0, 255))
    kept = bytes(mutated[: data.draw(st.integers(20, len(mutated)))])
    if sniff_image(kept) is None:
        return
    image = fitted(kept, box=8)
    if isinstance(image, FittedImage):
        assert max(opened(image).size) <= 8
    else:
        assert image.note.startswith("[Image omitted: ")
