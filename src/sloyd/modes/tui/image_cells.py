"""An image in the cells of a terminal: two pixels a cell, one above the other.

A half block coloured in front and behind works in every terminal with true colour, in tmux and over
SSH, and scrolls like text; the terminals' own image protocols do not.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from functools import lru_cache

from rich.color import Color
from rich.style import Style
from rich.text import Text

from sloyd.llm.messages import Image

__all__ = ["draws_images", "image_cells"]

_UPPER_HALF = "\u2580"
_MOST_COLUMNS = 60
_MOST_ROWS = 16
_MOST_PIXELS = 16_000_000
"""A larger image takes too long to decode for something that is drawn while a person waits."""


def draws_images(variables: Mapping[str, str]) -> bool:
    """Whether the terminal shows colours well enough for an image to be told."""
    if variables.get("NO_COLOR"):
        return False
    return variables.get("COLORTERM", "").lower() in ("truecolor", "24bit")


def image_cells(image: Image, width: int) -> list[Text]:
    """The image in at most ``width`` columns, in its proportions; nothing if it cannot be read."""
    return list(_drawn(image.data, min(width, _MOST_COLUMNS)))


@lru_cache(32)
def _drawn(data: str, width: int) -> tuple[Text, ...]:
    from PIL import Image as Pillow

    try:
        with Pillow.open(io.BytesIO(base64.b64decode(data))) as opened:
            if opened.width * opened.height > _MOST_PIXELS:
                return ()
            picture = opened.convert("RGBA")
    except (OSError, ValueError, SyntaxError, Pillow.DecompressionBombError):
        return ()
    scale = min(width / picture.width, _MOST_ROWS * 2 / picture.height, 1.0)
    columns = max(round(picture.width * scale), 1)
    # An even number of pixel rows, for each cell has two.
    rows = max(round(picture.height * scale / 2), 1)
    small = picture.resize((columns, rows * 2))
    ground = Pillow.new("RGBA", small.size, "black")
    pixels = Pillow.alpha_composite(ground, small).convert("RGB").tobytes()
    return tuple(_row(pixels, row, columns) for row in range(rows))


def _row(pixels: bytes, row: int, columns: int) -> Text:
    line = Text(no_wrap=True, end="")
    for column in range(columns):
        above = (row * 2 * columns + column) * 3
        below = above + columns * 3
        style = Style(
            color=Color.from_rgb(*pixels[above : above + 3]),
            bgcolor=Color.from_rgb(*pixels[below : below + 3]),
        )
        line.append(_UPPER_HALF, style)
    return line
