"""What models send to `edit` and `write`, mended into what the tools take.

Names from other agents' tools are understood (``file_path``, ``old_string``, ``new_str``, ...), and
so is JSON inside strings, however often it was encoded. What cannot be read stays as it is, for the
validation to name it. Nothing is invented: a missing text stays missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

__all__ = ["prepare_edit", "prepare_write"]

_PATH: Final = ("file_path", "filePath", "filepath", "filename", "fileName", "file_name", "file")
_EDITS: Final = ("edit", "replacements", "changes")
_OLD: Final = ("old_text", "old_string", "oldString", "old_str", "oldStr", "old", "search", "find")
_NEW: Final = (
    *("new_text", "new_string", "newString", "new_str", "newStr", "new"),
    *("replace", "replacement"),
)
_CONTENT: Final = ("contents", "file_text", "fileText", "file_content", "fileContent", "text")

_JSON_NAMES: Final = (".json", ".jsonc", ".json5", ".ipynb", ".geojson", ".webmanifest", ".har")
_MAX_NESTING: Final = 4


def prepare_edit(raw: object) -> object:
    """Arguments of `edit` as ``{"path", "edits": [{"oldText", "newText"}, ...]}``, if they can be.

    ``edits`` may be JSON text, an object instead of a list, ``{"edits": [...]}``, or a list of JSON
    texts. Top-level ``oldText`` and ``newText`` become the last edit.
    """
    if not isinstance(raw, Mapping):
        return raw
    arguments = _renamed(raw, {"path": _PATH, "edits": _EDITS, "oldText": _OLD, "newText": _NEW})
    edits = _opened(arguments.get("edits"))
    if isinstance(edits, Mapping) and "edits" in edits:
        for key in ("path", *_PATH):
            if "path" not in arguments and isinstance(edits.get(key), str):
                arguments["path"] = edits[key]
        edits = _opened(edits["edits"])
    if isinstance(edits, Mapping):
        edits = [edits]
    if isinstance(edits, Sequence) and not isinstance(edits, str):
        edits = [_one_edit(edit) for edit in edits]
    if "oldText" in arguments and "newText" in arguments:
        single = {"oldText": arguments.pop("oldText"), "newText": arguments.pop("newText")}
        if edits is None or isinstance(edits, list):
            edits = [*(edits or ()), single]
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
    arguments = _renamed(raw, {"path": _PATH, "content": _CONTENT})
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


def _renamed(raw: Mapping[Any, Any], names: Mapping[str, tuple[str, ...]]) -> dict[Any, Any]:
    """A copy in which the first foreign name of each field has become our name."""
    arguments = dict(raw)
    for name, others in names.items():
        for other in others:
            if name not in arguments and other in arguments:
                arguments[name] = arguments.pop(other)
    return arguments


def _opened(value: object) -> object:
    """The object or list inside JSON text, or the value as it is."""
    given = value
    for _ in range(_MAX_NESTING):
        if not isinstance(value, str):
            return value
        try:
            # Not strict: models forget to escape line breaks and tabs inside the strings.
            value = json.loads(value, strict=False)
        except (ValueError, RecursionError):
            break
    return given


def _one_edit(edit: object) -> object:
    edit = _opened(edit)
    return _renamed(edit, {"oldText": _OLD, "newText": _NEW}) if isinstance(edit, Mapping) else edit
