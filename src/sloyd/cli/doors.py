"""From parsed options to an open door: print, JSON, or the conversation."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio

from sloyd.agent.limits import Limits
from sloyd.cli.parser import Options
from sloyd.errors import UsageError
from sloyd.harness.coding_agent import AgentOptions, CodingAgent
from sloyd.harness.home import sloyd_home
from sloyd.harness.model_choice import ModelChoice
from sloyd.harness.prompt_input import first_prompts
from sloyd.harness.settings_files import load_settings
from sloyd.modes.output import Output
from sloyd.modes.piped_input import read_piped_input

__all__ = ["open_door"]


def open_door(options: Options) -> int:
    """Run the door that the options ask for; returns the exit code."""
    words = [_mended(word) for word in options.words]
    interactive = not options.print and options.mode is None and _is_terminal(sys.stdin)
    prompted = any(not word.startswith("@") for word in words)
    piped = "" if interactive else read_piped_input(have_prompt=prompted)
    if not interactive and not words and not piped.strip():
        raise UsageError(
            "there is nothing to do: no prompt was given and standard input is empty; "
            'try: sloyd -p "what does this project do?"'
        )
    return anyio.run(_run, options, words, piped, interactive)


async def _run(options: Options, words: Sequence[str], piped: str, interactive: bool) -> int:
    async with CodingAgent.open(_agent_options(options)) as agent:
        prompts = await first_prompts(agent.workspace, words, piped=piped)
        if interactive:
            from sloyd.modes.plain import plain_door

            return await plain_door(agent, prompts)
        if options.mode == "json":
            from sloyd.modes.jsonl import jsonl_door

            return await jsonl_door(agent, prompts)
        from sloyd.modes.print import print_door

        return await print_door(agent, prompts)


def _agent_options(options: Options) -> AgentOptions:
    loaded = load_settings(sloyd_home(os.environ) / "config.toml")
    for problem in loaded.problems:
        Output("stderr").line(f"sloyd: {problem}")
    limits = loaded.settings.limits
    return AgentOptions(
        model=ModelChoice(
            model=options.model,
            provider=options.provider,
            base_url=options.base_url,
            api_key=options.api_key,
        ),
        thinking=options.thinking,
        tools=() if options.no_tools else options.tools,
        system_prompt=options.system_prompt,
        append_system_prompt=options.append_system_prompt,
        cwd=_directory(options.cwd),
        limits=Limits(
            max_turns=options.max_turns or limits.turns,
            max_time=limits.seconds,
            max_cost=limits.dollars,
        ),
        settings=loaded.settings,
    )


def _directory(named: str | None) -> Path | None:
    if named is None:
        return None
    path = Path(named).expanduser()
    if not path.is_dir():
        raise UsageError(f"--cwd: there is no directory {named}")
    return path


def _is_terminal(stream: object) -> bool:
    isatty = getattr(stream, "isatty", None)
    try:
        return bool(isatty and isatty())
    except ValueError:
        # A stream that is closed already is no terminal.
        return False


def _mended(word: str) -> str:
    """A prompt word as text: bytes that the locale could not decode are tried as UTF-8."""
    if word.startswith("@") or word.isascii():
        return word
    try:
        return os.fsencode(word).decode("utf-8", "replace")
    except UnicodeEncodeError:
        return word
