"""``sloyd demo``: a scripted model mends a small project with real tools, offline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio

from sloyd.demo import DemoCheck, DemoProject, intro, outro, prepare
from sloyd.errors import UsageError
from sloyd.harness.coding_agent import AgentOptions, CodingAgent
from sloyd.harness.settings import Settings
from sloyd.llm.messages import UserMessage
from sloyd.modes.output import Output
from sloyd.modes.signals import stopping_on_signals

__all__ = ["demo_door"]

_USAGE = "usage: sloyd demo [--keep DIR] (the project is put into DIR, which must be empty)"


def demo_door(arguments: Sequence[str]) -> int:
    """Run the demo; returns 0 when every step was as it had to be, else 1."""
    match list(arguments):
        case []:
            project = prepare()
        case ["--keep", directory]:
            project = prepare(Path(directory).expanduser())
        case ["--help"] | ["-h"]:
            Output("stdout").line(_USAGE)
            return 0
        case _:
            raise UsageError(_USAGE)
    return anyio.run(_run, project)


async def _run(project: DemoProject) -> int:
    from rich.console import Console

    from sloyd.modes.plain_view import PlainView

    out, errors = Output("stdout"), Output("stderr")
    out.line(intro(project))
    out.line(f"> {project.prompt}\n")
    check = DemoCheck()
    options = AgentOptions(
        model=f"scripted:{project.script_path}",
        cwd=project.directory,
        context_files=False,
        settings=Settings(),
        trust_project=False,
        find_extensions=False,
        find_skills=False,
        find_prompt_templates=False,
    )
    async with CodingAgent.open(options) as agent:
        agent.subscribe(PlainView(agent, Console(highlight=False)).show)
        agent.subscribe(check.observe)
        async with stopping_on_signals(agent.abort) as interruption:
            await agent.prompt(UserMessage(content=project.prompt))
    if interruption.exit_code is not None:
        return interruption.exit_code
    problems = check.problems()
    for problem in problems:
        errors.line(f"sloyd demo: {problem}")
    if problems:
        errors.line(f"The demo did not go as it must; its project is in {project.directory}")
        return 1
    out.line()
    out.write(outro(project))
    return 0
