"""The screen as a person uses it: talking, steering, stopping, folding, leaving."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sloyd.llm.messages import UserMessage, text_of
from sloyd.modes.tui.answer_blocks import TextBlock
from sloyd.modes.tui.blocks import NoticeBlock, UserBlock
from sloyd.modes.tui.canvas import Shown
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.tool_block import ToolBlock
from sloyd.modes.tui.tree_screen import TreeScreen
from tests.tui.screening import Hands, screening

SLOW = {"text": "Working.", "calls": [{"name": "bash", "arguments": {"command": "sleep 30"}}]}


def said(hands: Hands) -> list[str]:
    """What the model was told by the person."""
    return [
        text_of(message.content)
        for message in hands.app.agent.messages
        if isinstance(message, UserMessage)
    ]


async def test_a_prompt_is_answered_and_both_are_shown(tmp_path: Path) -> None:
    async with screening(tmp_path, [{"text": "Hello **there**."}]) as hands:
        await hands.say("hi")
        await hands.until_shown("Hello there.")
        assert "❯ hi" in hands.text
        assert hands.app.composer.text == ""


async def test_prompts_of_the_command_line_come_first(tmp_path: Path) -> None:
    turns: list[dict[str, Any]] = [{"text": "One."}, {"text": "Two."}]
    async with screening(tmp_path, turns, prompts=["first", "second"]) as hands:
        await hands.until_shown("Two.")
        assert said(hands) == ["first", "second"]


async def test_calls_are_cards_with_their_results(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old\n")
    edit = {"path": "a.txt", "edits": [{"oldText": "old", "newText": "new"}]}
    turns: list[dict[str, Any]] = [
        {
            "thinking": "I have to change it.",
            "calls": [
                {"name": "read", "arguments": {"path": "a.txt"}},
                {"name": "edit", "arguments": edit},
            ],
        },
        {"text": "Changed."},
    ]
    async with screening(tmp_path, turns) as hands:
        await hands.say("change it")
        await hands.until_shown("Changed.")
        text = hands.text
        assert "▸ thinking  I have to change it." in text
        assert "● read a.txt" in text
        assert "-1 old" in text
        assert "+1 new" in text
        states = [
            block.state for block in hands.app.transcript.blocks if isinstance(block, ToolBlock)
        ]
        assert states == ["done", "done"]


async def test_a_failed_call_says_so(tmp_path: Path) -> None:
    turns: list[dict[str, Any]] = [
        {"calls": [{"name": "read", "arguments": {"path": "none.txt"}}]},
        {"text": "Well."},
    ]
    async with screening(tmp_path, turns) as hands:
        await hands.say("read it")
        await hands.until_shown("Well.")
        assert [b.state for b in hands.app.transcript.blocks if isinstance(b, ToolBlock)] == [
            "failed"
        ]
        assert "none.txt" in hands.text


async def test_what_is_sent_while_it_works_steers_and_waits_in_sight(tmp_path: Path) -> None:
    command = "until [ -e go ]; do sleep 0.05; done"
    slow = {"calls": [{"name": "bash", "arguments": {"command": command}}]}
    async with screening(tmp_path, [slow, {"text": "Told."}, {"text": "Later."}]) as hands:
        await hands.say("begin")
        await hands.until_shown("until [ -e go ]")
        await hands.say("also this")
        hands.app.composer.set_text("and then that")
        await hands.press("alt+enter")
        assert "↳ also this" in hands.text
        assert "↳ and then that" in hands.text
        assert "2 waiting" in hands.text
        (tmp_path / "go").touch()
        await hands.until_shown("Later.")
        assert said(hands) == ["begin", "also this", "and then that"]
        assert "↳" not in hands.text


async def test_waiting_messages_can_be_taken_back(tmp_path: Path) -> None:
    async with screening(tmp_path, [SLOW, {"text": "x"}]) as hands:
        await hands.say("begin")
        await hands.until_shown("sleep 30")
        await hands.say("wrong")
        hands.app.composer.set_text("more")
        await hands.press("alt+up")
        assert hands.app.composer.text == "wrong\n\nmore"
        assert hands.app.agent.agent.queued == ((), ())
        await hands.press("escape")
        await hands.until_idle()


async def test_escape_stops_the_run_at_once(tmp_path: Path) -> None:
    async with screening(tmp_path, [SLOW]) as hands:
        await hands.say("begin")
        await hands.until_shown("sleep 30")
        assert "esc stops" in hands.text
        await hands.press("escape")
        await hands.until_shown("interrupted")
        assert not hands.app.agent.is_running
        assert "esc stops" not in hands.text


async def test_escape_gives_up_a_retry_that_waits(tmp_path: Path) -> None:
    from tests.servers import ProviderServer, error

    with ProviderServer(error(529, "overloaded"), repeat=True) as server:
        from sloyd.harness.model_choice import ModelChoice

        choice = ModelChoice(
            model="anthropic/claude-sonnet-4-5",
            base_url=server.base_url("anthropic-messages"),
            api_key="k",
        )
        async with screening(tmp_path) as hands:
            await hands.app.agent.set_model(choice)
            await hands.say("begin")
            await hands.until_shown("Trying again in")
            await hands.press("escape")
            await hands.until_idle()
            assert "Trying again" not in hands.text


async def test_two_escapes_open_the_tree(tmp_path: Path) -> None:
    async with screening(tmp_path, [{"text": "Hello."}]) as hands:
        await hands.say("hi")
        await hands.until_shown("Hello.")
        await hands.press("escape", "escape")
        await hands.until(lambda: isinstance(hands.app.screen, TreeScreen), "the tree")
        await hands.press("escape")
        assert len(hands.app.screen_stack) == 1


async def test_going_back_in_the_tree_brings_the_prompt_back_to_be_changed(tmp_path: Path) -> None:
    async with screening(tmp_path, [{"text": "One."}, {"text": "Two."}]) as hands:
        await hands.say("first")
        await hands.until_shown("One.")
        await hands.say("second")
        await hands.until_shown("Two.")
        await hands.say("/tree")
        await hands.until(lambda: isinstance(hands.app.screen, TreeScreen), "the tree")
        await hands.press("up", "enter")
        await hands.until(lambda: hands.app.composer.text == "second", "the prompt")
        assert "Two." not in hands.text
        assert said(hands) == ["first"]


async def test_failures_of_the_model_say_what_to_do(tmp_path: Path) -> None:
    async with screening(tmp_path, [{"text": "Half", "error": "it broke"}]) as hands:
        await hands.say("begin")
        await hands.until_shown("it broke")
        assert "Send anything to go on" in hands.text


async def test_tools_and_thinking_open_and_fold(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {number}\n" for number in range(6)))
    turns: list[dict[str, Any]] = [
        {
            "thinking": "First thought.\nSecond thought.",
            "calls": [{"name": "read", "arguments": {"path": "a.txt"}}],
        },
        {"text": "Done."},
    ]
    async with screening(tmp_path, turns, size=(80, 40)) as hands:
        await hands.say("read")
        await hands.until_shown("Done.")
        assert "line 3" not in hands.text
        await hands.press("ctrl+o")
        assert "line 3" in hands.text
        assert "Second thought." not in hands.text
        await hands.press("ctrl+t")
        assert "Second thought." in hands.text
        await hands.press("ctrl+o", "ctrl+t")
        assert "line 3" not in hands.text
        assert "Second thought." not in hands.text


async def test_a_click_on_a_card_opens_that_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("inside\n")
    call = {"name": "read", "arguments": {"path": "a.txt"}}
    async with screening(tmp_path, [{"calls": [call, call]}, {"text": "Done."}]) as hands:
        await hands.say("read")
        await hands.until_shown("Done.")
        row = next(y for y, line in enumerate(hands.text.split("\n")) if "● read" in line)
        await hands.pilot.click(hands.app.transcript, offset=(5, row))
        await hands.settle()
        assert hands.text.count("inside") == 1


async def test_the_key_that_clears_clears_then_leaves(tmp_path: Path) -> None:
    async with screening(tmp_path) as hands:
        await hands.press(*"draft")
        await hands.press("ctrl+c")
        assert hands.app.composer.text == ""
        await hands.press("ctrl+c")
        await hands.until_shown("again leaves")
        await hands.press("ctrl+c")
        assert hands.app.return_value == 0


async def test_the_key_that_leaves_does_not_while_something_is_written(tmp_path: Path) -> None:
    async with screening(tmp_path) as hands:
        await hands.press("x", "ctrl+d")
        assert hands.app.return_value is None
        await hands.press("backspace", "ctrl+d")
        assert hands.app.return_value == 0


async def test_leaving_during_a_run_keeps_its_history_complete(tmp_path: Path) -> None:
    async with screening(tmp_path, [SLOW]) as hands:
        await hands.say("begin")
        await hands.until_shown("sleep 30")
        await hands.say("/quit")
        await hands.until(lambda: hands.app.return_value == 0, "the end")
        agent = hands.app.agent
    assert not agent.is_running
    assert [type(message).__name__ for message in agent.messages][-1] == "ToolResultMessage"


async def test_commands_run_and_unknown_ones_come_back(tmp_path: Path) -> None:
    async with screening(tmp_path) as hands:
        await hands.say("/name a good name")
        await hands.until_shown("a good name")
        await hands.say("/nmae other")
        await hands.until_shown("did you mean /name?")
        assert hands.app.composer.text == "/nmae other"


async def test_shell_lines_run_and_only_shared_ones_reach_the_model(tmp_path: Path) -> None:
    async with screening(tmp_path, [{"text": "Seen."}]) as hands:
        await hands.say("!echo for everyone; exit 3")
        await hands.until_shown("exit code 3")
        await hands.say("!!echo for me alone")
        await hands.until(
            lambda: (
                sum("for me alone" in block.text for block in hands.app.transcript.blocks) == 1
                and hands.app.activity.doing == "idle"
            )
        )
        context = " ".join(
            text_of(m.content) for m in hands.app.agent.messages if isinstance(m, UserMessage)
        )
        assert "for everyone" in context
        assert "for me alone" not in context


async def test_escape_stops_a_shell_line(tmp_path: Path) -> None:
    async with screening(tmp_path) as hands:
        await hands.say("!sleep 30")
        await hands.until_shown("Running the command")
        await hands.press("escape")
        await hands.until_shown("stopped")
        assert hands.app.activity.doing == "idle"


async def test_questions_of_commands_are_asked_over_the_screen(tmp_path: Path) -> None:
    async with screening(tmp_path) as hands:
        door = hands.app.door
        for key, expected in (("y", True), ("n", False), ("escape", False)):
            asked = asyncio.create_task(door.confirm("Really?", f"It matters: {key}."))
            await hands.until_shown(f"It matters: {key}.")
            await hands.press(key)
            assert await asked is expected
        chosen = asyncio.create_task(door.select("Which?", ["one", "two"]))
        await hands.until_shown("two")
        await hands.press("down", "enter")
        assert await chosen == 1
        written = asyncio.create_task(door.input("Name?", "old"))
        await hands.until_shown("Name?")
        await hands.press("X", "enter")
        assert await written == "oldX"


async def test_keys_can_be_given_to_other_actions(tmp_path: Path) -> None:
    keys = KeyMap({"tools.toggle": ["f2"], "app.exit": []})
    async with screening(tmp_path, keys=keys) as hands:
        await hands.press("ctrl+o")
        assert hands.app.transcript.shown == Shown()
        await hands.press("f2")
        assert hands.app.transcript.shown == Shown(tools=True)
        await hands.press("ctrl+d")
        assert hands.app.return_value is None


async def test_problems_of_the_key_file_are_told(tmp_path: Path) -> None:
    async with screening(tmp_path, keys=KeyMap({"tols.toggle": "f2"})) as hands:
        await hands.until_shown("did you mean tools.toggle?")


async def test_thinking_levels_go_round_and_the_footer_says_which(tmp_path: Path) -> None:
    async with screening(tmp_path) as hands:
        before = hands.app.agent.thinking
        await hands.press("shift+tab")
        await hands.until(lambda: hands.app.agent.thinking != before)
        await hands.until_shown(f"· {hands.app.agent.thinking}")


async def test_another_session_shows_its_own_conversation(tmp_path: Path) -> None:
    async with screening(tmp_path, [{"text": "Old answer."}]) as hands:
        await hands.say("old prompt")
        await hands.until_shown("Old answer.")
        await hands.say("/new")
        await hands.until_shown("a new session")
        assert "Old answer." not in hands.text
        assert not any(isinstance(b, UserBlock | TextBlock) for b in hands.app.transcript.blocks)


async def test_the_footer_says_how_to_get_back_to_the_end(tmp_path: Path) -> None:
    long = "\n\n".join(f"paragraph {number}" for number in range(80))
    async with screening(tmp_path, [{"text": long}]) as hands:
        await hands.say("write")
        await hands.until_shown("paragraph 79")
        await hands.press("pageup")
        await hands.until_shown("↓ ctrl+end")
        await hands.press("ctrl+end")
        await hands.until(lambda: "↓ ctrl+end" not in hands.text)
        assert "paragraph 79" in hands.text


async def test_search_finds_marks_and_closes(tmp_path: Path) -> None:
    long = "\n\n".join(f"paragraph {number}" for number in range(80))
    async with screening(tmp_path, [{"text": f"A needle here.\n\n{long}"}]) as hands:
        await hands.say("write")
        await hands.until_shown("paragraph 79")
        assert "needle" not in hands.text
        await hands.press("alt+slash")
        await hands.press(*"needle")
        await hands.until_shown("A needle here.")
        await hands.press("escape")
        await hands.press("z")
        assert hands.app.composer.text == "z"


async def test_typing_goes_to_the_composer_from_wherever_the_focus_is(tmp_path: Path) -> None:
    async with screening(tmp_path) as hands:
        hands.app.set_focus(None)
        await hands.press("a", "b")
        assert hands.app.composer.text == "ab"


async def test_a_fault_in_a_listener_of_ours_ends_the_app_and_is_not_hidden(tmp_path: Path) -> None:
    async def broken() -> None:
        raise ZeroDivisionError

    async def use() -> None:
        async with screening(tmp_path) as hands:
            hands.app.start(broken())
            await hands.pilot.pause(0.2)

    with pytest.raises(ZeroDivisionError):
        await use()


async def test_notices_of_the_agent_are_shown_by_level(tmp_path: Path) -> None:
    async with screening(tmp_path) as hands:
        await hands.app.agent.notify("mind this", "warning")
        await hands.until_shown("! mind this")
        assert any(isinstance(block, NoticeBlock) for block in hands.app.transcript.blocks)
