"""Sloyd's own commands about the agent: what answers, with what, and what its tools have done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from sloyd.errors import FileChanged, UsageError
from sloyd.harness.commands import Command
from sloyd.harness.door import Door
from sloyd.harness.entry_choice import choose_entry, is_user_message
from sloyd.llm.models import THINKING_LEVELS, ThinkingLevel
from sloyd.sessions.journal import Journal
from sloyd.tools.registry import select
from sloyd.workspace.paths import relative_to

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = ["AGENT_COMMANDS"]


async def _model(agent: CodingAgent, arguments: str, door: Door) -> None:
    info = agent.model.info
    favourites = agent.settings.model.favourites
    choice = arguments.strip()
    if not choice and door.can_ask and favourites:
        chosen = await door.select("Which model?", favourites)
        if chosen is None:
            return
        choice = favourites[chosen]
    if choice:
        await agent.set_model(choice)
        info = agent.model.info
    await door.notify(f"{info.provider}/{info.id}, thinking {agent.thinking}")


async def _thinking(agent: CodingAgent, arguments: str, door: Door) -> None:
    named = arguments.strip()
    if not named and door.can_ask:
        chosen = await door.select("How much is the model to reason?", THINKING_LEVELS)
        if chosen is None:
            return
        named = THINKING_LEVELS[chosen]
    if named:
        if named not in THINKING_LEVELS:
            raise UsageError(f"{named} is no level; the levels are: {', '.join(THINKING_LEVELS)}")
        await agent.set_thinking(msgspec.convert(named, ThinkingLevel))
    await door.notify(f"thinking {agent.thinking}")


async def _tools(agent: CodingAgent, arguments: str, door: Door) -> None:
    if arguments.strip():
        agent.set_active_tools(select(agent.registry, arguments))
    active = agent.registry.active_names
    rows = []
    for name in agent.registry.names:
        definition = agent.registry.get(name)
        told = (definition.prompt_snippet or definition.label) if definition else ""
        rows.append(f"{'*' if name in active else ' '} {name}: {told}")
    rows.append("* is active; /tools +grep,-bash changes that, /tools read,grep sets it")
    await door.notify("\n".join(rows))


def _tool_names(agent: CodingAgent) -> Sequence[str]:
    return agent.registry.names


def _levels(_agent: CodingAgent) -> Sequence[str]:
    return THINKING_LEVELS


def _journal(agent: CodingAgent) -> Journal:
    if agent.toolbox.journal is None:
        raise UsageError("changes of files are not recorded in this workspace")
    return agent.toolbox.journal


async def _undo(agent: CodingAgent, arguments: str, door: Door) -> None:
    journal = _journal(agent)
    cwd = agent.workspace.cwd
    below = None if arguments else await agent.workspace.realpath(cwd)
    try:
        entry = await journal.undo(agent.workspace, arguments.strip() or None, below=below)
    except FileChanged as error:
        raise UsageError(f"{error} `sloyd undo --force` takes it back all the same.") from error
    outcome = "removed" if entry.before is None else "put back"
    await door.notify(f"{outcome} {relative_to(entry.path, cwd)} (change {entry.id})")


async def _rewind(agent: CodingAgent, arguments: str, door: Door) -> None:
    words = arguments.split()
    force = "--force" in words
    named = next((word for word in words if word != "--force"), "")
    entry = await choose_entry(
        agent.session, named, door, "Go back to before which message?", is_user_message
    )
    if entry is None:
        return
    plan = await agent.conversation.plan_rewind(entry.id, agent.workspace)
    parts = [plan.diff] if plan.files else ["no file changes"]
    if plan.commands:
        parts.append(
            "commands have run since, and what they did stays:\n" + "\n".join(plan.commands)
        )
    parts += [f"in the way: {problem}" for problem in plan.problems]
    await door.notify("\n\n".join(parts))
    if plan.problems and not force:
        raise UsageError(f"/rewind {entry.id} --force goes back all the same")
    if door.can_ask and not await door.confirm("Go back, files and conversation together?"):
        return
    await agent.conversation.rewind(plan, agent.workspace, force=force)
    await door.notify("gone back")
    await door.set_editor_text(plan.text)


async def _reload(agent: CodingAgent, _arguments: str, door: Door) -> None:
    await agent.reload()
    loaded = agent.resources
    await door.notify(
        f"read again: {len(loaded.context_files)} context files, {len(loaded.skills)} skills,"
        f" {len(loaded.templates)} templates,"
        f" {len(agent.extensions.names) if agent.extensions else 0} extensions"
    )


async def _trust(agent: CodingAgent, arguments: str, door: Door) -> None:
    project = agent.resources.project
    if project is None:
        raise UsageError("there is no project on this machine to trust")
    answers: dict[str, Literal["trusted", "untrusted"]] = {"yes": "trusted", "no": "untrusted"}
    named = arguments.strip()
    if not named and door.can_ask:
        state = "is" if agent.resources.trusted else "is not"
        chosen = await door.select(
            f"{project} {state} trusted. May it configure Sloyd and run extensions?", list(answers)
        )
        if chosen is None:
            return
        named = list(answers)[chosen]
    if named not in answers:
        raise UsageError("say /trust yes or /trust no")
    await agent.decide_trust(answers[named])
    await door.notify(f"{project} is {answers[named]}")


async def _hotkeys(_agent: CodingAgent, _arguments: str, door: Door) -> None:
    rows = [f"{keys:<14} {doc}" for keys, doc in door.keys]
    await door.notify("\n".join(rows) or "this door has no keys of its own")


async def _help(agent: CodingAgent, _arguments: str, door: Door) -> None:
    commands = list(agent.commands)
    width = min(max(len(command.usage) for command in commands), 28)
    rows = [f"{command.usage:<{width}}  {command.doc}" for command in commands]
    rows.append(
        "anything else is said to the model; !cmd runs a command and tells it, !!cmd only runs"
    )
    await door.notify("\n".join(rows))


async def _quit(_agent: CodingAgent, _arguments: str, door: Door) -> None:
    await door.quit()


AGENT_COMMANDS: tuple[Command, ...] = (
    Command(
        name="model",
        hint="[provider/id]",
        doc="Show or change what answers",
        run=_model,
        while_running=True,
    ),
    Command(
        name="thinking",
        hint="[level]",
        doc="Show or change how much it reasons",
        run=_thinking,
        while_running=True,
        complete=_levels,
    ),
    Command(
        name="tools",
        hint="[list]",
        doc="Show or change the active tools",
        run=_tools,
        while_running=True,
        complete=_tool_names,
    ),
    Command(name="undo", hint="[id]", doc="Take back the newest change of a file", run=_undo),
    Command(name="rewind", hint="[id]", doc="Go back to a message, files and all", run=_rewind),
    Command(name="reload", doc="Read settings, skills, templates, extensions again", run=_reload),
    Command(name="trust", hint="[yes|no]", doc="Decide whether to trust this project", run=_trust),
    Command(name="hotkeys", doc="The keys of this door", run=_hotkeys, while_running=True),
    Command(name="help", doc="This list", run=_help, while_running=True),
    Command(name="quit", doc="Leave", run=_quit, while_running=True),
)
