"""What models send to `edit` and `write`, mended into what the tools take.

Names from other agents' tools are understood (``file_path``, ``old_string``, ``new_str``, ...), and
so is JSON inside strings, however often it was encoded. What cannot be read stays as it is, for the
validation to name it. Nothing is invented: a missing text stays missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from sloyd.tools.arguments import opened
from sloyd.tools.foreign_names import CONTENT, EDITS, NEW, OLD, PATH, renamed

__all__ = ["prepare_edit", "prepare_write"]

_JSON_NAMES: Final = (".json", ".jsonc", ".json5", ".ipynb", ".geojson", ".webmanifest", ".har")


def prepare_edit(raw: object) -> object:
    """Arguments of `edit` as ``{"path", "edits": [{"oldText", "newText"}, ...]}``, if they can be.

    ``edits`` may be JSON text, an object instead of a list, ``{"edits": [...]}``, or a list of JSON
    texts. Top-level ``oldText`` and ``newText`` become the last edit.
    """
    if not isinstance(raw, Mapping):
        return raw
    arguments = renamed(raw, EDITS | OLD | NEW)
    edits = opened(arguments.get("edits"), list, dict)
    if isinstance(edits, Mapping) and "edits" in edits:
        for key in ("path", *PATH["path"]):
            if "path" not in arguments and isinstance(edits.get(key), str):
                arguments["path"] = edits[key]
        edits = opened(edits["edits"], list, dict)
    if isinstance(edits, Mapping):
        edits = [edits]
    if isinstance(edits, Sequence) and not isinstance(edits, str):
        edits = [_one_edit(edit) for edit in edits]
    if "oldText" in arguments and "newText" in arguments and (not edits or isinstance(edits, list)):
        single = {"oldText": arguments.pop("oldText"), "newText": arguments.pop("newText")}
        edits = [*edits, single] if isinstance(edits, list) else [single]
    if edits is not None:
        arguments["edits"] = edits
    return arguments


def prepare_write(raw: object) -> object:
    """Arguments of `write` as ``{"path", "content"}``, if they can be.

    An object or array as the content of a file whose name says JSON becomes JSON text, two spaces
    deep, as the model's own provider would have encoded it. In any other file it stays and is
    refused by the validation.
    """
    if not isinstance(raw, Mapping):
        return raw
    arguments = renamed(raw, CONTENT)
    content, path = arguments.get("content"), arguments.get("path")
    if (
        isinstance(content, (dict, list))
        and isinstance(path, str)
        and path.lower().endswith(_JSON_NAMES)
    ):
        try:
            arguments["content"] = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        except (TypeError, ValueError, RecursionError):
            return arguments
    return arguments


def _one_edit(edit: object) -> object:
    edit = opened(edit, dict)
    return renamed(edit, OLD | NEW) if isinstance(edit, Mapping) else edit
