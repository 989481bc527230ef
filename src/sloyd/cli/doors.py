"""From parsed options to an open door: print, JSON, RPC, or the conversation."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import msgspec

from sloyd.agent.limits import Limits
from sloyd.cli.durations import seconds_of
from sloyd.cli.parser import Options, unknown_option
from sloyd.errors import ProviderError, UsageError
from sloyd.harness.coding_agent import AgentOptions, CodingAgent, sessions_directory
from sloyd.harness.commands import expand_prompt
from sloyd.harness.events import Notice
from sloyd.harness.home import sloyd_home
from sloyd.harness.model_choice import ModelChoice
from sloyd.harness.prompt_input import first_prompts
from sloyd.harness.session_choice import SessionChoice
from sloyd.harness.settings_files import load_settings
from sloyd.modes.output import Output
from sloyd.modes.piped_input import read_piped_input
from sloyd.modes.session_remarks import session_remarks

if TYPE_CHECKING:
    from sloyd.modes.tui.early_frame import EarlyFrame

__all__ = ["open_door"]


def open_door(options: Options) -> int:
    """Run the door that the options ask for; returns the exit code."""
    if not options.unsorted:
        return _open(options)
    from sloyd.harness.extension_flags import UnknownOption

    try:
        return _open(options)
    except UnknownOption as error:
        raise UsageError(unknown_option(error.option)) from None


def _open(options: Options) -> int:
    if options.verbose:
        _log_everything()
    if options.export is not None:
        return _export(options, options.export)
    if options.mode == "rpc":
        from sloyd.modes.rpc import rpc_door

        return anyio.run(rpc_door, _agent_options(options, picked=None))
    words = [_mended(word) for word in options.words if word.strip()]
    interactive = not options.print and options.mode is None and _is_terminal(sys.stdin)
    if options.resume and not interactive:
        raise UsageError("--resume needs a terminal to choose at; try --continue, or --session ID")
    prompted = any(not word.startswith("@") for word in words)
    piped = "" if interactive else read_piped_input(have_prompt=prompted)
    if not interactive and not words and not piped.strip():
        raise UsageError(
            "there is nothing to do: no prompt was given and standard input is empty; "
            'try: sloyd -p "what does this project do?"'
        )
    if interactive:
        from sloyd.cli.trust_question import with_trust

        options = with_trust(options)
    picked = None
    has_screen = interactive and _has_screen(options)
    if options.resume and not has_screen:
        from sloyd.modes.session_picker import pick_session

        picked = pick_session(_sessions(options), str(_directory(options.cwd) or Path.cwd()))
        if picked is None:
            return 0
    if not has_screen:
        return anyio.run(_run, options, words, piped, interactive, picked)
    from sloyd.modes.tui.early_frame import early_frame

    try:
        with early_frame() as frame:
            return anyio.run(_run, options, words, piped, interactive, picked, frame)
    except ProviderError as error:
        if error.problem != "no-key" or not _is_first_start(options):
            raise
        return _start_first(options, error)


def _is_first_start(options: Options) -> bool:
    """Whether nobody has ever said which model answers."""
    said = (options.model, options.provider, options.base_url, options.api_key, options.replay)
    settings = load_settings(sloyd_home(os.environ) / "config.toml").settings
    return not any(said) and settings.model.default is None and settings.model.provider is None


def _start_first(options: Options, problem: ProviderError) -> int:
    """Let a model be chosen, and begin again with it."""
    from sloyd.modes.tui.first_start import DEMO
    from sloyd.modes.tui.first_start_app import choose_first_model

    chosen = choose_first_model()
    if chosen is None:
        raise problem
    if chosen.choice.model == DEMO:
        from sloyd.modes.demo import demo_door

        return demo_door([])
    choice = chosen.choice
    return _open(
        msgspec.structs.replace(
            options, model=choice.model, provider=choice.provider, api_key=choice.api_key
        )
    )


async def _run(
    options: Options,
    words: Sequence[str],
    piped: str,
    interactive: bool,
    picked: Path | None,
    frame: EarlyFrame | None = None,
) -> int:
    output = None
    if options.mode == "json":
        from sloyd.modes.protocol_output import ProtocolOutput

        # Before anything is loaded that might print.
        output = ProtocolOutput.claim()
    async with CodingAgent.open(_agent_options(options, picked)) as agent:
        errors = Output("stderr")
        for remark in session_remarks(agent.session):
            if frame is None:
                errors.line(f"sloyd: {remark}")
            else:
                agent.notices.append(Notice(message=remark, level="warning"))
        if options.unsorted:
            words = [_mended(word) for word in (*agent.arguments, *options.behind)]
        prompts = await first_prompts(
            agent.workspace, words, piped=piped, expand=lambda text: expand_prompt(agent, text)
        )
        if frame is not None:
            from sloyd.modes.tui.door import tui_door

            return await tui_door(agent, prompts, frame, resume=options.resume)
        if interactive:
            from sloyd.modes.plain import plain_door

            return await plain_door(agent, prompts)
        if output is not None:
            from sloyd.modes.jsonl import jsonl_door

            return await jsonl_door(agent, prompts, output)
        from sloyd.modes.print import print_door

        return await print_door(agent, prompts)


def _agent_options(options: Options, picked: Path | None) -> AgentOptions:
    return AgentOptions(
        model=ModelChoice(
            model=options.model,
            provider=options.provider,
            base_url=options.base_url,
            api_key=options.api_key,
            record=options.record,
            replay=options.replay,
            cwd=_directory(options.cwd),
            notice=lambda words: Output("stderr").line(f"sloyd: {words}"),
        ),
        thinking=options.thinking,
        tools=() if options.no_tools else options.tools,
        exclude_tools=options.exclude_tools,
        builtin_tools=not options.no_builtin_tools,
        system_prompt=options.system_prompt,
        append_system_prompt=options.append_system_prompt,
        cwd=_directory(options.cwd),
        limits=Limits(
            max_turns=options.max_turns,
            max_time=seconds_of("--max-time", options.max_time) if options.max_time else None,
            max_cost=options.max_cost,
        ),
        sessions_directory=_directory_for_sessions(options),
        context_files=not options.no_context_files,
        extensions=options.extension,
        arguments=options.unsorted,
        skills=options.skill,
        prompt_templates=options.prompt_template,
        find_extensions=not options.no_extensions,
        find_skills=not options.no_skills,
        find_prompt_templates=not options.no_prompt_templates,
        trust_project=True if options.approve else False if options.no_approve else None,
        offline=options.offline,
        session=_session(options, picked),
    )


def _session(options: Options, picked: Path | None) -> SessionChoice:
    """Which session the options mean: without a word about it, a new one that is kept."""
    name = options.name
    if picked is not None:
        return SessionChoice(kind="open", reference=str(picked), name=name)
    if options.continue_:
        return SessionChoice(kind="continue", name=name)
    if options.session is not None:
        return SessionChoice(kind="open", reference=options.session, name=name)
    if options.session_id is not None:
        return SessionChoice(kind="id", reference=options.session_id, name=name)
    if options.fork is not None:
        return SessionChoice(kind="fork", reference=options.fork, name=name)
    return SessionChoice(kind="memory" if options.no_session else "new", name=name)


def _directory_for_sessions(options: Options) -> Path | None:
    named = options.session_dir
    if named is not None and not named.strip():
        raise UsageError("--session-dir: say which directory")
    return None if named is None else Path(named).expanduser().absolute()


def _sessions(options: Options) -> Path:
    named = _directory_for_sessions(options)
    if named is not None:
        return named
    settings = load_settings(sloyd_home(os.environ) / "config.toml").settings
    return sessions_directory(os.environ, settings)


def _export(options: Options, reference: str) -> int:
    from sloyd.modes.export import export_file
    from sloyd.sessions.catalogue import find_session

    path = find_session(_sessions(options), reference, str(_directory(options.cwd) or Path.cwd()))
    target = options.words[0] if options.words else None
    export_file(path, target, output=None, out=Output("stdout"))
    return 0


def _log_everything() -> None:
    """Let every log record of ours, down to details, go to standard error."""
    import logging

    logging.basicConfig(format="sloyd: %(levelname)s %(name)s: %(message)s", level=logging.INFO)
    logging.getLogger("sloyd").setLevel(logging.DEBUG)


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


def _has_screen(options: Options) -> bool:
    """Whether a whole screen can be drawn, and may be."""
    dumb = os.environ.get("TERM", "dumb") == "dumb" and os.name == "posix"
    return not options.plain and not dumb and _is_terminal(sys.stdout)


def _mended(word: str) -> str:
    """A prompt word as text: bytes that the locale could not decode are tried as UTF-8."""
    if word.startswith("@") or word.isascii():
        return word
    try:
        return os.fsencode(word).decode("utf-8", "replace")
    except UnicodeEncodeError:
        return word
