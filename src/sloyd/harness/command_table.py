"""The slash commands of an agent: Sloyd's own, the templates and the skills that were found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sloyd.errors import UsageError
from sloyd.harness.agent_commands import AGENT_COMMANDS
from sloyd.harness.commands import Command, CommandHandler, CommandTable
from sloyd.harness.door import Door
from sloyd.harness.resources import Resources
from sloyd.harness.session_commands import SESSION_COMMANDS
from sloyd.harness.skills import Skill, skill_prompt
from sloyd.harness.templates import Template, expand

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent

__all__ = ["command_table"]


def command_table(
    resources: Resources, more: Iterable[Command], added: dict[str, Command]
) -> CommandTable:
    """All commands; ``more`` are those of extensions, ``added`` those of the door."""
    templates = [_template_command(template) for template in resources.templates]
    skills = [_skill_command(skill) for skill in resources.skills]
    own = [*SESSION_COMMANDS, *AGENT_COMMANDS]
    return CommandTable(own, [*more, *templates, *skills], added)


def _template_command(template: Template) -> Command:
    async def run(_agent: CodingAgent, arguments: str, _door: Door) -> str:
        return expand(template, arguments)

    return _prompt_command(
        template.name, template.description, run, source="template", hint=template.hint
    )


def _skill_command(skill: Skill) -> Command:
    async def run(_agent: CodingAgent, arguments: str, _door: Door) -> str:
        prompt = skill_prompt(skill, arguments)
        if not isinstance(prompt, str):
            raise UsageError(str(prompt))
        return prompt

    return _prompt_command(
        f"skill:{skill.name}", skill.description, run, source="skill", hint="[what to do]"
    )


def _prompt_command(name: str, doc: str, run: CommandHandler, *, source: str, hint: str) -> Command:
    return Command(
        name=name, doc=doc, run=run, hint=hint, source=source, is_prompt=True, while_running=True
    )
