"""The transcript: it follows, stays, keeps little, finds, and gives back what is selected."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection
from textual.strip import Strip

from sloyd.modes.tui.answer_blocks import TextBlock
from sloyd.modes.tui.block import BlockBase
from sloyd.modes.tui.blocks import NoticeBlock, SummaryBlock, UserBlock
from sloyd.modes.tui.canvas import Canvas
from sloyd.modes.tui.theme import DARK, LIGHT
from sloyd.modes.tui.transcript import Transcript


class Counted(BlockBase):
    """A block of some lines that counts how often it is drawn, and lies about its height."""

    def __init__(self, name: str, lines: int = 4, guess: int = 1) -> None:
        super().__init__()
        self.name = name
        self.lines = lines
        self.guess = guess
        self.draws = 0

    @property
    def text(self) -> str:
        return "\n".join(f"{self.name}.{number}" for number in range(self.lines))

    def estimate(self, width: int) -> int:
        return self.guess

    def render(self, canvas: Canvas) -> list[Strip]:
        self.draws += 1
        return canvas.strips(self.text)


class TranscriptApp(App[None]):
    """Nothing but a transcript."""

    def __init__(self) -> None:
        super().__init__()
        self.animation_level = "none"
        self.register_theme(DARK.textual())
        self.theme = "sloyd-dark"
        self.transcript = Transcript(DARK)

    def compose(self) -> ComposeResult:
        yield self.transcript


@asynccontextmanager
async def transcripts(
    size: tuple[int, int] = (40, 10),
) -> AsyncIterator[tuple[Transcript, Pilot[None]]]:
    app = TranscriptApp()
    async with app.run_test(size=size) as pilot:
        yield app.transcript, pilot


async def settle(pilot: Pilot[None]) -> None:
    await pilot.pause()
    await asyncio.sleep(0.06)
    await pilot.pause()


def lines(transcript: Transcript) -> list[str]:
    return [transcript.render_line(y).text.rstrip() for y in range(transcript.size.height)]


async def test_the_end_stays_in_sight_until_the_person_scrolls_up() -> None:
    async with transcripts() as (transcript, pilot):
        transcript.extend(Counted(f"b{number}") for number in range(20))
        await settle(pilot)
        assert lines(transcript)[-1] == "b19.3"
        transcript.page(-1)
        await settle(pilot)
        before = lines(transcript)
        assert not transcript.following
        transcript.add(Counted("new"))
        await settle(pilot)
        assert lines(transcript) == before
        transcript.go_end()
        await settle(pilot)
        assert lines(transcript)[-1] == "new.3"


async def test_the_wheel_stops_following_and_the_end_begins_it_again() -> None:
    async with transcripts() as (transcript, pilot):
        transcript.extend(Counted(f"b{number}") for number in range(20))
        await settle(pilot)
        await pilot._post_mouse_events([events.MouseScrollUp], transcript)
        await settle(pilot)
        assert lines(transcript)[-1] != "b19.3"
        for _ in range(3):
            transcript.page(1)
            await settle(pilot)
        transcript.add(Counted("new"))
        await settle(pilot)
        assert lines(transcript)[-1] == "new.3"


async def test_paging_shows_every_line_once_whatever_heights_were_guessed() -> None:
    async with transcripts((40, 8)) as (transcript, pilot):
        blocks = [Counted(f"b{n}", lines=1 + n * 7 % 11, guess=1 + n % 5) for n in range(24)]
        transcript.extend(blocks)
        await settle(pilot)
        seen = lines(transcript)
        while transcript.scroll_offset.y > 0:
            top = seen[0]
            transcript.page(-1)
            await settle(pilot)
            page = lines(transcript)
            assert top in page
            seen = page[: page.index(top)] + seen
        assert seen == [line for block in blocks for line in block.text.split("\n")]


async def test_only_what_is_near_the_view_is_drawn() -> None:
    async with transcripts() as (transcript, pilot):
        blocks = [Counted(f"b{number}") for number in range(2_000)]
        transcript.extend(blocks)
        await settle(pilot)
        assert sum(block.draws > 0 for block in blocks) < 20
        transcript.go_top()
        await settle(pilot)
        assert lines(transcript)[0] == "b0.0"
        assert sum(block.draws > 0 for block in blocks) < 40


async def test_what_has_not_changed_is_not_drawn_again() -> None:
    async with transcripts() as (transcript, pilot):
        still, growing = Counted("still"), Counted("growing")
        transcript.add(still, growing)
        await settle(pilot)
        drawn = still.draws
        for _ in range(5):
            growing.version += 1
            transcript.changed()
            await settle(pilot)
        assert still.draws == drawn
        assert growing.draws >= 5


async def test_lines_that_were_drawn_are_forgotten_when_far_away() -> None:
    async with transcripts() as (transcript, pilot):
        transcript.extend(Counted(f"b{number}", lines=50, guess=50) for number in range(200))
        await settle(pilot)
        for _ in range(30):
            transcript.scroll_to(y=transcript.scroll_offset.y - 200, animate=False)
            await pilot.pause()
        kept = transcript._stack._drawn.values()
        assert sum(len(drawn.strips) for drawn in kept) <= 1_000


async def test_many_changes_are_one_drawing() -> None:
    async with transcripts() as (transcript, pilot):
        block = TextBlock(done=False)
        transcript.add(block)
        await settle(pilot)
        counted = Counted("beside")
        transcript.add(counted)
        for number in range(200):
            block.add(f"word{number} ")
            counted.version += 1
            transcript.changed()
        await settle(pilot)
        assert counted.draws <= 2
        assert "word199" in "\n".join(lines(transcript))


async def test_another_width_keeps_the_block_at_the_top() -> None:
    async with transcripts((60, 10)) as (transcript, pilot):
        transcript.extend(NoticeBlock(f"notice {number} " + "word " * 30) for number in range(50))
        await settle(pilot)
        transcript.go_top()
        for _ in range(6):
            transcript.page(1)
        await settle(pilot)
        place, _ = transcript._stack.find(transcript.scroll_offset.y)
        await pilot.resize_terminal(30, 10)
        await settle(pilot)
        assert transcript._stack.find(transcript.scroll_offset.y)[0] == place
        assert all(len(line) <= 30 for line in lines(transcript))


async def test_jumping_goes_from_prompt_to_prompt() -> None:
    async with transcripts() as (transcript, pilot):
        for number in range(6):
            transcript.add(UserBlock(f"prompt {number}"), Counted(f"answer{number}", lines=20))
        await settle(pilot)
        transcript.go_prompt(-1)
        await settle(pilot)
        assert "prompt 5" in lines(transcript)[1]
        transcript.go_prompt(-1)
        await settle(pilot)
        assert "prompt 4" in lines(transcript)[1]
        transcript.go_prompt(1)
        await settle(pilot)
        assert "prompt 5" in lines(transcript)[1]


async def test_search_goes_round_and_opens_what_hides_a_match() -> None:
    async with transcripts() as (transcript, pilot):
        transcript.add(Counted("one", lines=30), SummaryBlock("folded", "a needle"))
        transcript.add(Counted("Needle", lines=1), Counted("two", lines=30))
        await settle(pilot)
        last = transcript.find("needle", -1)
        await settle(pilot)
        assert any("Needle.0" in line for line in lines(transcript))
        hidden = transcript.find("needle", -1, start=last)
        await settle(pilot)
        assert any("a needle" in line for line in lines(transcript))
        again = transcript.find("needle", 1, start=hidden)
        assert again is not None
        assert "Needle.0" in (transcript._stack.line(again) or Strip([])).text
        assert transcript.find("nowhere", 1) is None


async def test_what_is_selected_is_its_text() -> None:
    async with transcripts() as (transcript, pilot):
        transcript.add(Counted("block", lines=3))
        await settle(pilot)
        selection = Selection(Offset(2, 0), Offset(3, 2))
        assert transcript.get_selection(selection) == ("ock.0\nblock.1\nblo", "\n")
        assert transcript.get_selection(Selection(None, None)) == (
            "block.0\nblock.1\nblock.2",
            "\n",
        )


async def test_a_double_click_takes_a_word_and_a_third_the_line() -> None:
    async with transcripts() as (transcript, pilot):
        transcript.add(NoticeBlock("see src/sloyd/app.py, please"))
        await settle(pilot)
        await pilot.click(transcript, offset=(10, 1), times=2)
        assert transcript.screen.get_selected_text() == "src/sloyd/app.py"
        await pilot.click(transcript, offset=(10, 1), times=3)
        assert transcript.screen.get_selected_text() == "· see src/sloyd/app.py, please"


async def test_dragging_selects_and_folds_nothing() -> None:
    async with transcripts() as (transcript, pilot):
        block = SummaryBlock("a title to drag over", "inside")
        transcript.add(block)
        await settle(pilot)
        await pilot.mouse_down(transcript, offset=(3, 1))
        await pilot.hover(transcript, offset=(10, 1))
        await pilot.mouse_up(transcript, offset=(10, 1))
        await settle(pilot)
        assert transcript.screen.get_selected_text()
        assert block.opened is None


async def test_another_theme_draws_everything_anew() -> None:
    async with transcripts() as (transcript, pilot):
        block = Counted("b")
        transcript.add(block)
        await settle(pilot)
        before = block.draws
        transcript.use_theme(replace(LIGHT, name="other"))
        await settle(pilot)
        assert block.draws > before
