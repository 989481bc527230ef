"""RPC commands about what answers and with what: models, thinking, tools, slash commands."""

from __future__ import annotations

from sloyd.harness.commands import Command
from sloyd.harness.model_choice import ModelChoice
from sloyd.harness.model_offer import next_model, offered_models
from sloyd.llm.models import ThinkingLevel
from sloyd.modes import rpc_commands as commands
from sloyd.modes import rpc_results as results
from sloyd.modes.rpc_context import Handling, RpcContext

__all__ = ["HANDLERS"]

_SOURCES = {"sloyd": "builtin", "template": "prompt", "skill": "skill"}


async def _set_model(context: RpcContext, command: commands.SetModel) -> results.ModelObject:
    await context.agent.set_model(ModelChoice(model=command.model_id, provider=command.provider))
    return results.model_object(context.agent.model.info)


async def _cycle_model(
    context: RpcContext, _command: commands.CycleModel
) -> results.CycledModel | None:
    agent = context.agent
    name = next_model(agent)
    if name is None:
        return None
    await agent.set_model(name)
    return results.CycledModel(
        model=results.model_object(agent.model.info),
        thinking_level=agent.thinking,
        is_scoped=bool(agent.settings.model.favourites),
    )


async def _models(context: RpcContext, _command: commands.GetAvailableModels) -> results.Models:
    infos = offered_models(context.agent)
    return results.Models(models=tuple(results.model_object(info) for info in infos))


async def _set_thinking(context: RpcContext, command: commands.SetThinkingLevel) -> None:
    await context.agent.set_thinking(command.level)


async def _cycle_thinking(
    context: RpcContext, _command: commands.CycleThinkingLevel
) -> results.Level | None:
    levels = _known_levels(context)
    if len(levels) < 2:
        return None
    present = context.agent.thinking
    place = levels.index(present) + 1 if present in levels else 0
    await context.agent.set_thinking(levels[place % len(levels)])
    return results.Level(level=context.agent.thinking)


async def _levels(
    context: RpcContext, _command: commands.GetAvailableThinkingLevels
) -> results.Levels:
    return results.Levels(levels=_known_levels(context))


def _known_levels(context: RpcContext) -> tuple[ThinkingLevel, ...]:
    return context.agent.model.info.thinking_levels or ("off",)


async def _tools(context: RpcContext, _command: commands.GetTools) -> results.Tools:
    registry = context.agent.registry
    found = (registry.get(name) for name in registry.names)
    return results.Tools(
        tools=tuple(
            results.ToolInfo(
                name=tool.name,
                description=tool.description,
                active=tool.name in registry.active_names,
            )
            for tool in found
            if tool is not None
        )
    )


async def _set_tools(context: RpcContext, command: commands.SetActiveTools) -> None:
    context.agent.set_active_tools(command.names)


async def _commands(context: RpcContext, _command: commands.GetCommands) -> results.Commands:
    return results.Commands(commands=tuple(_command_info(each) for each in context.agent.commands))


def _command_info(command: Command) -> results.CommandInfo:
    return results.CommandInfo(
        name=command.name,
        description=command.doc,
        source=_SOURCES.get(command.source, "extension"),
        hint=command.hint,
    )


HANDLERS: dict[type[commands.Command], Handling] = {
    commands.SetModel: Handling(_set_model, alone=True),
    commands.CycleModel: Handling(_cycle_model, alone=True),
    commands.GetAvailableModels: Handling(_models),
    commands.SetThinkingLevel: Handling(_set_thinking),
    commands.CycleThinkingLevel: Handling(_cycle_thinking),
    commands.GetAvailableThinkingLevels: Handling(_levels),
    commands.GetTools: Handling(_tools),
    commands.SetActiveTools: Handling(_set_tools),
    commands.GetCommands: Handling(_commands),
}
