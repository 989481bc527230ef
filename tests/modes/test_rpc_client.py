"""The RPC door driven by its own client, with a real process and a scripted model."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sloyd import Image, RpcClient, RpcError
from sloyd.agent.events import (
    AgentEnd,
    MessageUpdate,
    RetryStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    TurnStart,
)
from sloyd.harness.events import AgentSettled, CompactionEnd, SessionChanged
from sloyd.llm.messages import UserMessage
from sloyd.modes.rpc_protocol import BashExecutionUpdate, UiRequest, UiResponse
from tests.servers import ProviderServer, Reply, chat
from tests.sloyd_process import script, wait_for

WAIT = {"name": "bash", "arguments": {"command": "touch began; sleep 60"}}
LONG = "A long story about many things that were done. " * 400


@asynccontextmanager
async def client_of(
    directory: Path, *turns: dict[str, Any], words: tuple[str, ...] = ("--no-session",), **more: Any
) -> AsyncIterator[RpcClient]:
    model = script(directory, *turns)
    async with RpcClient.start(["--model", model, *words], cwd=directory, **more) as client:
        yield client


async def until(path: Path) -> None:
    """Wait until a file is there."""
    await asyncio.to_thread(wait_for, path.exists)


async def test_a_prompt_and_its_events(tmp_path: Path, home: Path) -> None:
    call = {"name": "write", "arguments": {"path": "a.txt", "content": "x"}}
    async with client_of(tmp_path, {"calls": [call]}, {"text": "written"}) as client:
        events = [event async for event in client.run("write it")]
        assert isinstance(events[-1], AgentSettled)
        assert isinstance(events[-2], AgentEnd)
        assert [each.turn for each in events if isinstance(each, TurnStart)] == [1, 2]
        assert [e.tool_name for e in events if isinstance(e, ToolExecutionStart)] == ["write"]
        deltas = [each.delta.text for each in events if isinstance(each, MessageUpdate)]
        assert "".join(deltas).endswith("written")
        assert (tmp_path / "a.txt").read_text() == "x"
        assert await client.get_last_assistant_text() == "written"
        state = await client.get_state()
        assert (state.message_count, state.is_streaming, state.session_file) == (4, False, None)
        stats = await client.get_session_stats()
        assert (stats.user_messages, stats.tool_calls, stats.total_messages) == (1, 1, 4)
    assert client.exit_code == 0


async def test_ask_gives_the_text_or_raises(tmp_path: Path, home: Path) -> None:
    async with client_of(tmp_path, {"text": "forty-two"}) as client:
        assert await client.ask("what is it?") == "forty-two"
        with pytest.raises(RpcError, match="is over"):
            await client.ask("and again?")
        # The failed run is told of, and the conversation goes on.
        assert not (await client.get_state()).is_streaming


async def test_images_reach_the_model(tmp_path: Path, home: Path) -> None:
    async with client_of(tmp_path, {"text": "a dot"}) as client:
        await client.ask("what is this?", [Image("aGFsbG8=", "image/png")])
        said = (await client.get_messages())[0]
        assert isinstance(said, UserMessage)
        assert said.content[1] == Image("aGFsbG8=", "image/png")


async def test_steer_follow_up_and_queue(tmp_path: Path, home: Path) -> None:
    turns = ({"calls": [WAIT]}, {"text": "two"}, {"text": "three"})
    async with client_of(tmp_path, *turns) as client:
        for say in (client.steer, client.follow_up):
            with pytest.raises(RpcError, match="No run is under way"):
                await say("too early")
        assert await client.prompt("begin") == "started"
        await until(tmp_path / "began")
        with pytest.raises(RpcError, match="streamingBehavior"):
            await client.prompt("more")
        assert await client.prompt("more", streaming_behavior="followUp") == "queued"
        await client.steer("turn left")
        assert (await client.get_state()).pending_message_count == 2
        taken = await client.clear_queue()
        assert (taken.steering, taken.follow_up) == (("turn left",), ("more",))
        with client.events() as events:
            await client.abort()
            assert not (await client.get_state()).is_streaming
            settled = [e async for e in _until_settled(events)][-1]
        assert isinstance(settled, AgentSettled)
        assert settled.outcome == "aborted"


async def _until_settled(events: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for event in events:
        yield event
        if isinstance(event, AgentSettled):
            return


async def test_steering_is_heard(tmp_path: Path, home: Path) -> None:
    call = {"name": "bash", "arguments": {"command": "touch began; while ! [ -e go ]; do :; done"}}
    async with client_of(tmp_path, {"calls": [call]}, {"text": "turned"}) as client:
        with client.events() as events:
            await client.prompt("begin")
            await until(tmp_path / "began")
            await client.steer("turn left")
            (tmp_path / "go").touch()
            async for _ in _until_settled(events):
                pass
        said = [m.content for m in await client.get_messages() if isinstance(m, UserMessage)]
        assert said == ["begin", "turn left"]


async def test_leaving_a_run_early_aborts_it(tmp_path: Path, home: Path) -> None:
    async with client_of(tmp_path, {"calls": [WAIT]}, {"text": "more"}) as client:
        async for event in (run := client.run("begin")):
            if isinstance(event, ToolExecutionStart):
                break
        await run.aclose()
        assert not (await client.get_state()).is_streaming


async def test_resume_after_an_abort(tmp_path: Path, home: Path) -> None:
    async with client_of(tmp_path, {"calls": [WAIT]}, {"text": "gone on"}) as client:
        with pytest.raises(RpcError, match="nothing to go on with"):
            await client.resume()
        await client.prompt("begin")
        await until(tmp_path / "began")
        await client.abort()
        with client.events() as events:
            await client.resume()
            async for _ in _until_settled(events):
                pass
        assert await client.get_last_assistant_text() == "gone on"


async def test_compact(tmp_path: Path, home: Path) -> None:
    (home / ".sloyd").mkdir()
    (home / ".sloyd" / "config.toml").write_text("[compaction]\nkeep_recent_tokens = 100\n")
    turns = ({"text": LONG}, {"text": LONG}, {"text": "## Goal\nTell stories."})
    async with client_of(tmp_path, *turns) as client:
        with pytest.raises(RpcError, match="nothing to compact"):
            await client.compact()
        await client.ask("tell one")
        await client.ask("tell another")
        with client.events() as events:
            done = await client.compact("only the goal")
            await anext(events)
            end = await anext(events)
        assert "Tell stories" in done.summary
        assert done.estimated_tokens_after < done.tokens_before
        assert isinstance(end, CompactionEnd)
        assert end.error_message is None
        with pytest.raises(RpcError):
            await client.compact()


async def test_a_compaction_can_be_stopped(tmp_path: Path, home: Path) -> None:
    (home / ".sloyd").mkdir()
    (home / ".sloyd" / "config.toml").write_text("[compaction]\nkeep_recent_tokens = 100\n")
    turns = ({"text": LONG}, {"text": LONG}, {"text": "late", "delayMs": 60_000})
    async with client_of(tmp_path, *turns) as client:
        await client.ask("tell one")
        await client.ask("tell another")
        before = await client.get_messages()
        with client.events() as events:
            compacting = asyncio.create_task(client.compact())
            await anext(events)
            assert (await client.get_state()).is_compacting
            waiting = asyncio.create_task(client.new_session())
            await client.abort()
        with pytest.raises(RpcError, match="not compacted: stopped"):
            await compacting
        assert await waiting, "what waited for its turn is done then"
        assert await client.get_messages() == ()
        assert len(before) == 4


async def test_a_run_goes_on_after_an_answer_that_broke_off(tmp_path: Path, home: Path) -> None:
    """A message for the run that comes between two attempts is heard in the next one."""
    whole = chat(text="all of it")
    broken = Reply(chat(text="part of it").chunks[:2], ending="reset")
    with ProviderServer(broken, whole, chat(text="and more")) as provider:
        words = ("--provider", "openai", "--base-url", provider.base_url("openai"))
        more = ("--api-key", "x", "--no-session")
        async with RpcClient.start([*words, "--model", "m", *more], cwd=tmp_path) as client:
            with client.events() as events:
                await client.prompt("tell me")
                async for event in events:
                    if isinstance(event, RetryStart):
                        await client.steer("in short")
                    if isinstance(event, AgentSettled):
                        assert event.outcome == "done"
                        break
            assert await client.get_last_assistant_text() in ("all of it", "and more")
        assert "in short" in str(provider.requests[-1].json["messages"])
        assert "part of it" not in str(provider.requests[-1].json["messages"])


async def test_fork_clone_and_the_tree(tmp_path: Path, home: Path) -> None:
    turns = ({"text": "one"}, {"text": "two"})
    async with client_of(tmp_path, *turns, words=()) as client:
        await client.ask("first")
        await client.ask("second")
        await client.set_session_name("Both")
        whole = await client.get_state()
        first, second = await client.get_fork_messages()
        assert (first.text, second.text) == ("first", "second")
        with client.events() as events:
            assert await client.fork(second.entry_id) == "second"
            changed = await anext(events)
        assert isinstance(changed, SessionChanged)
        assert (changed.reason, changed.name) == ("fork", "Both")
        assert [m.text for m in await client.get_fork_messages()] == ["first"]
        forked = await client.get_state()
        assert forked.session_id != whole.session_id
        assert await client.clone()
        assert len(await client.get_messages()) == 2
        assert await client.switch_session(whole.session_file or "")
        assert len(await client.get_messages()) == 4
        assert await client.navigate(first.entry_id)
        tree = await client.get_tree()
        assert tree.leaf_id in tree.nodes
        assert second.entry_id in tree.nodes
        entries = await client.get_entries()
        assert await client.get_entries(since=entries[-2]["id"]) == [entries[-1]]
        with pytest.raises(RpcError, match="no entry"):
            await client.get_entries(since="nonsense")
        assert await client.new_session()
        assert await client.get_messages() == ()
    files = list((home / ".sloyd" / "sessions").glob("*/*.jsonl"))
    assert len(files) == 3, "a session without a message has no file"


async def test_drop_and_restore(tmp_path: Path, home: Path) -> None:
    async with client_of(tmp_path, {"text": "one"}) as client:
        await client.ask("forget this")
        (message,) = await client.get_fork_messages()
        assert message.entry_id in await client.drop(message.entry_id)
        assert len(await client.get_messages()) < 2
        await client.restore(message.entry_id)
        assert len(await client.get_messages()) == 2


async def test_bash_beside_the_conversation(tmp_path: Path, home: Path) -> None:
    async with client_of(tmp_path, {"text": "seen"}) as client:
        with client.events() as events:
            ran = await client.bash("echo caf\u00e9; exit 3")
            update = await anext(events)
        assert isinstance(update, BashExecutionUpdate)
        assert (ran.output, ran.exit_code, ran.cancelled) == ("caf\u00e9\n", 3, False)
        await client.bash("echo secret", exclude_from_context=True)
        running = asyncio.create_task(client.bash("touch began; sleep 60"))
        await until(tmp_path / "began")
        with pytest.raises(RpcError, match="another command is running"):
            await client.bash("true")
        await client.abort_bash()
        assert (await running).cancelled
        await client.ask("what did I run?")
        told = json.dumps(msgspec.to_builtins(await client.get_messages()))
        assert "caf" in told
        assert "exited with code 3" in told
        assert "secret" not in told


async def test_output_beyond_all_bounds(tmp_path: Path, home: Path) -> None:
    async with client_of(tmp_path, {"text": "x"}) as client:
        with client.events() as events:
            ran = await client.bash("head -c 30000000 /dev/zero | tr '\\0' 'x'; echo end")
            first = await anext(events)
        assert isinstance(first, BashExecutionUpdate)
        assert ran.truncated
        assert ran.output.endswith("end")
        counted = await client.bash(f"stat -c %s {ran.full_output_path}; rm {ran.full_output_path}")
        assert counted.output == "30000004\n"


async def test_models_tools_and_modes(tmp_path: Path, home: Path) -> None:
    environment = {**os.environ, "OPENAI_API_KEY": "sk-test"}
    async with client_of(tmp_path, {"text": "x"}, environment=environment) as client:
        levels = await client.get_available_thinking_levels()
        await client.set_thinking_level(levels[0])
        assert await client.cycle_thinking_level() == levels[1]
        offered = await client.get_available_models()
        assert {model.provider for model in offered} == {"openai"}
        chosen = await client.set_model(offered[0].id, "openai")
        assert chosen.id == offered[0].id
        cycled = await client.cycle_model()
        assert cycled is not None
        assert (cycled.model.id, cycled.is_scoped) == (offered[1].id, False)
        with pytest.raises(RpcError, match="no provider"):
            await client.set_model("m", "nobody")
        await client.set_active_tools(["read", "grep"])
        assert {t.name for t in await client.get_tools() if t.active} == {"read", "grep"}
        with pytest.raises(RpcError, match="did you mean"):
            await client.set_active_tools(["raed"])
        await client.set_steering_mode("all")
        await client.set_follow_up_mode("all")
        await client.set_auto_compaction(False)
        await client.set_auto_retry(False)
        await client.abort_retry()
        state = await client.get_state()
        assert (state.steering_mode, state.follow_up_mode) == ("all", "all")
        assert (state.auto_compaction_enabled, state.auto_retry_enabled) == (False, False)
        assert set(state.active_tools) == {"read", "grep"}


async def test_commands_ask_the_person_at_the_client(tmp_path: Path, home: Path) -> None:
    asked: list[UiRequest] = []

    async def answer(question: UiRequest) -> UiResponse:
        asked.append(question)
        assert question.options is not None
        return UiResponse(id=question.id, value=question.options[-1])

    async with client_of(tmp_path, {"text": "one"}, {"text": "two"}, answer=answer) as client:
        assert "fork" in {command.name for command in await client.get_commands()}
        await client.ask("first")
        await client.ask("second")
        with client.events() as events:
            assert await client.prompt("/fork") == "handled"
            told = [await anext(events) for _ in range(3)]
        assert [question.method for question in asked] == ["select"]
        methods = [each.method for each in told if isinstance(each, UiRequest)]
        assert methods == ["notify", "set_editor_text"]
        assert await client.get_messages() == (), "the last of the options is the first message"
        with pytest.raises(RpcError, match="there is no command /frok"):
            await client.prompt("/frok")


async def test_extensions_ask_the_person_at_the_client(tmp_path: Path, home: Path) -> None:
    """At the start, before anything was sent, and in the middle of a run."""
    extension = tmp_path / "asker.py"
    extension.write_text(
        "from sloyd import Block\n"
        "def setup(api):\n"
        "    @api.on('session_start')\n"
        "    async def begin(event):\n"
        "        await api.notify(f'ready: {await api.confirm(\"Begin?\")}')\n"
        "    @api.before_tool_call\n"
        "    async def gate(call):\n"
        "        chosen = await api.select('Run it?', ['yes', 'no'])\n"
        "        return None if chosen == 'yes' else Block('the person said no')\n"
    )
    asked: list[str | None] = []

    async def answer(question: UiRequest) -> UiResponse:
        asked.append(question.title)
        return UiResponse(id=question.id, confirmed=True, value="no")

    turns = ({"calls": [WAIT]}, {"text": "as you wish"})
    words = ("--no-session", "-e", str(extension))
    async with client_of(tmp_path, *turns, words=words, answer=answer) as client:
        events = [event async for event in client.run("do it")]
        assert asked == ["Begin?", "Run it?"]
        refused = [each for each in events if isinstance(each, ToolExecutionEnd)]
        assert "the person said no" in str(refused[0].content)
        assert not (tmp_path / "began").exists()
        assert await client.get_last_assistant_text() == "as you wish"


async def test_a_page(tmp_path: Path, home: Path) -> None:
    async with client_of(tmp_path, {"text": "one"}) as client:
        await client.ask("first")
        path = await client.export_html("out.html")
    page = tmp_path / "out.html"
    assert path == str(page)
    assert page.stat().st_size > 1000


async def test_a_process_that_cannot_start(tmp_path: Path, home: Path) -> None:
    with pytest.raises(RpcError, match="ended with code 2: sloyd: unknown option --bogus"):
        async with RpcClient.start(["--bogus"], cwd=tmp_path):
            pass
    with pytest.raises(RpcError, match="cannot start"):
        async with RpcClient.start(program=["/nowhere/sloyd"]):
            pass


async def test_a_process_that_dies(tmp_path: Path, home: Path) -> None:
    async with client_of(tmp_path, {"text": "one"}) as client:
        with client.events() as events:
            ran = asyncio.create_task(client.bash("kill -9 $PPID"))
            with pytest.raises(RpcError, match="the process has ended"):
                await ran
            rest = [event async for event in events]
        assert all(isinstance(event, BashExecutionUpdate) for event in rest)
        with pytest.raises(RpcError):
            await client.get_state()
