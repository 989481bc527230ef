"""Writes ``docs/schema/*.json``: JSON Schemas of the events and of the RPC protocol.

usage: python scripts/make_schemas.py

They come from the types that Sloyd encodes and decodes with. A test holds the files against
`outdated`, so a changed record cannot be forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from sloyd.harness.events import HarnessEvent, RunHeader
from sloyd.modes.rpc_commands import COMMANDS, AnyCommand
from sloyd.modes.rpc_protocol import BashExecutionUpdate, UiRequest, UiResponse

__all__ = ["SCHEMAS", "main", "outdated", "rendered"]

DIRECTORY = Path(__file__).parents[1] / "docs" / "schema"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_IDENTITY = {"type": ["string", "integer"], "description": "The command's own id"}


def _of(*types: Any) -> tuple[list[Any], dict[str, Any]]:
    found, definitions = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    return list(found), dict(definitions)


def events() -> dict[str, Any]:
    """One line of ``--mode json``."""
    (line,), definitions = _of(RunHeader | HarnessEvent)
    return {
        "$schema": _DIALECT,
        "title": "A line of sloyd --mode json",
        **line,
        "$defs": definitions,
    }


def rpc() -> dict[str, Any]:
    """The lines of ``--mode rpc``, to the process (``input``) and from it (``output``)."""
    results = {name: command.result for name, command in COMMANDS.items()}
    kinds = [kind for kind in results.values() if kind is not None]
    (incoming, outgoing, *data), definitions = _of(
        AnyCommand | UiResponse, HarnessEvent | BashExecutionUpdate | UiRequest, *kinds
    )
    schemas = iter(data)
    for name, kind in results.items():
        definitions[f"{name}_response"] = _response(name, None if kind is None else next(schemas))
    definitions["failed_response"] = _failure()
    responses = [{"$ref": f"#/$defs/{name}_response"} for name in (*results, "failed")]
    definitions["input"] = {"title": "A line to sloyd --mode rpc", **incoming}
    definitions["output"] = {
        "title": "A line from sloyd --mode rpc",
        "anyOf": [*responses, outgoing],
    }
    return {
        "$schema": _DIALECT,
        "title": "The lines of sloyd --mode rpc",
        "anyOf": [{"$ref": "#/$defs/input"}, {"$ref": "#/$defs/output"}],
        "$defs": definitions,
    }


def _response(name: str, data: Any) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "id": _IDENTITY,
        "type": {"const": "response"},
        "command": {"const": name},
        "success": {"const": True},
    }
    required = ["type", "command", "success"]
    if data is not None:
        properties["data"] = data
        required.append("data")
    return {"type": "object", "properties": properties, "required": required}


def _failure() -> dict[str, Any]:
    command = {"type": "string", "description": "The command, or parse for a line that holds none"}
    return {
        "type": "object",
        "properties": {
            "id": _IDENTITY,
            "type": {"const": "response"},
            "command": command,
            "success": {"const": False},
            "error": {"type": "string"},
        },
        "required": ["type", "command", "success", "error"],
    }


SCHEMAS = {"events.json": events, "rpc.json": rpc}


def rendered(schema: Mapping[str, Any]) -> str:
    """The text of a schema file."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def outdated() -> list[str]:
    """The files that are not what the types say."""
    wanted = {DIRECTORY / name: rendered(make()) for name, make in SCHEMAS.items()}
    return [
        path.name
        for path, text in wanted.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def main() -> None:
    """Bring the files up to date."""
    DIRECTORY.mkdir(exist_ok=True)
    for name in outdated():
        (DIRECTORY / name).write_text(rendered(SCHEMAS[name]()), encoding="utf-8")
        print(f"wrote docs/schema/{name}")


if __name__ == "__main__":
    main()
