"""What other agents' tools call the arguments that ours take, and how calls are renamed.

Models mix up the harnesses that they were trained with. A foreign name is taken only where our own
is absent; names that mean something else elsewhere (a timeout in milliseconds) are not listed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

__all__ = [
    "BASH",
    "CONTENT",
    "EDITS",
    "FIND",
    "GREP",
    "LS",
    "NEW",
    "OLD",
    "PATH",
    "Names",
    "mended",
    "renamed",
]

Names: TypeAlias = dict[str, tuple[str, ...]]

PATH: Final[Names] = {
    "path": (
        *("file_path", "filePath", "filepath", "filename", "fileName", "file_name", "file"),
        *("absolute_path", "absolutePath", "target_file", "targetFile"),
    )
}
_DIRECTORY: Final[Names] = {
    "path": (
        *("directory", "dir", "dir_path", "dirPath", "directory_path", "folder"),
        *("target_directory", "targetDirectory", "search_path", "searchPath", *PATH["path"]),
    )
}
_LIMIT: Final[Names] = {"limit": ("max_results", "maxResults", "head_limit", "headLimit")}

EDITS: Final[Names] = PATH | {"edits": ("edit", "replacements", "changes")}
OLD: Final[Names] = {
    "oldText": (
        *("old_text", "old_string", "oldString", "old_str", "oldStr", "old", "search", "find"),
    )
}
NEW: Final[Names] = {
    "newText": (
        *("new_text", "new_string", "newString", "new_str", "newStr", "new"),
        *("replace", "replacement"),
    )
}
CONTENT: Final[Names] = PATH | {
    "content": ("contents", "file_text", "fileText", "file_content", "fileContent", "text")
}
BASH: Final[Names] = {"command": ("cmd", "script", "shell_command", "shellCommand")}
LS: Final[Names] = _DIRECTORY | _LIMIT
FIND: Final[Names] = LS | {"pattern": ("glob", "glob_pattern", "globPattern", "file_pattern")}
GREP: Final[Names] = LS | {
    "pattern": ("query", "regex", "regexp", "search_pattern", "searchPattern"),
    "glob": ("include", "include_pattern", "includePattern", "file_pattern", "filePattern"),
    "ignoreCase": ("ignore_case", "case_insensitive", "caseInsensitive", "-i"),
    "literal": ("fixed_strings", "fixedStrings", "-F"),
    "context": ("context_lines", "contextLines", "-C"),
}


def renamed(raw: Mapping[Any, Any], names: Names) -> dict[Any, Any]:
    """A copy in which the first foreign name of each field has become our name."""
    arguments = dict(raw)
    for name, others in names.items():
        for other in others:
            if name not in arguments and other in arguments:
                arguments[name] = arguments.pop(other)
    return arguments


def mended(names: Names) -> Callable[[object], object]:
    """A `ToolDefinition.prepare` that renames, and does nothing else."""

    def prepare(raw: object) -> object:
        return renamed(raw, names) if isinstance(raw, Mapping) else raw

    return prepare
