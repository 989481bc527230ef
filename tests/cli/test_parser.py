"""From words to options: the table is the only declaration, and contradictions are told."""

from __future__ import annotations

import pytest

from sloyd.cli.flags import FLAGS
from sloyd.cli.parser import Options, help_text, parse
from sloyd.errors import UsageError


def test_every_flag_becomes_an_option() -> None:
    assert {flag.key for flag in FLAGS} <= set(Options.__struct_fields__)


def test_no_spelling_is_used_twice() -> None:
    names = [name for flag in FLAGS for name in flag.names]
    assert len(names) == len(set(names))


def test_help_names_every_flag() -> None:
    text = help_text()
    assert all(name in text for flag in FLAGS for name in flag.names)


def test_values() -> None:
    options = parse(
        [
            "-c",
            "-n",
            "two words",
            "-e",
            "a.py",
            "-e",
            "b.py",
            "-xt",
            "bash,-x",
            "-nc",
            "-a",
            "hello",
        ]
    )
    assert options.continue_
    assert options.name == "two words"
    assert options.extension == ("a.py", "b.py")
    assert options.exclude_tools == "bash,-x"
    assert options.no_context_files
    assert options.approve
    assert options.words == ("hello",)


def test_words_behind_the_dashes_are_prompts() -> None:
    options = parse(["-p", "--", "-v is broken", "--model", "@x"])
    assert options.words == ("-v is broken", "--model", "@x")
    assert not options.version


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--continue --resume", "--continue and --resume"),
        ("-c --session x", "--continue and --session"),
        ("--fork x --session y", "--session and --fork"),
        ("--session-id x --no-session", "--session-id and --no-session"),
        ("--no-session --session-dir d", "--no-session and --session-dir"),
        ("-nt --tools read", "--no-tools and --tools"),
        ("-a -na", "--approve and --no-approve"),
        ("-r -p x", "--resume and --print"),
        ("--resume --mode json x", "--resume and --mode"),
        ("--export x -p", "--export and --print"),
        ("--mode rpc -p", "--print and --mode rpc"),
        ("--mode rpc hello", "takes no prompt"),
        ("--export x y z", "one output file"),
        ("--max-turns 0 x", "from 1 up"),
        ("--mode xml x", "xml"),
        ("--session", "needs a value"),
    ],
)
def test_contradictions(words: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse(words.split())
