"""From the words of a command line to `Options`, by the table in `sloyd.cli.flags`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import msgspec

from sloyd.cli.combinations import check_combination
from sloyd.cli.flags import COMMANDS, FLAGS, Flag, flag_names
from sloyd.errors import UsageError

if TYPE_CHECKING:
    from sloyd.llm.models import ThinkingLevel

__all__ = ["Options", "help_text", "parse", "unknown_option"]


_HELP_WIDTH = 96


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line asks for. None means that the switch was not given."""

    print: bool = False
    plain: bool = False
    mode: Literal["text", "json", "rpc"] | None = None
    export: str | None = None
    continue_: bool = False
    resume: bool = False
    session: str | None = None
    session_id: str | None = None
    fork: str | None = None
    session_dir: str | None = None
    no_session: bool = False
    name: str | None = None
    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    api_key: str | None = None
    thinking: ThinkingLevel | None = None
    list_models: str | None = None
    record: str | None = None
    replay: str | None = None
    tools: str | None = None
    exclude_tools: str | None = None
    no_builtin_tools: bool = False
    no_tools: bool = False
    extension: tuple[str, ...] = ()
    no_extensions: bool = False
    skill: tuple[str, ...] = ()
    no_skills: bool = False
    prompt_template: tuple[str, ...] = ()
    no_prompt_templates: bool = False
    no_context_files: bool = False
    approve: bool = False
    no_approve: bool = False
    system_prompt: str | None = None
    append_system_prompt: tuple[str, ...] = ()
    max_turns: int | None = None
    max_time: str | None = None
    max_cost: float | None = None
    cwd: str | None = None
    offline: bool = False
    verbose: bool = False
    version: bool = False
    help: bool = False
    words: tuple[str, ...] = ()
    """Prompts and ``@file`` arguments, in their order."""
    unsorted: tuple[str, ...] = ()
    """Where there are switches that only an extension can know: they and all words before ``--``.

    ``words`` holds what may be prompts then; which are values of a switch, its extension tells.
    """
    behind: tuple[str, ...] = ()
    """The words behind ``--``."""


class _Parser(argparse.ArgumentParser):
    """An argparse parser that raises instead of exiting."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def _add(parser: argparse.ArgumentParser, flag: Flag) -> None:
    match flag.kind:
        case "switch":
            parser.add_argument(*flag.names, dest=flag.key, action="store_true")
        case "list":
            parser.add_argument(*flag.names, dest=flag.key, action="append", default=[])
        case "integer":
            parser.add_argument(*flag.names, dest=flag.key, type=int)
        case "number":
            parser.add_argument(*flag.names, dest=flag.key, type=float)
        case "choice":
            parser.add_argument(*flag.names, dest=flag.key, choices=flag.choices)
        case "optional":
            parser.add_argument(*flag.names, dest=flag.key, nargs="?", const="")
        case "text":
            parser.add_argument(*flag.names, dest=flag.key)


def parse(arguments: Sequence[str]) -> Options:
    """Parse the words behind ``sloyd``.

    Words after ``--`` are prompts whatever they look like. A switch that is not known may be an
    extension's and is kept in `Options.unsorted`; `unknown_option` says what is wrong with one that
    is nobody's. Raises `UsageError` for a missing value or a value of the wrong kind.
    """
    ahead, behind = _split(arguments)
    parser = _Parser(prog="sloyd", add_help=False, allow_abbrev=False)
    for flag in FLAGS:
        _add(parser, flag)
    known, unknown = parser.parse_known_args(_joined(ahead))
    words = [word for word in unknown if word == "-" or not word.startswith("-")]
    unsorted = () if len(words) == len(unknown) else tuple(unknown)
    values: dict[str, Any] = {}
    for flag in FLAGS:
        value = getattr(known, flag.key)
        values[flag.key] = tuple(value) if flag.kind == "list" else value
    options = Options(**values, words=(*words, *behind), unsorted=unsorted, behind=tuple(behind))
    if not (options.help or options.version):
        check_combination(options)
    return options


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words before and after ``--``."""
    words = list(arguments)
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _joined(words: Sequence[str]) -> list[str]:
    """Values glued to their switch, so that a value may begin with a dash (``--tools -bash``)."""
    takes_value = {
        name
        for flag in FLAGS
        if flag.kind not in ("switch", "choice", "optional")
        for name in flag.names
    }
    joined: list[str] = []
    iterator = iter(words)
    for word in iterator:
        if word not in takes_value:
            joined.append(word)
            continue
        value = next(iterator, None)
        if value is None:
            raise UsageError(f"{word} needs a value")
        long = next(flag.names[0] for flag in FLAGS if word in flag.names)
        joined.append(f"{long}={value}")
    return joined


def unknown_option(word: str) -> str:
    """What to say about a switch that nobody knows: the nearest known one."""
    from sloyd.text.suggestion import suggestion

    name = word.split("=", 1)[0]
    return f"unknown option {name}{suggestion(name, flag_names(), 'see sloyd --help')}"


def help_text() -> str:
    """What ``sloyd --help`` prints."""
    lines = [
        "Sloyd: a coding agent for the terminal",
        "",
        "usage: sloyd [options] [@file ...] [prompt ...]",
        "       sloyd COMMAND ...",
        "",
        "Without -p or --mode, on a terminal, a conversation begins. Piped input comes first in",
        "the prompt; @file puts a file (or an image) into it; words behind -- are prompts.",
        "",
        "Commands:",
        *(f"  {command.usage:<37} {command.doc}" for command in COMMANDS),
    ]
    for group in dict.fromkeys(flag.group for flag in FLAGS):
        lines += ["", f"{group}:"]
        lines += [_help_line(flag) for flag in FLAGS if flag.group == group]
    lines += [
        "",
        "Exit codes: 0 done; 1 the model, the provider or a limit ended the run; 2 wrong usage;",
        "130 interrupted; 143 terminated.",
        "",
        "Keys: OPENAI_API_KEY, ANTHROPIC_API_KEY or --api-key. OPENAI_BASE_URL, ANTHROPIC_BASE_URL",
        "or --base-url point at any server with the same API. No key? Try: sloyd demo",
    ]
    return "\n".join(lines)


def _help_line(flag: Flag) -> str:
    from textwrap import wrap

    short = "".join(f"{name}, " for name in flag.names[1:])
    value = f" {flag.metavar}" if flag.metavar else ""
    left = f"  {short}{flag.names[0]}{value}"
    doc = flag.doc + (f" ({', '.join(flag.choices)})" if flag.choices else "")
    lines = wrap(doc, _HELP_WIDTH - 33)
    if len(left) > 31:
        lines.insert(0, "")
    return "\n".join(
        f"{left if place == 0 else '':<32} {line}".rstrip() for place, line in enumerate(lines)
    )
