"""Blocks: what they show in each state, folded and open, and that nothing gets through them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from sloyd.llm.messages import Image, Text
from sloyd.modes.tui.answer_blocks import TextBlock, ThinkingBlock
from sloyd.modes.tui.block import Block
from sloyd.modes.tui.blocks import NoticeBlock, ShellBlock, SummaryBlock, UserBlock
from sloyd.modes.tui.stack import Stack
from sloyd.modes.tui.tool_block import ToolBlock
from sloyd.tools.builtin import builtin_tools
from sloyd.tools.definition import ToolDefinition
from sloyd.tools.environment import ToolEnvironment
from sloyd.tools.registry import ToolRegistry
from sloyd.workspace.memory import MemoryWorkspace
from tests.tui.drawing import canvas_of, drawn, fits

REGISTRY = ToolRegistry(builtin_tools(ToolEnvironment(workspace=MemoryWorkspace())))
NASTY = "a\x1b[31mred\x1b]0;title\x07\x00\x9b2J\ud800b"


class Clock:
    """A time that passes when it is told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_prompt_stands_behind_its_mark() -> None:
    assert drawn(UserBlock("hello\nthere")) == snapshot("""\

❯ hello
  there\
""")


def test_images_are_described() -> None:
    block = UserBlock((Text("look"), Image("A" * 4000, "image/png")))
    assert "[image/png, 2.9KB]" in drawn(block)


def test_a_long_prompt_is_folded_until_it_is_opened() -> None:
    block = UserBlock("\n".join(f"line {number}" for number in range(60)))
    assert "... 45 more lines" in drawn(block)
    assert "line 59" in drawn(block, canvas_of(tools=True))


def test_reasoning_is_one_line_until_it_is_opened() -> None:
    block = ThinkingBlock("First.\n\nSecond " + "word " * 40)
    assert drawn(block) == "\n▸ thinking  First."
    assert drawn(block, canvas_of(hide_thinking=True)) == "\n▸ thinking"
    assert "Second word" in drawn(block, canvas_of(thinking=True))


def test_growing_reasoning_shows_its_end() -> None:
    block = ThinkingBlock(done=False)
    block.add("First.\nSec")
    block.add("ond.")
    assert drawn(block) == "\n▸ thinking  Second."


def test_notices_and_summaries() -> None:
    assert drawn(NoticeBlock("it broke", "error", "Do this.")) == "\n✗ it broke\n  Do this."
    block = SummaryBlock("12,000 tokens summarised", "We **did** it.")
    assert drawn(block) == "\n▸ 12,000 tokens summarised"
    block.toggle(canvas_of())
    assert drawn(block) == "\n▾ 12,000 tokens summarised\n  We did it."


def test_a_shell_line_shows_the_end_of_its_output_and_its_failure() -> None:
    output = "\n".join(f"line {number}" for number in range(20))
    block = ShellBlock("make", output, exit_code=2)
    text = drawn(block)
    assert text.startswith("\n! make\n  ... 8 earlier lines\n  line 8\n")
    assert text.endswith("line 19\n  exit code 2")
    assert drawn(ShellBlock("ls", shared=False)) == "\n!! ls"


def test_a_call_goes_through_its_states() -> None:
    clock = Clock()
    canvas = canvas_of(registry=REGISTRY)
    block = ToolBlock("bash", clock=clock)
    assert drawn(block, canvas) == "\n○ bash ..."
    block.write('{"command": "ls')
    assert drawn(block, canvas) == "\n○ bash ... 15 characters"
    block.start({"command": "ls -l"})
    assert drawn(block, canvas) == "\n◐ $ ls -l"
    clock.now += 3.2
    assert drawn(block, canvas) == "\n◐ $ ls -l\n  running 3 s"
    block.progress((Text("one\n"),), None)
    assert drawn(block, canvas) == "\n◐ $ ls -l\n  one\n  running 3.2 s"
    block.end((Text("one\ntwo\n"),), None, is_error=False, duration_ms=3500)
    assert drawn(block, canvas) == "\n● $ ls -l\n  one\n  two\n  took 3.5 s"


def test_a_call_that_never_ran_is_stopped() -> None:
    block = ToolBlock("bash")
    block.start({"command": "ls"})
    block.stop()
    assert drawn(block, canvas_of(registry=REGISTRY)) == "\n○ $ ls\n  stopped"


def test_a_tool_without_a_renderer_shows_name_and_text() -> None:
    block = ToolBlock("own", {"path": "a\nb"})
    block.end((Text("\n".join("abcdefghij")),), None, is_error=False, duration_ms=1)
    assert drawn(block) == snapshot("""\

● own a b
  a
  b
  c
  d
  e
  f
  g
  h
  ... 2 more lines\
""")
    assert "... 2 more lines" not in drawn(block, canvas_of(tools=True))


def test_a_renderer_that_fails_costs_its_looks_and_not_the_screen() -> None:
    class Broken:
        def render_call(self, *_: object) -> str:
            raise ZeroDivisionError("no")

        render_result = render_call

    async def execute(_call: object, _arguments: object) -> object:
        return None

    definition: ToolDefinition[dict[str, object]] = ToolDefinition(
        name="broken",
        label="broken",
        description="",
        parameters={"type": "object"},
        execute=execute,  # type: ignore[arg-type]
        renderer=Broken,
    )
    stack = Stack(canvas_of(registry=ToolRegistry([definition])))
    block = ToolBlock("broken", {"path": "x"})
    block.end((Text("the result"),), None, is_error=False, duration_ms=1)
    stack.extend([block])
    text = "\n".join(strip.text for strip in stack.strips(0))
    assert "cannot be drawn: ZeroDivisionError" in text
    assert "the result" in text


def test_nothing_that_a_terminal_would_obey_gets_through() -> None:
    call = ToolBlock(NASTY, {"path": NASTY})
    call.end((Text(NASTY),), None, is_error=True, duration_ms=None)
    growing = TextBlock(done=False)
    growing.add(NASTY)
    blocks: list[Block] = [
        UserBlock(NASTY), TextBlock(f"{NASTY}\n```\n{NASTY}\n```"), growing, ThinkingBlock(NASTY),
        NoticeBlock(NASTY), SummaryBlock(NASTY, NASTY), ShellBlock(NASTY, NASTY), call,
    ]  # fmt: skip
    for block in blocks:
        text = drawn(block, canvas_of(tools=True, thinking=True))
        assert not any(ord(c) < 32 and c != "\n" for c in text), type(block)
        assert not any(0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) < 0xE000 for c in text), type(
            block
        )


WIDE = st.text(
    st.sampled_from("ab \n\t日本👩\u200d🇩🇪e\u0301\u0303ｗ|`*_-#>1.") | st.characters(codec="utf-8"),
    max_size=120,
)


@given(WIDE, st.integers(8, 50), st.booleans())
def test_no_block_is_wider_than_the_screen(text: str, width: int, opened: bool) -> None:
    canvas = canvas_of(width, tools=opened, thinking=opened, registry=REGISTRY)
    call = ToolBlock("bash", {"command": text})
    call.end((Text(text),), None, is_error=False, duration_ms=12)
    edit = ToolBlock("edit", {"path": text})
    edit.end((Text(text),), {"diff": f"-1 {text}\n+1 {text}x"}, is_error=False, duration_ms=12)
    growing = TextBlock(done=False)
    growing.add(text)
    blocks: list[Block] = [
        UserBlock(text), TextBlock(text), growing, ThinkingBlock(text), NoticeBlock(text),
        SummaryBlock(text, text), ShellBlock(text, text, exit_code=1), call, edit,
    ]  # fmt: skip
    for block in blocks:
        assert fits(block.render(canvas), width), type(block)
