"""Writes the tables of the documentation that come from the code: flags, settings, tools and so on.

usage: python scripts/reference.py

A table stands in a page between ``<!-- begin NAME -->`` and ``<!-- end -->``. A test holds the
pages against `outdated`, so a new flag cannot be forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, get_args

import msgspec
import msgspec.inspect

from sloyd.cli.flags import COMMANDS, FLAGS, Flag
from sloyd.harness.agent_commands import AGENT_COMMANDS
from sloyd.harness.events import HarnessEvent, RunHeader
from sloyd.harness.session_commands import SESSION_COMMANDS
from sloyd.harness.settings import declared_settings, type_name
from sloyd.llm.providers import PROVIDERS
from sloyd.modes.rpc_commands import COMMANDS as COMMAND_TYPES
from sloyd.modes.tui.key_table import ACTIONS, KeyAction, KeyContext
from sloyd.modes.tui.keys import key_name, shown_key
from sloyd.tools.builtin import builtin_tools
from sloyd.tools.definition import ToolDefinition, wrap
from sloyd.tools.environment import ToolEnvironment
from sloyd.workspace.memory import MemoryWorkspace

__all__ = ["TABLES", "main", "outdated", "updated"]

DOCS = Path(__file__).parents[1] / "docs"
_MARKED = re.compile(r"(<!-- begin ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = list(header)
    lines = [names, ["---"] * len(names), *rows]
    return "".join("| " + " | ".join(_cell(cell) for cell in line) + " |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _flag_row(flag: Flag) -> list[str]:
    value = f" {flag.metavar}" if flag.metavar else ""
    choices = f": {', '.join(f'`{choice}`' for choice in flag.choices)}" if flag.choices else ""
    return [", ".join(f"`{name}{value}`" for name in flag.names), flag.doc + choices]


def flags() -> str:
    """Every switch of ``sloyd``, by group."""
    groups = list(dict.fromkeys(flag.group for flag in FLAGS))
    tables = (
        f"**{group}**\n\n"
        + _table(["flag", "meaning"], (_flag_row(flag) for flag in FLAGS if flag.group == group))
        for group in groups
    )
    return "\n" + "\n".join(tables) + "\n"


def commands() -> str:
    """The subcommands."""
    rows = ([f"`sloyd {command.usage}`", command.doc] for command in COMMANDS)
    return _table(["command", "what it does"], rows)


def _toml(value: object) -> str:
    if value is None or value == ():
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def settings() -> str:
    """Every setting, with type and default."""
    rows = (
        [f"`{row.name}`", type_name(row.type), _toml(row.default), row.doc]
        for row in declared_settings()
    )
    return _table(["setting", "type", "default", "meaning"], rows)


_PLACES: dict[KeyContext, str] = {
    "composer": "Where you write",
    "app": "On the screen",
    "transcript": "In the conversation",
    "search": "While searching in it",
    "list": "In every list",
    "sessions": "In the list of sessions",
    "tree": "In the tree",
    "models": "In the list of models",
}


def _key_row(action: KeyAction) -> list[str]:
    shown = ", ".join(f"`{shown_key(key_name(key))}`" for key in action.keys)
    return [shown, action.doc, f"`{action.name}`"]


def keys() -> str:
    """Every key of the screen, by the place where it counts."""
    tables = (
        f"**{title}**\n\n"
        + _table(
            ["key", "what it does", "action"],
            (_key_row(action) for action in ACTIONS if action.context == context),
        )
        for context, title in _PLACES.items()
    )
    return "\n" + "\n".join(tables) + "\n"


def slash_commands() -> str:
    """The commands of the conversation."""
    rows = ([f"`{command.usage}`", command.doc] for command in (*SESSION_COMMANDS, *AGENT_COMMANDS))
    return _table(["command", "what it does"], rows)


def providers() -> str:
    """The providers that are known by name."""
    rows = (
        [
            f"`{provider.name}`",
            f"`{provider.api}`",
            ", ".join(f"`{name}`" for name in provider.key_variables),
            f"`{provider.base_url_variable}`" if provider.base_url_variable else "",
            f"`{provider.default_model}`" if provider.default_model else "",
        ]
        for provider in PROVIDERS.values()
    )
    return _table(["provider", "API", "key", "base URL", "default model"], rows)


def _kind(schema: dict[str, Any]) -> str:
    options = [option for option in schema.get("anyOf", [schema]) if option.get("type") != "null"]
    kinds = []
    for option in options:
        kind = option.get("type", "")
        named = " or ".join(kind) if isinstance(kind, list) else str(kind)
        kinds.append(
            f"array of {option['items'].get('type', 'any')}s" if "items" in option else named
        )
    return " or ".join(kinds)


def _parameter_rows(schema: dict[str, Any]) -> Iterable[list[str]]:
    required = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        need = "yes" if name in required else ""
        yield [f"`{name}`", _kind(field), need, field.get("description", "")]


def _tool(definition: ToolDefinition[Any]) -> str:
    active = "" if definition.default_active else " (not active by default)"
    schema = dict(wrap(definition).parameters)
    table = _table(["parameter", "type", "required", "meaning"], _parameter_rows(schema))
    return f"### {definition.name}{active}\n\n{definition.description.strip()}\n\n{table}"


def tools() -> str:
    """The built-in tools as the model gets to know them."""
    definitions = builtin_tools(ToolEnvironment(MemoryWorkspace()))
    return "\n" + "\n".join(_tool(definition) for definition in definitions) + "\n"


def _fields(struct: type[Any], without: tuple[str, ...] = ()) -> str:
    info = msgspec.inspect.type_info(struct)
    assert isinstance(info, msgspec.inspect.StructType)
    names = (field.encode_name for field in info.fields)
    return ", ".join(f"`{name}`" for name in names if name not in without)


def _meaning(struct: type[Any]) -> str:
    """The first paragraph of its docstring, with the names that fields have in JSON."""
    text = " ".join((struct.__doc__ or "").split("\n\n")[0].split()).replace("``", "`")
    for field in msgspec.structs.fields(struct):
        text = text.replace(f"`{field.name}`", f"`{field.encode_name}`")
    return text


def events() -> str:
    """Every event of the JSON and RPC doors."""
    every = [RunHeader, *get_args(HarnessEvent)]
    rows = ([f"`{_tag(each)}`", _fields(each), _meaning(each)] for each in every)
    return _table(["`type`", "fields", "meaning"], rows)


def rpc() -> str:
    """Every command of the RPC door."""
    rows = (
        [f"`{name}`", _fields(each, ("id",)), _data(each.result), _meaning(each)]
        for name, each in COMMAND_TYPES.items()
    )
    return _table(["`type`", "fields", "`data` of the response", "meaning"], rows)


def _tag(struct: type[Any]) -> str:
    return str(struct.__struct_config__.tag)


def _data(result: Any) -> str:
    kinds = [kind for kind in get_args(result) or (result,) if kind not in (None, type(None))]
    shown = ", ".join(_fields(kind) for kind in kinds)
    return f"{shown}, or null" if len(get_args(result)) > 1 else shown


TABLES: dict[str, Callable[[], str]] = {
    "commands": commands,
    "events": events,
    "flags": flags,
    "keys": keys,
    "providers": providers,
    "rpc": rpc,
    "settings": settings,
    "slash-commands": slash_commands,
    "tools": tools,
}


def updated(text: str) -> str:
    """A page with its tables as the code has them now."""
    return _MARKED.sub(lambda found: found[1] + TABLES[found[2]]() + found[3], text)


def outdated() -> list[str]:
    """The pages whose tables are not what the code says."""
    pages = {page: page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("*.md"))}
    return [page.name for page, text in pages.items() if updated(text) != text]


def main() -> None:
    """Bring the pages up to date."""
    for name in outdated():
        page = DOCS / name
        page.write_text(updated(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
