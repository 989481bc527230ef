"""Images drawn in cells: the colours of the pixels, the proportions, and no fault for a bad one."""

from __future__ import annotations

import base64
import io

import pytest
from PIL import Image as Pillow
from rich.color import Color

from sloyd.agent.tool import ToolResult
from sloyd.llm.messages import Image, Text
from sloyd.modes.tui.blocks import UserBlock
from sloyd.modes.tui.canvas import Canvas, Shown
from sloyd.modes.tui.image_cells import draws_images, image_cells
from sloyd.modes.tui.tool_block import ToolBlock
from tests.tui.drawing import canvas_of, drawn, fits


def png(width: int, height: int, colours: dict[tuple[int, int], str] | None = None) -> Image:
    picture = Pillow.new("RGBA", (width, height), "black")
    for place, colour in (colours or {}).items():
        picture.putpixel(place, Pillow.new("RGBA", (1, 1), colour).getpixel((0, 0)))  # type: ignore[arg-type]
    data = io.BytesIO()
    picture.save(data, "PNG")
    return Image(base64.b64encode(data.getvalue()).decode(), "image/png")


def with_images(width: int = 60) -> Canvas:
    canvas = canvas_of(width)
    return Canvas(width, canvas.theme, canvas.base, shown=Shown(images=True), cwd=canvas.cwd)


def test_each_cell_has_the_colours_of_two_pixels() -> None:
    (line,) = image_cells(png(2, 2, {(0, 0): "red", (1, 1): "blue"}), 40)
    assert line.plain == "▀▀"
    first, second = (span.style for span in line.spans)
    assert first.color == Color.from_rgb(255, 0, 0)  # type: ignore[union-attr]
    assert first.bgcolor == Color.from_rgb(0, 0, 0)  # type: ignore[union-attr]
    assert second.bgcolor == Color.from_rgb(0, 0, 255)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("size", "columns", "rows"),
    [((600, 300), 30, 8), ((10, 1000), 1, 16), ((3000, 1), 30, 1), ((1, 1), 1, 1)],
)
def test_an_image_keeps_its_proportions_inside_the_width(
    size: tuple[int, int], columns: int, rows: int
) -> None:
    lines = image_cells(png(*size), 30)
    assert (len(lines), {line.cell_len for line in lines}) == (rows, {columns})


@pytest.mark.parametrize("data", ["", "!!!", base64.b64encode(b"no image").decode()])
def test_what_is_no_image_is_only_described(data: str) -> None:
    image = Image(data, "image/png")
    assert image_cells(image, 40) == []
    assert "[image/png" in drawn(UserBlock((Text("see"), image)), with_images())


def test_images_of_results_and_of_people_are_drawn_where_they_may_be() -> None:
    image = png(8, 8)
    block = ToolBlock("read", {"path": "a.png"}, state="running")
    result = ToolResult.of("Read image file [image/png]", image)
    block.end(result.content, None, is_error=False, duration_ms=1)
    for shown in (block, UserBlock((Text("look"), image))):
        assert drawn(shown, with_images()).count("▀" * 8) == 4
        assert "▀" not in drawn(shown)
        assert "[image/png" in drawn(shown)
        assert fits(shown.render(with_images(20)), 20)


def test_only_true_colour_draws() -> None:
    assert draws_images({"COLORTERM": "truecolor"})
    assert not draws_images({"COLORTERM": "truecolor", "NO_COLOR": "1"})
    assert not draws_images({"TERM": "xterm-256color"})
