"""Extensions, loaded from real files: what they add, hear and change, and how they are parted."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from sloyd import CodingAgent, ScriptedModel, ToolResultMessage, UsageError
from sloyd.harness.commands import submit
from sloyd.harness.entry_points import EntryPoint, installed_extensions
from sloyd.harness.events import HarnessEvent, Notice
from sloyd.llm.messages import text_of
from sloyd.sessions.entries import CompactionEntry


def extension(directory: Path, code: str, name: str = "own") -> Path:
    path = directory / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(code))
    return path


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


def results(agent: CodingAgent) -> list[str]:
    return [text_of(m.content) for m in agent.messages if isinstance(m, ToolResultMessage)]


class Opened:
    """An agent, and everything that it told."""

    def __init__(self, agent: CodingAgent) -> None:
        self.agent = agent
        self.events: list[HarnessEvent] = []
        agent.subscribe(self.events.append)

    @property
    def notices(self) -> list[str]:
        return [event.message for event in self.events if isinstance(event, Notice)]


@asynccontextmanager
async def opened(
    directory: Path, *turns: dict[str, Any], extensions: tuple[Path, ...] = (), **options: Any
) -> AsyncIterator[Opened]:
    model = ScriptedModel([*turns, {"text": "Done."}])
    async with CodingAgent.open(
        model=model, cwd=directory, extensions=extensions, context_files=False, **options
    ) as agent:
        yield Opened(agent)


async def test_a_plain_function_becomes_an_active_tool(home: Path, tmp_path: Path) -> None:
    path = extension(
        tmp_path,
        '''
        def setup(api):
            @api.register_tool
            def double(number: int) -> int:
                """Double a number."""
                return 2 * number
        ''',
    )
    async with opened(tmp_path, call("double", number=21), extensions=(path,)) as run:
        assert "double" in run.agent.registry.active_names
        await run.agent.prompt("go")
        assert results(run.agent) == ["42"]
        definition = run.agent.registry.get("double")
        assert definition is not None
        assert definition.source.origin == str(path)


async def test_a_tool_of_a_built_in_name_takes_its_place(home: Path, tmp_path: Path) -> None:
    path = extension(
        tmp_path,
        '''
        async def setup(api):
            @api.register_tool
            async def read(path: str) -> str:
                """Read something else."""
                inner = await api.run_tool("ls", {"path": "."})
                return "not " + path + " but " + inner.content[0].text
        ''',
    )
    async with opened(tmp_path, call("read", path="x"), extensions=(path,)) as run:
        names = run.agent.registry.active_names
        await run.agent.prompt("go")
        assert names.count("read") == 1
        assert results(run.agent)[0].startswith("not x but ")
        assert "own.py" in results(run.agent)[0]


@pytest.mark.parametrize(
    ("code", "place", "words"),
    [
        ("x = 1\ndef setup(api:\n    pass\n", ":2", "SyntaxError"),
        ("def setup(api):\n    raise ValueError('no luck')\n", ":2", "ValueError: no luck"),
        ("import sys\nsys.exit(3)\n", ":2", "SystemExit: 3"),
        ("import nothing_of_this_name\n", ":1", "ModuleNotFoundError"),
        ("def setup(api):\n    api.on('turn_endd', print)\n", ":2", "did you mean turn_end?"),
        ("def setup(api):\n    api.agent\n", ":2", "before there is one"),
        ("def start(api):\n    pass\n", "", "no function setup"),
        ("def setup(api):\n    api.register_tool(len)\n", ":2", "len"),
    ],
)
async def test_a_broken_extension_is_named_with_its_line_and_left_out(
    home: Path, tmp_path: Path, code: str, place: str, words: str
) -> None:
    broken = extension(tmp_path, code, "broken")
    sound = extension(
        tmp_path,
        "def setup(api):\n    api.register_command('hi', lambda a, d: 'said ' + a)\n",
        "sound",
    )
    async with opened(tmp_path, extensions=(broken, sound)) as run:
        await run.agent.tell_notices()
        assert run.agent.extensions is not None
        assert run.agent.extensions.names == ("sound",)
        assert await submit(run.agent, "/hi you", run.agent.door) == "said you"
        (notice,) = run.notices
        assert f"{broken}{place}" in notice
        assert words in notice


async def test_a_failing_handler_stops_neither_the_run_nor_other_handlers(
    home: Path, tmp_path: Path
) -> None:
    path = extension(
        tmp_path,
        """
        heard = []
        def setup(api):
            @api.on("message_end")
            def bad(event):
                raise KeyError("missing")
            api.on("message_end", lambda event: heard.append(type(event.message).__name__))
            api.on("session_start", lambda event: heard.append("start"))
            api.register_command("heard", lambda a, d: " ".join(heard))
        """,
    )
    async with opened(tmp_path, extensions=(path,)) as run:
        result = await run.agent.prompt("go")
        assert result.outcome == "done"
        said = await submit(run.agent, "/heard", run.agent.door)
    assert said is not None
    assert said.split()[0] == "start"
    assert len(said.split()) == 3
    # It fails for two messages, which a person needs to hear once.
    assert [text for text in run.notices if "KeyError" in text] == [
        f"{path}:6: the extension own failed on message_end: KeyError: 'missing'"
    ]


async def test_the_first_gate_that_stops_a_call_has_the_last_word(
    home: Path, tmp_path: Path
) -> None:
    first = extension(
        tmp_path,
        """
        from sloyd import Block, ChangeArguments
        def setup(api):
            def gate(pending):
                command = pending.call.arguments["command"]
                if "harm" in command:
                    return Block("first says no")
                return ChangeArguments({"command": command.replace("one", "two")})
            api.before_tool_call(gate, tools=["bash"])
        """,
        "first",
    )
    second = extension(
        tmp_path,
        """
        from sloyd import Block, ChangeArguments
        def setup(api):
            async def gate(pending):
                if pending.arguments.command == "echo two":
                    return ChangeArguments({"command": "echo three"})
                return Block("second says no to " + pending.arguments.command)
            api.before_tool_call(gate)
        """,
        "second",
    )
    turns = [
        call("bash", command="harm"),
        call("bash", command="echo one"),
        call("bash", command="echo other"),
    ]
    async with opened(tmp_path, *turns, extensions=(first, second)) as run:
        await run.agent.prompt("go")
        assert [text.strip() for text in results(run.agent)] == [
            "first says no",
            "three",
            "second says no to echo other",
        ]


async def test_a_gate_that_fails_blocks_its_call_only(home: Path, tmp_path: Path) -> None:
    path = extension(
        tmp_path,
        """
        def setup(api):
            def gate(pending):
                return 1 / len(pending.call.arguments["command"].split("boom", 1)[0])
            api.before_tool_call(gate, tools=["bash"])
        """,
    )
    (tmp_path / "a").write_text("text")
    turns = [call("bash", command="boom; touch made"), call("read", path="a")]
    async with opened(tmp_path, *turns, extensions=(path,)) as run:
        await run.agent.prompt("go")
        blocked, read = results(run.agent)
    assert "Not run" in blocked
    assert "ZeroDivisionError" in blocked
    assert "text" in read
    assert not (tmp_path / "made").exists()
    assert any(f"{path}:4" in text for text in run.notices)


async def test_results_context_requests_input_and_prompt_can_be_changed(
    home: Path, tmp_path: Path
) -> None:
    path = extension(
        tmp_path,
        """
        import msgspec
        from sloyd import ToolResult, UserMessage
        seen = []
        def setup(api):
            @api.after_tool_call
            def redact(finished):
                return ToolResult.of("redacted")
            @api.after_tool_call
            def mark(finished):
                return ToolResult.of(finished.result.content[0].text + "!")
            @api.transform_context
            def add(context):
                extra = UserMessage(content="extra")
                return msgspec.structs.replace(context, messages=(*context.messages, extra))
            @api.before_request
            def look(request):
                seen.append(request.turn)
            api.transform_input(lambda text: text.replace("cat", "dog"))
            api.transform_system_prompt(lambda prompt: prompt + " Be kind.")
            @api.transform_context
            def count(context):
                seen.append(context.messages[-1].content)
            api.register_command("seen", lambda a, d: repr(seen))
        """,
    )
    (tmp_path / "a").write_text("secret")
    async with opened(tmp_path, call("read", path="a"), extensions=(path,)) as run:
        text = await submit(run.agent, "the cat", run.agent.door)
        assert text == "the dog"
        await run.agent.prompt(text)
        assert results(run.agent) == ["redacted!"]
        assert run.agent.agent.system_prompt.endswith("Be kind.")
        assert await submit(run.agent, "/seen", run.agent.door) == "[1, 'extra', 2, 'extra']"


async def test_state_is_kept_in_the_session_by_branch(home: Path, tmp_path: Path) -> None:
    path = extension(
        tmp_path,
        """
        def setup(api):
            def count(arguments, door):
                api.set_state({"n": api.get_state({"n": 0})["n"] + 1})
                return str(api.get_state()["n"])
            api.register_command("count", count)
        """,
    )
    async with opened(tmp_path, extensions=(path,)) as run:
        agent = run.agent
        assert await submit(agent, "/count", agent.door) == "1"
        place = agent.session.leaf_id
        assert await submit(agent, "/count", agent.door) == "2"
        await agent.conversation.navigate(place)
        assert await submit(agent, "/count", agent.door) == "2"


async def test_reload_takes_the_code_as_it_is_now_and_disposes_of_the_old(
    home: Path, tmp_path: Path
) -> None:
    code = """
        def setup(api):
            api.register_command("which", lambda a, d: "{}")
            api.dispose(lambda: open("{}", "w").close())
            @api.register_tool
            def tool_{}() -> str:
                '''A tool.'''
                return ""
    """
    path = extension(tmp_path, code.format("one", tmp_path / "gone", "one"))
    async with opened(tmp_path, extensions=(path,)) as run:
        agent = run.agent
        agent.set_active_tools(["read", "tool_one"])
        # The same size in the same second: nothing tells a cache that the file has changed.
        extension(tmp_path, code.format("two", tmp_path / "gone", "two"))
        await agent.reload()
        assert (tmp_path / "gone").exists()
        assert await submit(agent, "/which", agent.door) == "two"
        assert agent.registry.active_names == ("read", "tool_two")
        assert [tool.name for tool in agent.agent.tools] == ["read", "tool_two"]
        (tmp_path / "gone").unlink()
    assert (tmp_path / "gone").exists()


async def test_commands_of_one_name_are_numbered_and_ours_keep_theirs(
    home: Path, tmp_path: Path
) -> None:
    code = """
        def setup(api):
            for name in ("same", "help"):
                api.register_command(name, lambda a, d: {!r})
        """
    one = extension(tmp_path, code.format("one"), "one")
    two = extension(tmp_path, code.format("two"), "two")
    async with opened(tmp_path, extensions=(one, two)) as run:
        agent = run.agent
        assert await submit(agent, "/same:1", agent.door) == "one"
        assert await submit(agent, "/same:2", agent.door) == "two"
        assert agent.commands.get("same") is None
        ours = agent.commands.get("help")
        assert ours is not None
        assert ours.source == "sloyd"
        assert await submit(agent, "/help:2", agent.door) == "two"


async def test_a_package_may_import_its_own_modules(home: Path, tmp_path: Path) -> None:
    package = tmp_path / "packaged"
    extension(package, "from .part import WORD\nfrom . import part\n", "__init__")
    with (package / "__init__.py").open("a") as file:
        file.write("def setup(api):\n    api.register_command('w', lambda a, d: WORD)\n")
    extension(package, "WORD = 'inside'\n", "part")
    async with opened(tmp_path, extensions=(package,)) as run:
        assert await submit(run.agent, "/w", run.agent.door) == "inside"


async def test_the_users_extensions_are_found_and_the_projects_once_it_is_trusted(
    home: Path, tmp_path: Path
) -> None:
    code = "def setup(api):\n    api.register_command({!r}, lambda a, d: None)\n"
    extension(home / ".sloyd" / "extensions", code.format("user"), "user")
    extension(tmp_path / ".sloyd" / "extensions", code.format("project"), "project")
    async with opened(tmp_path) as run:
        await run.agent.tell_notices()
        assert run.agent.commands.get("user") is not None
        assert run.agent.commands.get("project") is None
        assert any(".sloyd/extensions" in text and "--approve" in text for text in run.notices)
    async with opened(tmp_path, trust_project=True) as run:
        assert run.agent.commands.get("project") is not None
    async with opened(tmp_path, trust_project=True, find_extensions=False) as run:
        assert run.agent.extensions is None


async def test_an_extension_that_is_not_there_is_a_wrong_usage(home: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no file, directory or module .*nowhere\.py"):
        async with opened(tmp_path, extensions=(tmp_path / "nowhere.py",)):
            pass


def package(place: Path, name: str, points: str) -> None:
    info = place / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text(points)


def test_entry_points_are_found_and_kept_until_a_package_comes(tmp_path: Path) -> None:
    place, cache = tmp_path / "site", tmp_path / "home" / "cache" / "extensions.json"
    package(place, "one", "[console_scripts]\nx = y:z\n\n[sloyd.extensions]\none = one.ext:go\n")
    package(place, "none", "[console_scripts]\na = b:c\n")
    search = ["", str(place), str(tmp_path / "missing")]
    assert installed_extensions(cache, search) == [EntryPoint("one", "one.ext:go")]
    # Kept: what the file says counts, for the directory has not changed.
    cache.write_text(cache.read_text().replace("one.ext:go", "kept.ext:go"))
    assert installed_extensions(cache, search) == [EntryPoint("one", "kept.ext:go")]
    package(place, "two", "[sloyd.extensions]\ntwo = two\n")
    os.utime(place, ns=(1, 1))
    assert installed_extensions(cache, search) == [
        EntryPoint("one", "one.ext:go"),
        EntryPoint("two", "two"),
    ]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"stamps": 1, "points": 2}', "null"])
def test_a_damaged_cache_is_made_anew(tmp_path: Path, content: str) -> None:
    place, cache = tmp_path / "site", tmp_path / "cache.json"
    package(place, "one", "[sloyd.extensions]\none = one\n")
    cache.write_text(content)
    assert installed_extensions(cache, [str(place)]) == [EntryPoint("one", "one")]


async def test_an_installed_package_is_loaded(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "site"
    package(place, "lib", "[sloyd.extensions]\ninstalled = sloyd_test_installed:begin\n")
    (place / "sloyd_test_installed.py").write_text(
        "def begin(api):\n    api.register_command('installed', lambda a, d: 'yes')\n"
    )
    monkeypatch.syspath_prepend(str(place))
    async with opened(tmp_path) as run:
        assert await submit(run.agent, "/installed", run.agent.door) == "yes"


async def test_recall_comes_with_the_first_cut(home: Path, tmp_path: Path) -> None:
    async with opened(tmp_path, {"text": "The word is plover."}) as run:
        agent = run.agent
        await agent.prompt("Which word?")
        answer = agent.session.leaf_id
        assert "recall" not in agent.registry.active_names
        assert answer is not None
        agent.session.append(CompactionEntry(summary="cut", first_kept_entry_id=answer))
        await agent.conversation.navigate(agent.session.leaf_id)
        await agent.conversation.rename("cut")
        assert agent.registry.active_names[-1] == "recall"
        tool = agent.registry.agent_tool("recall")
        assert tool is not None
        from sloyd.agent.direct import run_call

        found = await run_call(tool, "1", {"query": "plover"})
        assert answer in text_of(found.content)
        whole = await run_call(tool, "2", {"ids": [answer]})
        assert "The word is plover." in text_of(whole.content)
        wrong = await run_call(tool, "3", {"ids": ["zzzz"]})
        assert wrong.is_error
        assert "query" in text_of(wrong.content)
