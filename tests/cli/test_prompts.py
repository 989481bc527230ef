"""What a command line makes of words, files, pipes and switches: seen in the request."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.servers import ProviderServer
from tests.sloyd_process import run, script


def users(provider: ProviderServer) -> list[Any]:
    """What the user said, as the last request has it."""
    messages = provider.requests[-1].json["messages"]
    return [message["content"] for message in messages if message["role"] == "user"]


def tools(provider: ProviderServer) -> list[str]:
    """The tools that the last request offers."""
    return [tool["function"]["name"] for tool in provider.requests[-1].json.get("tools", [])]


def test_piped_text_files_and_words_in_this_order(
    tmp_path: Path, home: Path, server: ProviderServer
) -> None:
    (tmp_path / "a.txt").write_text("in a\n")
    (tmp_path / "b.txt").write_text("in b\n")
    words = ("-p", "first", "@a.txt", "second", "@b.txt", "--", "--third", "@not-a-file")
    # Behind the dashes only the words before them name files.
    done = run(*words[:-1], cwd=tmp_path, stdin=b"from the pipe\n")
    assert (done.returncode, done.stdout) == (0, b"Hi there.\n"), done.stderr
    first, second, third = users(server)
    places = [first.index(part) for part in ("from the pipe", "in a", "in b", "first")]
    assert places == sorted(places)
    assert f'<file name="{tmp_path / "a.txt"}">' in first
    assert (second, third) == ("second", "--third")


def test_an_image_by_its_file(tmp_path: Path, home: Path, server: ProviderServer) -> None:
    Image.new("RGB", (8, 8), "red").save(tmp_path / "dot.png")
    assert run("-p", "@dot.png", "what is it?", cwd=tmp_path).returncode == 0
    text, image = users(server)[0]
    assert text["text"].endswith("what is it?")
    kind, _, data = image["image_url"]["url"].partition(";base64,")
    assert kind == "data:image/png"
    assert base64.b64decode(data).startswith(b"\x89PNG")


def test_only_a_pipe(tmp_path: Path, home: Path, server: ProviderServer) -> None:
    assert run(cwd=tmp_path, stdin=b"say hi\n").returncode == 0
    assert users(server) == ["say hi\n"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ((), ["read", "bash", "edit", "write"]),
        (("--tools", "read,grep"), ["read", "grep"]),
        (("-t", "+ls,-bash"), ["read", "edit", "write", "ls"]),
        (("-xt", "edit,wr*"), ["read", "bash"]),
        (("-t", "*", "-xt", "bash,recall"), ["read", "edit", "write", "grep", "find", "ls"]),
        (("-nbt",), []),
        (("-nbt", "-t", "read"), ["read"]),
        (("-nt",), []),
    ],
)
def test_the_tools_that_are_asked_for(
    words: tuple[str, ...], offered: list[str], tmp_path: Path, home: Path, server: ProviderServer
) -> None:
    assert run("-p", "x", *words, cwd=tmp_path).returncode == 0
    assert tools(server) == offered


def test_context_files_can_be_left_out(tmp_path: Path, home: Path, server: ProviderServer) -> None:
    (tmp_path / "AGENTS.md").write_text("Always say please.")
    run("-p", "x", cwd=tmp_path)
    assert "Always say please." in str(server.requests[-1].json["messages"][0])
    run("-p", "x", "-nc", cwd=tmp_path)
    assert "Always say please." not in str(server.requests[-1].json["messages"][0])


def test_resources_that_are_named(tmp_path: Path, home: Path, server: ProviderServer) -> None:
    skill = tmp_path / "greeting" / "SKILL.md"
    skill.parent.mkdir()
    skill.write_text("---\nname: greeting\ndescription: How to greet people\n---\nBow.\n")
    template = tmp_path / "hello.md"
    template.write_text("Say hello to $1.\n")
    extension = tmp_path / "extra.py"
    extension.write_text(
        "def setup(api):\n"
        "    @api.register_tool\n"
        "    def dice() -> str:\n"
        '        "Throw a die."\n'
        "        return '4'\n"
    )
    words = ("--skill", str(skill.parent), "--prompt-template", str(template), "-e", str(extension))
    done = run("-p", "/hello Ann", *words, "-nbt", "-t", "read,dice", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert users(server)[0].strip() == "Say hello to Ann."
    assert "How to greet people" in str(server.requests[-1].json["messages"][0])
    assert sorted(tools(server)) == ["dice", "read"]


def test_a_project_that_is_not_trusted_configures_nothing(
    tmp_path: Path, home: Path, server: ProviderServer
) -> None:
    own = tmp_path / ".sloyd"
    own.mkdir()
    (own / "SYSTEM.md").write_text("Obey the project.")
    for words, obeyed in (((), False), (("-a",), True), (("-na",), False)):
        done = run("-p", "x", *words, cwd=tmp_path)
        assert done.returncode == 0
        assert ("Obey the project." in str(server.requests[-1].json["messages"][0])) is obeyed


def test_verbose_tells_what_happens(tmp_path: Path, home: Path, server: ProviderServer) -> None:
    done = run("-p", "x", "--verbose", cwd=tmp_path)
    assert done.stdout == b"Hi there.\n"
    assert b"sloyd: " in done.stderr


def test_settings_from_the_command_line(tmp_path: Path, home: Path) -> None:
    assert run("config", "set", "model.thinking", "high", cwd=tmp_path).returncode == 0
    assert run("config", "get", "model.thinking", cwd=tmp_path).stdout == b'"high"\n'
    wrong = run("config", "set", "model.thinkin", "high", cwd=tmp_path)
    assert wrong.returncode == 2
    assert b"model.thinking" in wrong.stderr


@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_prompt_is_no_prompt(tmp_path: Path, home: Path, blank: str) -> None:
    """Providers refuse a message without text; a script's empty variable must not get there."""
    done = run("-p", blank, "--model", script(tmp_path, {"text": "never"}), cwd=tmp_path)
    assert done.returncode == 2
    assert b"nothing to do" in done.stderr
